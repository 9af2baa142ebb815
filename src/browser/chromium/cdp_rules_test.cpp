#include "browser/chromium/cdp_rules.h"

#include <gtest/gtest.h>

namespace reprise::browser {
namespace {

CdpRule at_browser(std::string_view method) { return treatment_of(method, true).rule; }
CdpRule in_page(std::string_view method) { return treatment_of(method, false).rule; }

TEST(CdpRules, AtTheBrowserNothingPassesThatIsNotNamed) {
  for (const std::string_view method : {"Browser.crash",
                                        "Browser.crashGpuProcess",
                                        "Browser.getBrowserCommandLine",
                                        "Browser.getHistograms",
                                        "Browser.executeBrowserCommand",
                                        "Browser.setDockTile",
                                        "Target.setRemoteLocations",
                                        "Target.exposeDevToolsProtocol",
                                        "Target.sendMessageToTarget",
                                        "Target.openDevTools",
                                        "SystemInfo.getInfo",
                                        "SystemInfo.getProcessInfo",
                                        "Tracing.start",
                                        "Memory.simulatePressureNotification",
                                        "Extensions.loadUnpacked",
                                        "PWA.install",
                                        "Tethering.bind",
                                        "Fetch.enable",
                                        "Security.setIgnoreCertificateErrors",
                                        "IO.read",
                                        "Storage.clearDataForOrigin",
                                        "Emulation.addScreen",
                                        "Page.navigate",
                                        "Runtime.evaluate",
                                        "NoSuch.method",
                                        "nodot",
                                        "",
                                        "Browser.getVersion.",
                                        "browser.getVersion"})
    EXPECT_EQ(at_browser(method), CdpRule::kDeny) << method;
  EXPECT_EQ(at_browser("Browser.getVersion"), CdpRule::kPass);
  EXPECT_EQ(at_browser("Target.setDiscoverTargets"), CdpRule::kPass);
}

TEST(CdpRules, InAPageItsOwnDomainsPass) {
  for (const std::string_view method :
       {"Page.enable", "Runtime.evaluate", "Fetch.enable", "Network.setBypassServiceWorker",
        "Emulation.setDeviceMetricsOverride", "ServiceWorker.enable", "Storage.clearDataForOrigin",
        "IO.read", "DOM.getDocument", "Accessibility.getFullAXTree", "Debugger.enable",
        "Security.setIgnoreCertificateErrors", "Memory.getDOMCounters", "WebMCP.enable"})
    EXPECT_EQ(in_page(method), CdpRule::kPass) << method;
}

TEST(CdpRules, InAPageWhatReachesTheWholeBrowserDoesNot) {
  for (const std::string_view method : {"Browser.crash",
                                        "Browser.getHistograms",
                                        "Target.exposeDevToolsProtocol",
                                        "Target.sendMessageToTarget",
                                        "SystemInfo.getInfo",
                                        "Tracing.start",
                                        "Tracing.getCategories",
                                        "Memory.simulatePressureNotification",
                                        "Memory.getBrowserSamplingProfile",
                                        "Memory.prepareForLeakDetection",
                                        "Emulation.addScreen",
                                        "Emulation.removeScreen",
                                        "Emulation.updateScreen",
                                        "Emulation.setPrimaryScreen",
                                        "BluetoothEmulation.enable",
                                        "Tethering.bind",
                                        "Cast.enable",
                                        "Extensions.getExtensions",
                                        "PWA.launch",
                                        "Newer.domain",
                                        "nodot",
                                        "."})
    EXPECT_EQ(in_page(method), CdpRule::kDeny) << method;
  for (const std::string_view method :
       {"Target.createBrowserContext", "Target.getBrowserContexts", "Target.attachToBrowserTarget",
        "Target.disposeBrowserContext", "Target.autoAttachRelated"})
    EXPECT_EQ(in_page(method), CdpRule::kNotAllowed) << method;
}

TEST(CdpRules, WhatActsIsOnRecord) {
  EXPECT_EQ(treatment_of("Page.navigate", false).audit, AuditKind::kNavigate);
  EXPECT_EQ(treatment_of("Page.reload", false).audit, AuditKind::kNavigate);
  EXPECT_EQ(treatment_of("Input.dispatchKeyEvent", false).audit, AuditKind::kInput);
  EXPECT_EQ(treatment_of("Input.insertText", false).rule, CdpRule::kInput);
  EXPECT_EQ(treatment_of("Target.createTarget", true).audit, AuditKind::kTarget);
  EXPECT_EQ(treatment_of("Target.closeTarget", true).audit, AuditKind::kTarget);
  EXPECT_EQ(treatment_of("DOM.setFileInputFiles", false).audit, AuditKind::kFiles);
  EXPECT_EQ(treatment_of("Runtime.evaluate", false).audit, AuditKind::kNone);
}

}  // namespace
}  // namespace reprise::browser
