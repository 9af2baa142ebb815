// What becomes of a client's command: the table of the CDP endpoint's rules.
//
// At the level of the browser, which all sessions share, nothing passes that is not named here.
// In a page, a frame or a worker the domains pass that concern it alone; methods among them that
// reach the whole browser have rows of their own. What the rules do is in cdp_commands.cpp.
#pragma once

#include <cstdint>
#include <string_view>

namespace reprise::browser {

enum class CdpRule : std::uint8_t {
  kPass,
  kDeny,             // as if Chromium did not know the method
  kNotAllowed,       // Chromium's answer to what only the browser's sessions may
  kCloseBrowser,     // ends the client's view, never the browser
  kContext,          // its browserContextId is the session's, put in where it is missing
  kCookies,          // in a page, where Chromium would answer from the browser's default context
  kDownloads,        // kContext, and the path is mapped
  kPageDownloads,    // the path is mapped
  kTarget,           // its targetId must be the session's
  kTargetInfo,       // the same, if there is one
  kAttach,           // kTarget, in flat mode only
  kWindowForTarget,  // through a page the client is attached to
  kWindow,           // its windowId is one that the client was told
  kAutoAttach,
  kAttachToBrowser,
  kDetach,
  kGetTargets,
  kGetContexts,
  kCreateContext,
  kDisposeContext,
  kCreateTarget,
  kResume,      // through the gate
  kNavigate,    // the URL is checked
  kInput,       // not while a person has taken over
  kDrag,        // kInput, and its files are mapped
  kInputFiles,  // its files are mapped
};

// What is put on record.
enum class AuditKind : std::uint8_t {
  kNone,
  kNavigate,
  kInput,
  kTarget,
  kFiles,
  kDialog,
  kContext
};

struct CdpTreatment {
  CdpRule rule = CdpRule::kDeny;
  AuditKind audit = AuditKind::kNone;
};

// `is_browser`: of a session of the browser itself, the root or a nested one.
CdpTreatment treatment_of(std::string_view method, bool is_browser);

}  // namespace reprise::browser
