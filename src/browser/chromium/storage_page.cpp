#include "browser/chromium/storage_page.h"

#include <fmt/format.h>

#include <utility>

#include "base/json_text.h"
#include "browser/chromium/json_access.h"
#include "browser/timing.h"

namespace reprise::browser::chromium {

rt::Task<Result<std::optional<std::vector<StorageItem>>>> shown_storage(CdpConnection& connection,
                                                                        std::string session,
                                                                        std::string origin,
                                                                        rt::Deadline deadline) {
  using Found = std::optional<std::vector<StorageItem>>;
  // The storage key of a page of its own: that of a frame below another site has more to it.
  auto reply = co_await connection.call(
      std::move(session), "DOMStorage.getDOMStorageItems",
      fmt::format(R"({{"storageId":{{"storageKey":{},"isLocalStorage":true}}}})",
                  json_string(origin + '/')),
      deadline);
  if (!reply && reply.error().code == Code::kBrowserError) co_return Found();
  if (!reply) co_return fail(std::move(reply).error());
  std::vector<StorageItem> items;
  if (const auto entries = reply->result().find("entries"))
    for (const wire::JsonValue entry : entries->elements()) {
      const auto pair = entry.elements();
      if (pair.size() == 2)
        items.push_back(
            {.name = pair[0].as_string().value_or(""), .value = pair[1].as_string().value_or("")});
    }
  co_return Found(std::move(items));
}

StoragePage::StoragePage(CdpConnection& connection, std::string target, std::string session)
    : connection_(connection), target_(std::move(target)), session_(std::move(session)) {
  connection_.listen(session_, this);
}

StoragePage::~StoragePage() { gone(); }

void StoragePage::gone() {
  if (scope_.is_cancelled()) return;
  scope_.cancel(Error{Code::kBrowserError, "the page was closed"});
  connection_.forget(session_);
}

rt::Task<Result<>> StoragePage::prepare(rt::Deadline deadline) {
  connection_.send(session_, "Page.enable");
  connection_.send(session_, "Network.enable");
  connection_.send(session_, "Network.setBypassServiceWorker", R"({"bypass":true})");
  connection_.send(session_, "Runtime.runIfWaitingForDebugger");
  REPRISE_CO_CHECK(co_await connection_.call(
      session_, "Fetch.enable", R"({"patterns":[{"urlPattern":"*"}]})", deadline, &scope_));
  co_return Result<>{};
}

void StoragePage::on_event(const std::string&, std::string_view method, wire::JsonValue params) {
  if (method == "Fetch.requestPaused")
    connection_.send(
        session_, "Fetch.fulfillRequest",
        fmt::format(
            R"({{"requestId":{},"responseCode":200,"responseHeaders":[{{"name":"Content-Type",)"
            R"("value":"text/html"}},{{"name":"Cache-Control","value":"no-store"}}],"body":""}})",
            json_string(text_of(params, "requestId"))));
  else if (method == "Page.javascriptDialogOpening")
    connection_.send(session_, "Page.handleJavaScriptDialog", R"({"accept":true})");
}

rt::Task<Result<std::string>> StoragePage::evaluate(std::string expression, rt::Deadline deadline) {
  REPRISE_CO_TRY(const CdpReply reply,
                 co_await connection_.call(
                     session_, "Runtime.evaluate",
                     fmt::format(R"({{"expression":{},"returnByValue":true,"silent":true}})",
                                 json_string(expression)),
                     deadline, &scope_));
  const auto result = reply.result().find("result");
  co_return result ? text_of(*result, "value") : std::string();
}

rt::Task<Result<bool>> StoragePage::go(std::string origin, rt::Deadline deadline) {
  REPRISE_CO_TRY(const CdpReply reply,
                 co_await connection_.call(
                     session_, "Page.navigate",
                     fmt::format(R"({{"url":{}}})", json_string(origin + '/')), deadline, &scope_));
  if (!reply.text("errorText").empty()) co_return false;
  // The answer may come before the document does.
  const rt::Deadline patience = rt::Deadline::after(connection_.loop(), kStorageDocumentPatience);
  for (;;) {
    const auto shown = co_await evaluate("location.origin", deadline);
    if (!shown && shown.error().code != Code::kBrowserError) co_return fail(shown.error());
    if (shown && *shown == origin) co_return true;
    if (patience.has_passed(connection_.loop())) co_return false;
    REPRISE_CO_CHECK(co_await rt::sleep_for(connection_.loop(), kStorageDocumentPause, scope_));
  }
}

rt::Task<Result<std::optional<std::vector<StorageItem>>>> StoragePage::read(std::string origin,
                                                                            rt::Deadline deadline) {
  REPRISE_CO_TRY(const bool is_there, co_await go(origin, deadline));
  if (!is_there) co_return std::optional<std::vector<StorageItem>>();
  co_return co_await shown_storage(connection_, session_, std::move(origin), deadline);
}

rt::Task<Result<>> StoragePage::replace(OriginStorage storage, rt::Deadline deadline) {
  REPRISE_CO_TRY(const bool is_there, co_await go(storage.origin, deadline));
  if (!is_there)
    co_return fail(Code::kToolFailed, fmt::format("the browser does not go to {}", storage.origin));
  REPRISE_CO_TRY(
      const std::string outcome,
      co_await evaluate(fmt::format("(items => {{ try {{ localStorage.clear(); for (const item of "
                                    "items) localStorage.setItem(item.name, item.value); return "
                                    "'done'; }} catch (error) {{ return error.name; }} }})({})",
                                    storage_items_json(storage.items)),
                        deadline));
  if (outcome == "done") co_return Result<>{};
  co_return fail(Code::kToolFailed, fmt::format("the local storage of {} could not be written: {}",
                                                storage.origin, outcome));
}

}  // namespace reprise::browser::chromium
