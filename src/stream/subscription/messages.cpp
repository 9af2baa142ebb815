#include "stream/subscription/messages.h"

#include <fmt/format.h>

#include "base/json_text.h"
#include "stream/limits.h"
#include "stream/log/offset.h"
#include "wire/target.h"

namespace reprise::stream {
namespace {

void add_stream(std::string& json, const std::string& path, const SubscriptionLink& link,
                Seq tail) {
  if (json.back() != '[') json += ',';
  json += fmt::format(
      R"({{"path":{},"link_type":"{}","acked_offset":"{}","tail_offset":"{}","has_pending":{}}})",
      json_string(path), link_type(link), acked_offset(link), offset_text(tail),
      tail > link.acked.value_or(Seq{0}));
}

}  // namespace

std::string acked_offset(const SubscriptionLink& link) {
  return link.acked ? offset_text(*link.acked) : "-1";
}

std::string_view link_type(const SubscriptionLink& link) {
  return link.is_explicit ? "explicit" : "glob";
}

std::string streams_of_wake(const Subscription& subscription, const LinkTable& links) {
  std::string json = "[";
  const auto& snapshot = subscription.snapshot;
  if (links.rows().size() > kMaxStreamsTold) {
    for (const auto& [path, tail] : snapshot)
      if (const auto* row = links.find(path)) add_stream(json, path, row->link, tail);
  } else {
    for (const auto& [path, row] : links.rows()) {
      const auto told = snapshot.find(path);
      if (told != snapshot.end())
        add_stream(json, path, row.link, told->second);
      else if (row.tail)
        add_stream(json, path, row.link, *row.tail);
    }
  }
  return json + ']';
}

std::string webhook_body(const Subscription& subscription, const LinkTable& links,
                         std::string_view token) {
  const std::string callback_url =
      fmt::format("{}/v1/stream/__ds/subscriptions/{}/callback", subscription.base_url,
                  wire::percent_encode(subscription.id));
  return fmt::format(
      R"({{"subscription_id":{},"wake_id":{},"generation":{},"streams":{},"callback_url":{},)"
      R"("callback_token":{}}})",
      json_string(subscription.id), json_string(subscription.wake_id), subscription.generation,
      streams_of_wake(subscription, links), json_string(callback_url), json_string(token));
}

std::string wake_event(const Subscription& subscription, TimePoint now) {
  const auto& snapshot = subscription.snapshot;
  return fmt::format(
      R"({{"type":"wake","subscription_id":{},"stream":{},"generation":{},"ts":{}}})",
      json_string(subscription.id), json_string(snapshot.empty() ? "" : snapshot.begin()->first),
      subscription.generation, now.ms);
}

}  // namespace reprise::stream
