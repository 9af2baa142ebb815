#include "browser/chromium/cdp_rules.h"

#include <algorithm>
#include <array>

namespace reprise::browser {
namespace {

using enum CdpRule;

struct Row {
  std::string_view method;
  CdpRule browser;
  CdpRule target;
  AuditKind audit = AuditKind::kNone;
};

// By the methods' names.
constexpr auto kRows = std::to_array<Row>({
    {"Browser.cancelDownload", kContext, kContext},
    {"Browser.close", kCloseBrowser, kCloseBrowser},
    {"Browser.getVersion", kPass, kPass},
    {"Browser.getWindowBounds", kWindow, kWindow},
    {"Browser.getWindowForTarget", kWindowForTarget, kWindowForTarget},
    {"Browser.grantPermissions", kContext, kContext},
    {"Browser.resetPermissions", kContext, kContext},
    {"Browser.setContentsSize", kWindow, kWindow},
    {"Browser.setDownloadBehavior", kDownloads, kDownloads},
    {"Browser.setPermission", kContext, kContext},
    {"Browser.setWindowBounds", kWindow, kWindow},
    {"DOM.setFileInputFiles", kDeny, kInputFiles, AuditKind::kFiles},
    // The screens are the browser's, not the page's.
    {"Emulation.addScreen", kDeny, kDeny},
    {"Emulation.removeScreen", kDeny, kDeny},
    {"Emulation.setPrimaryScreen", kDeny, kDeny},
    {"Emulation.updateScreen", kDeny, kDeny},
    {"Input.dispatchDragEvent", kDeny, kDrag, AuditKind::kInput},
    // The rest of Memory is about the browser's process.
    {"Memory.forciblyPurgeJavaScriptMemory", kDeny, kPass},
    {"Memory.getAllTimeSamplingProfile", kDeny, kPass},
    {"Memory.getDOMCounters", kDeny, kPass},
    {"Memory.getSamplingProfile", kDeny, kPass},
    {"Memory.startSampling", kDeny, kPass},
    {"Memory.stopSampling", kDeny, kPass},
    {"Page.close", kDeny, kPass, AuditKind::kTarget},
    {"Page.handleJavaScriptDialog", kDeny, kPass, AuditKind::kDialog},
    {"Page.navigate", kDeny, kNavigate, AuditKind::kNavigate},
    {"Page.navigateToHistoryEntry", kDeny, kPass, AuditKind::kNavigate},
    {"Page.reload", kDeny, kPass, AuditKind::kNavigate},
    {"Page.setDownloadBehavior", kDeny, kPageDownloads},
    {"Runtime.runIfWaitingForDebugger", kPass, kResume},
    {"Storage.clearCookies", kContext, kCookies},
    {"Storage.getCookies", kContext, kCookies},
    {"Storage.setCookies", kContext, kCookies},
    {"Target.activateTarget", kTarget, kTarget},
    {"Target.attachToBrowserTarget", kAttachToBrowser, kNotAllowed},
    {"Target.attachToTarget", kAttach, kAttach},
    {"Target.autoAttachRelated", kTarget, kNotAllowed},
    {"Target.closeTarget", kTarget, kTarget, AuditKind::kTarget},
    {"Target.createBrowserContext", kCreateContext, kNotAllowed, AuditKind::kContext},
    {"Target.createTarget", kCreateTarget, kCreateTarget, AuditKind::kTarget},
    {"Target.detachFromTarget", kDetach, kDetach},
    {"Target.disposeBrowserContext", kDisposeContext, kNotAllowed, AuditKind::kContext},
    {"Target.getBrowserContexts", kGetContexts, kNotAllowed},
    {"Target.getTargetInfo", kTargetInfo, kTargetInfo},
    {"Target.getTargets", kGetTargets, kGetTargets},
    {"Target.setAutoAttach", kAutoAttach, kAutoAttach},
    {"Target.setDiscoverTargets", kPass, kPass},
});
static_assert(std::ranges::is_sorted(kRows, {}, &Row::method));

// What concerns one page, frame or worker and what its context stores. Not here: Browser and Target
// (rows above), Memory (likewise), and what reaches every session's pages or the machine:
// BluetoothEmulation, Cast, Extensions, PWA, SystemInfo, Tethering, Tracing.
constexpr auto kDomains = std::to_array<std::string_view>({
    "Accessibility",
    "Ads",
    "Animation",
    "Audits",
    "Autofill",
    "BackgroundService",
    "CSS",
    "CacheStorage",
    "Console",
    "CrashReportContext",
    "DOM",
    "DOMDebugger",
    "DOMSnapshot",
    "DOMStorage",
    "Debugger",
    "DeviceAccess",
    "DeviceOrientation",
    "DigitalCredentials",
    "Emulation",
    "EventBreakpoints",
    "FedCm",
    "Fetch",
    "FileSystem",
    "FindInPage",
    "HeadlessExperimental",
    "HeapProfiler",
    "IO",
    "IndexedDB",
    "Input",
    "Inspector",
    "LayerTree",
    "Log",
    "Media",
    "Network",
    "Overlay",
    "Page",
    "Performance",
    "PerformanceTimeline",
    "Preload",
    "Profiler",
    "Runtime",
    "Schema",
    "Security",
    "ServiceWorker",
    "SmartCardEmulation",
    "Storage",
    "WebAudio",
    "WebAuthn",
    "WebMCP",
});
static_assert(std::ranges::is_sorted(kDomains));

}  // namespace

CdpTreatment treatment_of(std::string_view method, bool is_browser) {
  const auto row = std::ranges::lower_bound(kRows, method, {}, &Row::method);
  if (row != kRows.end() && row->method == method)
    return {is_browser ? row->browser : row->target, row->audit};
  const std::size_t dot = method.find('.');
  if (is_browser || dot == std::string_view::npos) return {};
  const std::string_view domain = method.substr(0, dot);
  if (domain == "Input") return {kInput, AuditKind::kInput};
  return {std::ranges::binary_search(kDomains, domain) ? kPass : kDeny, AuditKind::kNone};
}

}  // namespace reprise::browser
