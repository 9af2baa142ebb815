// Arbitrary targets: what the lists, pages and streams make of paths, queries, cursors and
// Last-Event-ID is an answer in JSON, a stream, or a refusal; never a crash.
#include <cstddef>
#include <cstdint>

#include "api/testing.h"

namespace reprise::api {
namespace {

// One server for all inputs: reading changes nothing but who has been seen.
testing::Api& api() {
  static testing::Api& instance = [] -> testing::Api& {
    auto* made = new testing::Api;  // lives as long as the process
    for (int i = 0; i < 3; ++i)
      made->call(wire::Method::kPut, "/v1/sessions/fuzz:s" + std::to_string(i), "{}");
    made->post("/v1/sessions/fuzz:s0/events", R"({"events":[{"type":"log"},{"type":"message"}]})");
    return *made;
  }();
  return instance;
}

void ask(std::string_view target, const testing::HeaderList& headers) {
  const auto reply = api().get(target, headers);
  REPRISE_ASSERT(reply.status != 500, reply.body);
  const auto type = reply.headers.get("content-type");
  if (type && type->find("json") != std::string_view::npos)
    REPRISE_ASSERT(wire::parse_json(reply.body).has_value(), reply.body);
}

}  // namespace
}  // namespace reprise::api

// The first line is a cursor, the rest a query or a path.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reprise;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t line = std::min(input.find('\n'), input.size());
  const std::string cursor(input.substr(0, line));
  const std::string rest(input.substr(std::min(line + 1, input.size())));
  const api::testing::HeaderList sse = {{"Accept", "text/event-stream"}};
  api::ask(rest, {});
  api::ask("/v1/sessions?" + rest, {});
  api::ask("/v1/sessions?" + rest, sse);
  api::ask("/v1/sessions?cursor=" + wire::percent_encode(cursor), {});
  api::ask("/v1/sessions?after=" + wire::percent_encode(cursor), sse);
  api::ask("/v1/sessions", {sse.front(), {"Last-Event-ID", cursor}});
  api::ask("/v1/sessions/fuzz:s0/events?" + rest, {});
  api::ask("/v1/sessions/fuzz:s0/events/stream?" + rest, {{"Last-Event-ID", cursor}});
  api::ask("/v1/sessions/" + rest, {});
  return 0;
}
