#include "browser/chromium/cdp_audit.h"

#include <gtest/gtest.h>

#include "browser/chromium/cdp_limits.h"
#include "rt/manual_loop.h"

namespace reprise::browser::chromium {
namespace {

// An audit, and what it has put on record, one line each.
struct Audited {
  rt::ManualTime time;
  rt::ManualLoop loop{time};
  std::vector<std::string> lines;
  CdpAudit audit{loop, [this](const ProtocolCommand& command) {
                   lines.push_back(fmt::format("{} {} {} {}{}", command.name, command.arguments,
                                               command.target,
                                               command.is_ok ? "ok" : "failed: ", command.error));
                 }};
  std::uint64_t last = 0;

  std::uint64_t note(AuditKind kind, std::string_view method, std::string_view params,
                     std::string_view target = "PAGE") {
    audit.note(
        {.number = ++last, .kind = kind, .method = method, .target_id = target, .params = params});
    audit.write();
    return last;
  }
  void input(std::string_view method, std::string_view params, std::string_view target = "PAGE") {
    note(AuditKind::kInput, method, params, target);
  }
  void over(std::uint64_t number, bool is_ok = true, std::string_view error = "") {
    audit.outcome({.number = number, .is_ok = is_ok, .error = error, .result = "{}"});
    audit.write();
  }
  std::vector<std::string> take() { return std::exchange(lines, {}); }
};

using Lines = std::vector<std::string>;

TEST(CdpAudit, PutsCommandsOnRecordInTheOrderOfSending) {
  Audited audited;
  const auto first = audited.note(AuditKind::kNavigate, "Page.navigate",
                                  R"({"url":"http://one/","referrer":"secret"})");
  const auto second = audited.note(AuditKind::kTarget, "Target.createTarget", R"({"url":"a:b"})");
  audited.input("Input.dispatchMouseEvent",
                R"({"type":"mousePressed","x":1,"y":2,"button":"left","clickCount":1})");
  audited.over(second);
  EXPECT_EQ(audited.take(), Lines{});
  audited.over(first, false, "net::ERR_FAILED");
  EXPECT_EQ(audited.take(),
            (Lines{R"(Page.navigate {"url":"http://one/"} PAGE failed: net::ERR_FAILED)",
                   R"(Target.createTarget {"url":"a:b"} PAGE ok)",
                   R"(Input.dispatchMouseEvent {"type":"mousePressed","x":1,"y":2,"button":"left",)"
                   R"("clickCount":1} PAGE ok)"}));
  EXPECT_EQ(audited.audit.waiting(), 0U);
}

TEST(CdpAudit, OneThatTakesLongLetsOthersPassAndFollows) {
  Audited audited;
  const auto slow =
      audited.note(AuditKind::kNavigate, "Page.navigate", R"({"url":"http://slow/"})");
  const auto quick = audited.note(AuditKind::kNavigate, "Page.reload", "");
  audited.over(quick);
  audited.loop.advance(kMaxOutcomeWait - std::chrono::milliseconds{1});
  EXPECT_EQ(audited.take(), Lines{});
  audited.loop.advance(std::chrono::milliseconds{1});
  EXPECT_EQ(audited.take(), (Lines{"Page.reload {} PAGE ok"}));
  audited.over(slow);
  EXPECT_EQ(audited.take(), (Lines{R"(Page.navigate {"url":"http://slow/"} PAGE ok)"}));
}

TEST(CdpAudit, KeystrokesAreOneCommandAndTellTheirNumberAlone) {
  Audited audited;
  for (const char* key : {"h", "u", "n", "t"}) {
    audited.input("Input.dispatchKeyEvent",
                  fmt::format(R"({{"type":"keyDown","key":"{0}","text":"{0}"}})", key));
    audited.input("Input.dispatchKeyEvent", fmt::format(R"({{"type":"keyUp","key":"{}"}})", key));
    audited.loop.advance(kInputQuiet - std::chrono::milliseconds{1});
    audited.input("Input.dispatchMouseEvent", R"({"type":"mouseMoved","x":1,"y":1})");
    audited.input("Input.setInterceptDrags", R"({"enabled":true})");
  }
  audited.input("Input.insertText", R"({"text":"er2"})");
  for (std::size_t i = 0; i <= kMaxNamedKeys; ++i)
    audited.input("Input.dispatchKeyEvent", R"({"type":"rawKeyDown","key":"Enter"})");
  EXPECT_EQ(audited.take(), Lines{});
  audited.loop.advance(kInputQuiet);
  const Lines lines = audited.take();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_TRUE(lines.front().starts_with(
      R"(Input.dispatchKeyEvent {"keys":22,"text":{"redacted":true,"length":7},"named":["Enter",)"))
      << lines.front();
  EXPECT_EQ(lines.front().find("hunt"), std::string::npos);
}

TEST(CdpAudit, AnotherPageOrAnotherKindOfInputBeginsAnew) {
  Audited audited;
  audited.input("Input.insertText", R"({"text":"a"})");
  audited.input("Input.insertText", R"({"text":"b"})", "OTHER");
  audited.input("Input.dispatchMouseEvent", R"({"type":"mouseWheel","deltaX":1,"deltaY":100.5})");
  audited.input("Input.dispatchMouseEvent", R"({"type":"mouseWheel","deltaX":0,"deltaY":100})");
  audited.audit.finish();
  EXPECT_EQ(audited.take(),
            (Lines{R"(Input.insertText {"keys":1,"text":{"redacted":true,"length":1},"named":[],)"
                   R"("order":[1]} PAGE ok)",
                   R"(Input.insertText {"keys":1,"text":{"redacted":true,"length":1},"named":[],)"
                   R"("order":[1]} OTHER ok)",
                   R"(Input.dispatchMouseEvent {"type":"mouseWheel","x":0,"y":0,"deltaX":1,)"
                   R"("deltaY":200.5} PAGE ok)"}));
}

TEST(CdpAudit, KeysAreToldInTheirOrderAndWithTheirModifiers) {
  Audited audited;
  audited.input("Input.insertText", R"({"text":"Ada"})");
  audited.input("Input.dispatchKeyEvent", R"({"type":"keyDown","key":"Tab"})");
  audited.input("Input.dispatchKeyEvent", R"({"type":"keyDown","key":"Control","modifiers":2})");
  audited.input("Input.dispatchKeyEvent",
                R"({"type":"keyDown","key":"a","text":"","modifiers":2})");
  audited.input("Input.dispatchKeyEvent", R"({"type":"keyDown","key":"x","text":"x"})");
  audited.input("Input.dispatchKeyEvent", R"({"type":"keyDown","key":"Enter","text":"\r"})");
  audited.audit.finish();
  EXPECT_EQ(audited.take(),
            (Lines{R"(Input.insertText {"keys":6,"text":{"redacted":true,"length":4},)"
                   R"("named":["Tab","Control","Enter"],)"
                   R"("order":[3,"Tab","Control+a",1,"Enter"]} PAGE ok)"}));
  // What is not told whole is not told in order.
  audited.input("Input.imeSetComposition", R"({"text":"s"})");
  audited.audit.finish();
  EXPECT_TRUE(audited.take().front().ends_with(R"("order":null} PAGE ok)"));
  for (std::size_t i = 0; i <= 2 * kMaxNamedKeys; ++i)
    audited.input("Input.dispatchKeyEvent", R"({"type":"keyDown","key":"ArrowDown"})");
  audited.audit.finish();
  EXPECT_TRUE(audited.take().front().ends_with(R"("order":null} PAGE ok)"));
}

TEST(CdpAudit, AReleaseElsewhereIsOnRecordAndEndsADrag) {
  Audited audited;
  const auto mouse = [&](std::string_view type, int x) {
    audited.input("Input.dispatchMouseEvent",
                  fmt::format(R"({{"type":"{}","x":{},"y":9,"button":"left"}})", type, x));
  };
  mouse("mousePressed", 10);
  mouse("mouseReleased", 12);
  EXPECT_EQ(audited.take().size(), 1U);
  mouse("mousePressed", 10);
  mouse("mouseMoved", 40);
  mouse("mouseReleased", 60);
  EXPECT_EQ(audited.take().back(),
            R"(Input.dispatchMouseEvent {"type":"mouseReleased","x":60,"y":9,"button":"left"} )"
            "PAGE ok");
}

TEST(CdpAudit, SaysWhichPageIsMeantAndWhetherItIsAFrameOfIt) {
  Audited audited;
  const auto made = audited.note(AuditKind::kTarget, "Target.createTarget", R"({"url":"a:b"})", "");
  audited.audit.outcome({.number = made, .is_ok = true, .result = R"({"targetId":"NEW"})"});
  audited.over(audited.note(AuditKind::kTarget, "Target.closeTarget", R"({"targetId":"NEW"})", ""));
  audited.over(audited.note(AuditKind::kNavigate, "Page.navigate",
                            R"({"url":"http://a/","frameId":"PAGE"})"));
  audited.over(audited.note(AuditKind::kNavigate, "Page.navigate",
                            R"({"url":"http://a/","frameId":"INNER"})"));
  EXPECT_EQ(audited.take(),
            (Lines{R"(Target.createTarget {"url":"a:b"} NEW ok)",
                   R"(Target.closeTarget {"targetId":"NEW"} NEW ok)",
                   R"(Page.navigate {"url":"http://a/"} PAGE ok)",
                   R"(Page.navigate {"url":"http://a/","frameId":"INNER"} PAGE ok)"}));
}

TEST(CdpAudit, RefusedInputSaysSo) {
  Audited audited;
  audited.audit.note({.number = 1,
                      .kind = AuditKind::kInput,
                      .method = "Input.insertText",
                      .target_id = "PAGE",
                      .params = R"({"text":"abc"})"});
  audited.over(1, false, "taken over");
  EXPECT_EQ(audited.take(),
            (Lines{R"(Input.insertText {"keys":1,"text":{"redacted":true,"length":3},"named":[],)"
                   R"("order":[3]} PAGE failed: taken over)"}));
}

TEST(CdpAudit, WhoLeavesLeavesNothingUnrecorded) {
  Audited audited;
  audited.note(AuditKind::kDialog, "Page.handleJavaScriptDialog",
               R"({"accept":true,"promptText":"my pin"})");
  audited.audit.finish();
  EXPECT_EQ(audited.take(),
            (Lines{R"(Page.handleJavaScriptDialog {"accept":true,"promptText":{"redacted":true,)"
                   R"("length":6}} PAGE failed: the client left before it was over)"}));
  EXPECT_EQ(audited.audit.waiting(), 0U);
}

}  // namespace
}  // namespace reprise::browser::chromium
