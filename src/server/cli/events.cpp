// reprise events append
#include <unistd.h>

#include "base/ids.h"
#include "base/json_text.h"
#include "server/cli/call.h"
#include "server/cli/line_reader.h"

namespace reprise::server::cli {
namespace {

using rt::Task;

constexpr std::size_t kMaxDataBytes = 8 * 1024 * 1024;  // the server's limit for one call

// A call without a key of its own gets one, so that it may be sent again after a lost connection
// and is still stored once.
std::string fresh_key() {
  SystemRandom random;
  return "cli-" + format_uuid(make_uuid_v7(SystemClock{}.now(), random));
}

std::string event_json(const std::string& type, const std::string& data) {
  return fmt::format("{{\"type\":{},\"data\":{}}}", json_string(type), data);
}

// `event` members first, then what holds for the whole call.
ClientRequest append_request(const EventsToAppend& events, const std::string& content,
                             std::optional<std::uint64_t> expected_seq, const std::string& key) {
  std::string body = "{" + content;
  if (expected_seq) body += fmt::format(",\"expectedSeq\":{}", *expected_seq);
  if (events.is_ephemeral) body += ",\"ephemeral\":true";
  body += "}";
  ClientRequest request{.method = "POST",
                        .target = session_target(events.session, "/events"),
                        .body = std::move(body)};
  if (events.is_ephemeral)
    request.is_repeatable = false;
  else
    request.headers.emplace_back("Idempotency-Key", key);
  return request;
}

std::string appended_text(wire::JsonValue answer, std::size_t count) {
  const std::string first = member_text(answer, "firstSeq");
  const std::string last = member_text(answer, "lastSeq");
  if (first.empty()) return fmt::format("sent {} ephemeral", count);
  if (first == last) return fmt::format("appended {}", first);
  return fmt::format("appended {} to {}", first, last);
}

// The answer's lastSeq, if it has one.
Task<Outcome<std::optional<std::uint64_t>>> append_and_print(Client& client, ClientRequest request,
                                                             std::size_t count, bool is_json) {
  REPRISE_CO_TRY(const auto response, co_await call(client, std::move(request)));
  // An ephemeral call's 202 may have no body.
  if (response.body.empty()) {
    REPRISE_CO_CHECK(print(is_json ? "{}\n" : fmt::format("sent {} ephemeral\n", count)));
    co_return std::optional<std::uint64_t>{};
  }
  REPRISE_CO_TRY(const auto document, body_of(response));
  const wire::JsonValue root = document.root();
  REPRISE_CO_CHECK(print((is_json ? root.minified() : appended_text(root, count)) + "\n"));
  const auto last = root.find("lastSeq");
  co_return last ? last->as_uint() : std::nullopt;
}

Task<Outcome<>> append_one(Client& client, EventsToAppend events, bool is_json) {
  std::string data = events.data;
  if (data == "-") {
    auto input = read_to_end(STDIN_FILENO, kMaxDataBytes);
    if (!input) co_return failed(input.error());
    data = std::move(*input);
  }
  const auto document = wire::parse_json(std::move(data));
  if (!document) co_return usage(fmt::format("--data: {}", document.error().detail));
  const std::string content =
      fmt::format("\"type\":{},\"data\":{}", json_string(events.type), document->root().minified());
  const std::string key = events.idempotency_key ? *events.idempotency_key : fresh_key();
  auto request = append_request(events, content, events.expected_seq, key);
  REPRISE_CO_CHECK(co_await append_and_print(client, std::move(request), 1, is_json));
  co_return Outcome<>{};
}

// The events of a batch, separated by commas.
Outcome<std::string> batch_content(const EventsToAppend& events,
                                   const std::vector<std::string>& lines,
                                   std::size_t last_line_number) {
  std::string content = "\"events\":[";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto document = wire::parse_json(lines[i]);
    if (!document)
      return usage(fmt::format("near line {} of the input: {}",
                               last_line_number - lines.size() + 1 + i, document.error().detail));
    if (i > 0) content += ",";
    content += event_json(events.type, document->root().minified());
  }
  return content + "]";
}

Task<Outcome<>> append_lines(Client& client, EventsToAppend events, bool is_json) {
  LineReader reader(STDIN_FILENO);
  const std::string key = events.idempotency_key ? *events.idempotency_key : fresh_key();
  auto expected_seq = events.expected_seq;
  for (std::size_t batch = 0; !reader.is_at_end(); ++batch) {
    const auto lines = reader.next({});
    if (!lines) co_return failed(lines.error());
    if (lines->empty()) break;
    REPRISE_CO_TRY(const auto content, batch_content(events, *lines, reader.line_number()));
    auto request = append_request(events, content, expected_seq, fmt::format("{}-{}", key, batch));
    REPRISE_CO_TRY(const auto last_seq,
                   co_await append_and_print(client, std::move(request), lines->size(), is_json));
    // What the first batch expected, the next ones expect of the batch before them.
    if (expected_seq) expected_seq = last_seq;
  }
  co_return Outcome<>{};
}

}  // namespace

int append_events(const ClientOptions& options, const EventsToAppend& events) {
  return with_client(options, [&](Client& client) {
    return events.is_lines ? append_lines(client, events, options.is_json)
                           : append_one(client, events, options.is_json);
  });
}

}  // namespace reprise::server::cli
