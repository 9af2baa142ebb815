// How webhooks are called.
//
// By https to public addresses; others as the configuration allows (server/webhook_address.h). A
// name is resolved, every address it has is judged, and one that may be called is connected to, so
// that it cannot change in between. Redirects are not followed: where they lead was not judged.
//
// Threads: belongs to the loop it calls from.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "rt/cancel.h"
#include "rt/pool.h"
#include "rt/real_loop.h"
#include "rt/resolver.h"
#include "rt/socket.h"
#include "rt/tls.h"
#include "server/config.h"
#include "server/limits.h"
#include "server/webhook_address.h"
#include "stream/subscription/sender.h"

namespace reprise::server {

struct WebhookOptions {
  WebhookRules rules;
  std::chrono::milliseconds call_timeout = kWebhookCallTimeout;
  std::size_t max_reply_bytes = kMaxWebhookReplyBytes;
  std::string authority_file;  // empty: the system's authorities
};
// Of a configuration that was checked.
WebhookOptions webhook_options(const Config& config);

class Webhooks final : public stream::WebhookSender {
 public:
  Webhooks(rt::RealLoop& loop, WebhookOptions options);
  Result<> check(std::string_view url) const override;
  // The reply, whatever its status. kDeadline, kBodyTooLarge, kIo, kCancelled; kInvalid for an
  // address that may not be called.
  rt::Task<Result<stream::WebhookReply>> call(stream::WebhookCall call,
                                              rt::CancelScope& scope) override;

 private:
  rt::Task<Result<std::unique_ptr<rt::Socket>>> open(const WebhookUrl& url, rt::CancelScope& scope,
                                                     rt::Deadline deadline);
  rt::Task<Result<std::unique_ptr<rt::Socket>>> open_at(const WebhookUrl& url, IpAddress address,
                                                        rt::CancelScope& scope,
                                                        rt::Deadline deadline);
  rt::Task<Result<stream::WebhookReply>> exchange(rt::Socket& socket, std::string request,
                                                  rt::CancelScope& scope, rt::Deadline deadline);
  rt::RealLoop& loop_;
  const WebhookOptions options_;
  rt::ThreadPool resolvers_;
  rt::SystemResolver resolver_;
  std::shared_ptr<rt::TlsContext> tls_;
};

}  // namespace reprise::server
