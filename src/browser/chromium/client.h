// ChromiumClient: a DevTools client of one context (browser/chromium/cdp_scope.h), and what is put
// on record of it.
//
// Threads: belongs to the browsers' loop.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "browser/chromium/cdp_audit.h"
#include "browser/chromium/cdp_scope.h"
#include "browser/protocol_client.h"
#include "rt/loop.h"

namespace reprise::browser::chromium {

class ChromiumBrowser;

class ChromiumClient final : public ProtocolClient {
 public:
  ChromiumClient(std::shared_ptr<ChromiumBrowser> browser, std::shared_ptr<SessionScope> scope,
                 std::string proxy_server, ProtocolHooks hooks);
  ~ChromiumClient() override;

  void from_client(std::string message) override;
  void from_browser(std::string message) override;
  void leave() override;
  void closed() override;
  bool is_waiting() const override { return client_->is_waiting(); }
  std::size_t unrecorded() const override { return audit_.waiting(); }

 private:
  CdpHooks hooks();
  void answer(CdpQuestion question, CdpAnswered answered);

  const std::shared_ptr<ChromiumBrowser> browser_;
  const std::shared_ptr<SessionScope> scope_;
  const std::string proxy_server_;  // which new contexts of its own go through too
  const ProtocolHooks hooks_;
  CdpAudit audit_;
  std::optional<CdpClient> client_;  // last: its hooks use the members above
};

}  // namespace reprise::browser::chromium
