// Any JSON: a message or a refusal; an id that was taken goes back as it came, and an answer made
// with it is read as the answer to it.
#include "base/assert.h"
#include "wire/json_rpc.h"
#include "wire/limits.h"

namespace {

using namespace reprise;
using namespace reprise::wire;

void expect_answer(const std::string& text, const std::string& id) {
  const auto document = parse_json(text);
  REPRISE_ASSERT(document.has_value(), text);
  const auto answer = parse_json_rpc(*document);
  REPRISE_ASSERT(answer.has_value() && answer->kind == RpcKind::kResponse, text);
  REPRISE_ASSERT(answer->id == id, answer->id, id);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto document = parse_json(text);
  if (!document) return 0;
  auto message = parse_json_rpc(*document);
  std::string answer;
  if (!message) {
    append_json_rpc_error(answer, message.error());
    expect_answer(answer, message.error().id);
    return 0;
  }
  REPRISE_ASSERT(message->id.size() <= kMaxRpcIdBytes);
  REPRISE_ASSERT((message->kind == RpcKind::kResponse) == message->method.empty());
  REPRISE_ASSERT((message->kind == RpcKind::kRequest) <= !message->id.empty());
  if (message->params) REPRISE_ASSERT(message->params->type() == JsonType::kObject);
  if (message->id.empty()) return 0;
  append_json_rpc_result(answer, message->id, document->root().minified());
  expect_answer(answer, message->id);
  answer.clear();
  append_json_rpc_error(answer, {.message = message->method, .data = "{}", .id = message->id});
  expect_answer(answer, message->id);
  return 0;
}
