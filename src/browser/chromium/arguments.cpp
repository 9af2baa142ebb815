#include "browser/chromium/arguments.h"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace reprise::browser::chromium {
namespace {

constexpr std::string_view kDisableFeatures = "--disable-features=";
constexpr std::uint64_t kEnoughSharedMemory = 512ULL * 1024 * 1024;

constexpr std::array kForAll{
    "--remote-debugging-pipe",
    // Nothing of its own accord.
    "--no-first-run",
    "--no-default-browser-check",
    "--no-service-autorun",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    "--disable-client-side-phishing-detection",
    "--disable-domain-reliability",
    "--disable-field-trial-config",  // Debian's builds would take part in experiments
    "--metrics-recording-only",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--password-store=basic",  // no key ring over a bus
    // Past a proxy, neither by QUIC nor by WebRTC.
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    // Every tab is in the background here, and none may be slower for it.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    // The same picture everywhere: software draws it, without scroll bars.
    "--disable-gpu",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
    "--mute-audio",
};

constexpr std::array kForChromium{
    "--headless",
    "--disable-component-extensions-with-background-pages",
    "--disable-search-engine-choice-screen",
    // Questions that nobody would answer; the headless shell does not ask them.
    "--disable-hang-monitor",
    "--disable-prompt-on-repost",
    "--disable-popup-blocking",
};

// Lists and models from the network, suggestions, casting to devices nearby.
constexpr std::string_view kFeaturesOffForAll =
    "Translate,OptimizationHints,MediaRouter,DialMediaRouteProvider,AutofillServerCommunication,"
    "CertificateTransparencyComponentUpdater,InterestFeedContentSuggestions";
// Each window would have a hidden renderer for its address bar, and memory per context would double
// (both names are needed, measured with 156); and one renderer would wait in reserve.
constexpr std::string_view kFeaturesOffForChromium =
    ",WebUIOmniboxPopup,WebUIOmniboxAimPopup,SpareRendererForSitePerProcess,GlobalMediaControls";

}  // namespace

std::vector<std::string> browser_arguments(const ArgumentOptions& options, const Profile& profile) {
  std::vector<std::string> arguments(kForAll.begin(), kForAll.end());
  std::string features = std::string(kDisableFeatures) + std::string(kFeaturesOffForAll);
  if (options.kind == BinaryKind::kChromium) {
    arguments.insert(arguments.end(), kForChromium.begin(), kForChromium.end());
    features += kFeaturesOffForChromium;
  }
  arguments.push_back(fmt::format("--user-data-dir={}", profile.data().native()));
  if (options.has_port) arguments.emplace_back("--remote-debugging-port=0");
  if (!options.is_sandboxed) arguments.emplace_back("--no-sandbox");
  if (options.avoids_shared_memory) arguments.emplace_back("--disable-dev-shm-usage");
  // Of a flag that is given twice Chromium takes the last, so these are joined.
  for (const std::string& extra : options.extra) {
    if (extra.starts_with(kDisableFeatures))
      features += "," + extra.substr(kDisableFeatures.size());
    else
      arguments.push_back(extra);
  }
  arguments.push_back(std::move(features));
  return arguments;
}

std::vector<std::string> browser_environment(const Profile& profile,
                                             const std::vector<std::string>& extra) {
  const std::string home = profile.home().native();
  std::vector<std::string> environment{
      "PATH=/usr/bin:/bin",
      "LANG=C.UTF-8",
      "HOME=" + home,
      "TMPDIR=" + profile.temporary().native(),
      "XDG_CONFIG_HOME=" + home + "/config",
      "XDG_CACHE_HOME=" + home + "/cache",
      "XDG_DATA_HOME=" + home + "/share",
      "XDG_RUNTIME_DIR=" + profile.runtime().native(),
      "DBUS_SESSION_BUS_ADDRESS=disabled:",
      "DBUS_SYSTEM_BUS_ADDRESS=disabled:",
  };
  environment.insert(environment.end(), extra.begin(), extra.end());
  return environment;
}

bool is_shared_memory_small() {
  struct statvfs status{};
  if (::statvfs("/dev/shm", &status) != 0) return true;
  return std::uint64_t{status.f_blocks} * status.f_frsize < kEnoughSharedMemory;
}

}  // namespace reprise::browser::chromium
