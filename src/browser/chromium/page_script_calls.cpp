// How a page's frames are asked: the page script in a world of its own, and the page's own world.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/json_text.h"
#include "browser/chromium/json_access.h"
#include "browser/chromium/page.h"
#include "browser/page/page_script.h"
#include "browser/timing.h"

namespace reprise::browser::chromium {
namespace {

// No page sees it: an isolated world shares the document, and nothing else.
constexpr std::string_view kWorld = "reprise";
constexpr const char* kAsked = "dialog: the page asks something; answer it first";

// Every new document gets it, so it is quoted once.
const std::string& quoted_page_script() {
  static const std::string quoted = json_string(page_script());
  return quoted;
}

// What a script threw, without its stack.
std::string thrown(wire::JsonValue details) {
  const auto exception = details.find("exception");
  std::string text = exception ? text_of(*exception, "description") : "";
  if (text.empty() && exception)
    if (const auto value = exception->find("value")) text = value->minified();
  if (text.empty()) text = text_of(details, "text");
  if (const std::size_t stack = text.find("\n    at "); stack != std::string::npos)
    text.resize(stack);
  if (text.starts_with("Error: ")) text.erase(0, 7);
  return text;
}

std::string script_call(std::string_view object, std::string_view function,
                        std::string_view arguments, bool by_value) {
  return fmt::format(
      R"({{"objectId":{},"functionDeclaration":{},"arguments":[{}],"returnByValue":{},)"
      R"("awaitPromise":true,"userGesture":true}})",
      json_string(object), json_string(function), arguments, by_value);
}

}  // namespace

// What a call gave: JSON, or the name of an object.
struct ChromiumPage::Called {
  std::string json;
  std::string object;
};

rt::Task<Result<>> ChromiumPage::usable() const {
  if (is_closed_) co_return fail(Code::kToolFailed, "the page was closed");
  if (is_crashed_) co_return fail(Code::kToolFailed, "the page has crashed: navigate it anew");
  co_return Result<>{};
}

rt::Task<Result<std::optional<CdpReply>>> ChromiumPage::call_until_asked(std::string session,
                                                                         std::string method,
                                                                         std::string params,
                                                                         rt::Deadline deadline,
                                                                         rt::CancelScope* caller) {
  rt::CancelScope scope;
  std::optional<rt::CancelScope::Listener> given_up;
  if (caller != nullptr)
    given_up.emplace(*caller, [&scope, caller] { scope.cancel(caller->reason()); });
  ended_by_dialog_.push_back(&scope);
  auto reply = co_await connection_.call(std::move(session), std::move(method), std::move(params),
                                         deadline, &scope);
  std::erase(ended_by_dialog_, &scope);
  if (!reply && caller != nullptr && caller->is_cancelled()) co_return fail(caller->reason());
  if (!reply && scope.is_cancelled()) co_return std::optional<CdpReply>();
  if (!reply) co_return fail(std::move(reply).error());
  co_return std::optional<CdpReply>(std::move(*reply));
}

// Runtime.terminateExecution ends the running script, or, where none runs, the next one, whosever
// it is. So it is sent only to a page that does not answer; and behind it goes a script of ours, so
// that there is one to end where the other came to its own end meanwhile.
rt::Task<> ChromiumPage::stop_scripts(std::string session) {
  constexpr const char* kNothing = R"({"expression":"0","silent":true})";
  const auto within = [&](std::chrono::milliseconds time) {
    return rt::Deadline::after(connection_.loop(), time);
  };
  if (is_closed_ || is_crashed_ || dialog_) co_return;
  const auto answered =
      co_await connection_.call(session, "Runtime.evaluate", kNothing, within(kScriptPause));
  if (answered || answered.error().code != Code::kDeadline || is_closed_) co_return;
  connection_.send(session, "Runtime.terminateExecution");
  (void)co_await connection_.call(session, "Runtime.evaluate", kNothing, within(kScriptEnd));
}

rt::Task<Result<std::string>> ChromiumPage::script_in(std::string frame, rt::Deadline deadline) {
  // A document that goes while its script is put in: once more in the next one.
  for (int tries = 0; tries < 3; ++tries) {
    const Frame* known = frames_.find(frame);
    if (known == nullptr) co_return fail(Code::kToolFailed, "stale_ref: the frame is gone");
    if (!known->script.empty()) co_return known->script;
    const std::uint64_t document = known->document;
    const std::string session = known->session;
    auto world = co_await connection_.call(
        session, "Page.createIsolatedWorld",
        fmt::format(R"({{"frameId":"{}","worldName":"{}"}})", frame, kWorld), deadline);
    if (!world && world.error().code != Code::kBrowserError)
      co_return fail(std::move(world).error());
    if (!world) continue;
    const int context = number_of(world->result(), "executionContextId");
    auto made = co_await connection_.call(
        session, "Runtime.evaluate",
        fmt::format(R"({{"expression":{},"contextId":{}}})", quoted_page_script(), context),
        deadline);
    if (!made && made.error().code != Code::kBrowserError) co_return fail(std::move(made).error());
    if (!made) continue;
    const auto result = made->result().find("result");
    const std::string object = result ? text_of(*result, "objectId") : "";
    if (const auto details = made->result().find("exceptionDetails"))
      co_return fail(Code::kInternal, "the page script failed: " + thrown(*details));
    Frame* now = frames_.find(frame);
    if (now == nullptr || now->document != document || object.empty()) continue;
    now->script = object;
    now->world = context;
    co_return object;
  }
  co_return fail(Code::kToolFailed, "the page keeps navigating");
}

rt::Task<Result<ChromiumPage::Called>> ChromiumPage::call_function(std::string frame,
                                                                   std::string function,
                                                                   std::string arguments,
                                                                   bool by_value,
                                                                   rt::Deadline deadline) {
  REPRISE_CO_CHECK(co_await usable());
  REPRISE_CO_TRY(const std::string script, co_await script_in(frame, deadline));
  const Frame* known = frames_.find(frame);
  if (known == nullptr) co_return fail(Code::kToolFailed, "stale_ref: the frame is gone");
  auto replied =
      co_await call_until_asked(known->session, "Runtime.callFunctionOn",
                                script_call(script, function, arguments, by_value), deadline);
  if (!replied && replied.error().code == Code::kBrowserError)
    co_return fail(Code::kToolFailed, "navigated: the page went to another document meanwhile");
  if (!replied) co_return fail(std::move(replied).error());
  if (!*replied) co_return fail(Code::kToolFailed, kAsked);
  const CdpReply& reply = **replied;
  if (const auto details = reply.result().find("exceptionDetails"))
    co_return fail(Code::kToolFailed, thrown(*details));
  const auto result = reply.result().find("result");
  if (!result) co_return Called{.json = "null", .object = {}};
  const auto value = result->find("value");
  co_return Called{.json = value ? value->minified() : "null",
                   .object = text_of(*result, "objectId")};
}

rt::Task<Result<std::string>> ChromiumPage::call(std::string frame, std::string function,
                                                 std::string argument, rt::Deadline deadline) {
  REPRISE_CO_TRY(Called called,
                 co_await call_function(
                     std::move(frame),
                     fmt::format("function(argument){{return ({})(this,argument)}}", function),
                     fmt::format(R"({{"value":{}}})", argument), true, deadline));
  co_return std::move(called.json);
}

rt::Task<Result<Element>> ChromiumPage::find(std::string frame, std::string function,
                                             std::string argument, rt::Deadline deadline) {
  REPRISE_CO_TRY(
      Called called,
      co_await call_function(
          frame, fmt::format("function(argument){{return ({})(this,argument)}}", function),
          fmt::format(R"({{"value":{}}})", argument), false, deadline));
  if (called.object.empty()) co_return fail(Code::kToolFailed, "not_found: no such element");
  co_return Element{.frame = std::move(frame), .handle = std::move(called.object)};
}

rt::Task<Result<std::string>> ChromiumPage::call_on(Element element, std::string function,
                                                    std::string argument, rt::Deadline deadline) {
  REPRISE_CO_TRY(
      Called called,
      co_await call_function(
          element.frame,
          fmt::format("function(element,argument){{return ({})(this,element,argument)}}", function),
          fmt::format(R"({{"objectId":{}}},{{"value":{}}})", json_string(element.handle), argument),
          true, deadline));
  co_return std::move(called.json);
}

// In the page's own world an element is another object for the same node: it is handed over by the
// node's number.
rt::Task<Result<std::string>> ChromiumPage::evaluate(std::string function,
                                                     std::optional<Element> element,
                                                     rt::CancelScope& scope,
                                                     rt::Deadline deadline) {
  REPRISE_CO_CHECK(co_await usable());
  std::string session = session_;
  std::string params = fmt::format(
      R"({{"expression":{},"returnByValue":true,"awaitPromise":true,"userGesture":true}})",
      json_string(fmt::format("({})()", function)));
  std::string method = "Runtime.evaluate";
  if (element) {
    const Frame* frame = frames_.find(element->frame);
    if (frame == nullptr) co_return fail(Code::kToolFailed, "stale_ref: the frame is gone");
    session = frame->session;
    REPRISE_CO_TRY(
        const CdpReply node,
        co_await connection_.call(session, "DOM.describeNode",
                                  fmt::format(R"({{"objectId":{}}})", json_string(element->handle)),
                                  deadline));
    const auto described = node.result().find("node");
    const int number = described ? number_of(*described, "backendNodeId") : 0;
    REPRISE_CO_TRY(
        const CdpReply resolved,
        co_await connection_.call(session, "DOM.resolveNode",
                                  fmt::format(R"({{"backendNodeId":{}}})", number), deadline));
    const auto object = resolved.result().find("object");
    const std::string handle = object ? text_of(*object, "objectId") : "";
    method = "Runtime.callFunctionOn";
    params = script_call(handle, fmt::format("function(element){{return ({})(element)}}", function),
                         fmt::format(R"({{"objectId":{}}})", json_string(handle)), true);
  }
  auto replied =
      co_await call_until_asked(session, std::move(method), std::move(params), deadline, &scope);
  const bool is_late = !replied && replied.error().code == Code::kDeadline;
  if (is_late || (!replied && scope.is_cancelled())) co_await stop_scripts(session);
  if (is_late)
    co_return fail(Code::kToolFailed, "timeout: the script did not end in time and was stopped");
  if (!replied && replied.error().code == Code::kBrowserError && !scope.is_cancelled())
    co_return fail(Code::kToolFailed, replied.error().detail);
  if (!replied) co_return fail(std::move(replied).error());
  if (!*replied) co_return fail(Code::kToolFailed, kAsked);
  const CdpReply& reply = **replied;
  if (const auto details = reply.result().find("exceptionDetails"))
    co_return fail(Code::kToolFailed, thrown(*details));
  const auto result = reply.result().find("result");
  if (!result) co_return std::string("null");
  if (const auto value = result->find("value")) co_return value->minified();
  const std::string unserializable = text_of(*result, "unserializableValue");
  if (!unserializable.empty()) co_return json_string(unserializable);
  co_return std::string("null");
}

rt::Task<Result<std::string>> ChromiumPage::frame_of(Element element, rt::Deadline deadline) {
  const Frame* frame = frames_.find(element.frame);
  if (frame == nullptr) co_return fail(Code::kToolFailed, "stale_ref: the frame is gone");
  REPRISE_CO_TRY(const CdpReply reply,
                 co_await connection_.call(
                     frame->session, "DOM.describeNode",
                     fmt::format(R"({{"objectId":{}}})", json_string(element.handle)), deadline));
  const auto node = reply.result().find("node");
  co_return node ? text_of(*node, "frameId") : std::string();
}

rt::Task<Result<Element>> ChromiumPage::owner_of(std::string frame, rt::Deadline deadline) {
  const Frame* inner = frames_.find(frame);
  if (inner == nullptr || inner->parent.empty())
    co_return fail(Code::kToolFailed, "stale_ref: the frame is gone");
  std::string parent = inner->parent;
  REPRISE_CO_CHECK(co_await script_in(parent, deadline));
  const Frame* outer = frames_.find(parent);
  if (outer == nullptr) co_return fail(Code::kToolFailed, "stale_ref: the frame is gone");
  const std::string session = outer->session;
  const int world = outer->world;
  REPRISE_CO_TRY(const CdpReply owner,
                 co_await connection_.call(session, "DOM.getFrameOwner",
                                           fmt::format(R"({{"frameId":"{}"}})", frame), deadline));
  REPRISE_CO_TRY(
      const CdpReply resolved,
      co_await connection_.call(session, "DOM.resolveNode",
                                fmt::format(R"({{"backendNodeId":{},"executionContextId":{}}})",
                                            number_of(owner.result(), "backendNodeId"), world),
                                deadline));
  const auto object = resolved.result().find("object");
  std::string handle = object ? text_of(*object, "objectId") : "";
  if (handle.empty()) co_return fail(Code::kToolFailed, "stale_ref: the frame is gone");
  co_return Element{.frame = std::move(parent), .handle = std::move(handle)};
}

rt::Task<Result<Point>> ChromiumPage::origin_of(std::string frame, rt::Deadline deadline) {
  Point origin;
  for (;;) {
    const Frame* inner = frames_.find(frame);
    if (inner == nullptr) co_return fail(Code::kToolFailed, "stale_ref: the frame is gone");
    if (inner->parent.empty()) co_return origin;
    const Frame* outer = frames_.find(inner->parent);
    if (outer == nullptr) co_return fail(Code::kToolFailed, "stale_ref: the frame is gone");
    const std::string session = outer->session;
    std::string next = outer->id;
    REPRISE_CO_TRY(
        const CdpReply owner,
        co_await connection_.call(session, "DOM.getFrameOwner",
                                  fmt::format(R"({{"frameId":"{}"}})", frame), deadline));
    REPRISE_CO_TRY(const CdpReply box, co_await connection_.call(
                                           session, "DOM.getContentQuads",
                                           fmt::format(R"({{"backendNodeId":{}}})",
                                                       number_of(owner.result(), "backendNodeId")),
                                           deadline));
    const auto quads = box.result().find("quads");
    const auto all = quads ? quads->elements() : std::vector<wire::JsonValue>{};
    const auto corners = all.empty() ? std::vector<wire::JsonValue>{} : all.front().elements();
    if (corners.size() < 2) co_return fail(Code::kToolFailed, "the frame is not shown");
    origin.x += corners[0].as_double().value_or(0);
    origin.y += corners[1].as_double().value_or(0);
    // Quads are told in the coordinates of the outermost frame that the process shows.
    for (const Frame* at = frames_.find(next); at != nullptr && !at->parent.empty();) {
      const Frame* above = frames_.find(at->parent);
      if (above == nullptr || above->session != session) break;
      at = above;
      next = at->id;
    }
    frame = std::move(next);
  }
}

}  // namespace reprise::browser::chromium
