// Arbitrary bytes as the body of every call that takes one: no crash, every answer is JSON with a
// status that the call may give, and what was accepted is read back as JSON.
#include <cstddef>
#include <cstdint>

#include "api/testing.h"

namespace reprise::api {
namespace {

void check_json(const http::Reply& reply) {
  REPRISE_ASSERT(reply.status != 500, reply.body);
  REPRISE_ASSERT(reply.status == 204 || wire::parse_json(reply.body).has_value(), reply.body);
}

void send_everywhere(const std::string& body, const std::string& header) {
  using enum wire::Method;
  // Making a server costs more than asking it; a few hundred inputs share one.
  static std::unique_ptr<testing::Api> shared;
  static int inputs = 0;
  if (inputs++ % 256 == 0) shared = std::make_unique<testing::Api>();
  testing::Api& api = *shared;
  const auto made = api.post("/v1/sessions", R"({"app":"fuzz","status":"ACTIVE"})");
  REPRISE_ASSERT(made.status == 201, made.body);
  const std::string path = "/v1/sessions/" + testing::text_member(made.body, "id");
  check_json(api.post("/v1/sessions", body));
  check_json(api.call(kPut, "/v1/sessions/fuzz:two", body));
  check_json(api.call(kPatch, path, body, {{"If-Match", header}}));
  check_json(api.call(kPatch, path, body));
  check_json(api.post(path + "/events", body, {{"Idempotency-Key", header}}));
  const auto appended = api.post(path + "/events", body);
  check_json(appended);
  for (const char* move : {"status", "pause", "resume", "touch", "reset", "cancel", "close"}) {
    check_json(api.post(path + '/' + move, body));
    check_json(api.get(path));
  }
  const auto page = api.get(path + "/events?limit=1000");
  REPRISE_ASSERT(page.status == 200, page.body);
  check_json(page);
  check_json(api.get("/v1/sessions?limit=3"));
  check_json(api.call(kDelete, path));
  check_json(api.call(kDelete, "/v1/sessions/fuzz:two"));
}

}  // namespace
}  // namespace reprise::api

// The first line is a header's value, the rest the body.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t line = input.find('\n');
  if (line == std::string_view::npos) return 0;
  reprise::api::send_everywhere(std::string(input.substr(line + 1)),
                                std::string(input.substr(0, line)));
  return 0;
}
