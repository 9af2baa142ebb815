// WebhookSender: how webhooks are called. The server has one that speaks HTTP (server/webhooks.h).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "rt/cancel.h"
#include "rt/task.h"

namespace reprise::stream {

struct WebhookCall {
  std::string url;
  // Besides those every call has; names and values are our own, never a client's.
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};
struct WebhookReply {
  int status = 0;
  std::string body;
};

class WebhookSender {
 public:
  virtual ~WebhookSender() = default;
  // Whether a webhook may have this address at all.
  virtual Result<> check(std::string_view url) const = 0;
  // Gives up when the scope is cancelled.
  virtual rt::Task<Result<WebhookReply>> call(WebhookCall call, rt::CancelScope& scope) = 0;
};

}  // namespace reprise::stream
