#include "browser/chromium/client.h"

#include <utility>

#include "browser/chromium/browser.h"
#include "browser/proxy/context_proxy.h"

namespace reprise::browser::chromium {

ChromiumClient::ChromiumClient(std::shared_ptr<ChromiumBrowser> browser,
                               std::shared_ptr<SessionScope> scope, std::string proxy_server,
                               ProtocolHooks hooks)
    : browser_(std::move(browser)),
      scope_(std::move(scope)),
      proxy_server_(std::move(proxy_server)),
      hooks_(std::move(hooks)),
      audit_(browser_->connection().loop(), hooks_.record) {
  client_.emplace(browser_->clients(), scope_, this->hooks());
  scope_->add_client();
}

ChromiumClient::~ChromiumClient() {
  closed();
  scope_->remove_client();
}

CdpHooks ChromiumClient::hooks() {
  return {
      .to_client = hooks_.to_client,
      .to_browser = hooks_.to_browser,
      .check_url = hooks_.check_url,
      .ask = [this](CdpQuestion question,
                    CdpAnswered answered) { answer(std::move(question), std::move(answered)); },
      .audit = [this](const AuditNote& note) { audit_.note(note); },
      .audit_outcome = [this](const AuditOutcome& outcome) { audit_.outcome(outcome); },
      .context_changed =
          [this](std::string_view context, bool is_created) {
            browser_->sub_context_changed(scope_->context_id(), std::string(context), is_created);
          },
      .close_asked = hooks_.close_asked,
      .readable = hooks_.readable,
      .finished = hooks_.finished,
  };
}

void ChromiumClient::answer(CdpQuestion question, CdpAnswered answered) {
  switch (question.kind) {
    case CdpQuestion::Kind::kInputFiles:
    case CdpQuestion::Kind::kDragFiles:
      return hooks_.find_files(
          std::move(question.paths),
          [answered = std::move(answered)](Result<std::vector<std::string>> found) {
            if (!found) return answered(fail(std::move(found).error()));
            answered(CdpAnswer{.paths = std::move(*found)});
          });
    case CdpQuestion::Kind::kDownloads: {
      const std::string directory = hooks_.download_directory();
      if (directory.empty()) return answered(CdpAnswer{.behavior = "deny"});
      // We take the files by the names that downloads have, whatever the client would call them.
      return answered(CdpAnswer{
          .paths = {directory},
          .behavior = question.behavior == "allow" ? std::string("allowAndName") : std::string()});
    }
    case CdpQuestion::Kind::kNewContext:
      // All traffic of the session goes through its own proxy, by which its rules hold.
      if (!question.proxy_server.empty())
        return answered(fail(Code::kInvalid, "Contexts with a proxy of their own are refused"));
      return answered(CdpAnswer{
          .proxy_server = proxy_server_,
          .proxy_bypass_list = proxy_server_.empty() ? "" : std::string(kProxyBypassList)});
  }
}

void ChromiumClient::from_client(std::string message) {
  client_->from_client(std::move(message));
  audit_.write();
}

void ChromiumClient::from_browser(std::string message) {
  client_->from_browser(std::move(message));
  audit_.write();
}

void ChromiumClient::leave() { client_->leave(); }

void ChromiumClient::closed() {
  client_->closed();
  audit_.finish();
}

}  // namespace reprise::browser::chromium
