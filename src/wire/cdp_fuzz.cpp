// Any bytes as a DevTools message: what a full parse of the JSON says its members are is what the
// scan says, in a stranger's message as in one of the browser's, however long. And any bytes
// through a pipe: the same messages however they are cut.
#include "base/assert.h"
#include "base/json_text.h"
#include "wire/cdp.h"
#include "wire/cdp_pipe.h"
#include "wire/json.h"
#include "wire/limits.h"

namespace {

using namespace reprise;
using namespace reprise::wire;

std::string_view raw_of(const JsonValue& object, std::string_view name) {
  const auto value = object.find(name);
  return value ? value->raw() : std::string_view();
}

std::string string_of(const JsonValue& object, std::string_view name) {
  const auto value = object.find(name);
  return value ? value->as_string().value_or("") : "";
}

// A text that is JSON is seen as what it is.
void check_against_a_parse(std::string_view text) {
  const CdpHead head = scan_cdp(text);
  if (head.is_ok() && !head.method.empty())
    REPRISE_ASSERT(head.method.find_first_of("\"\\") == std::string_view::npos, head.method);
  const auto document = parse_json(std::string(text));
  if (!document) return;
  const JsonValue root = document->root();
  if (root.type() != JsonType::kObject) {
    REPRISE_ASSERT(head.fault == CdpFault::kNotObject, text);
    return;
  }
  REPRISE_ASSERT(head.fault != CdpFault::kNotJson && head.fault != CdpFault::kNotObject, text);
  REPRISE_ASSERT(head.fault != CdpFault::kDuplicate, text);
  if (!head.is_ok()) return;
  REPRISE_ASSERT(head.params == raw_of(root, "params"), text);
  REPRISE_ASSERT(head.result == raw_of(root, "result"), text);
  REPRISE_ASSERT(head.error == raw_of(root, "error"), text);
  REPRISE_ASSERT(head.method == string_of(root, "method"), text);
  if (!head.has_escaped_session)
    REPRISE_ASSERT(head.session_id == string_of(root, "sessionId"), text);
  const auto id = root.find("id");
  REPRISE_ASSERT(head.id.has_value() == id.has_value(), text);
  if (id) REPRISE_ASSERT(id->as_int() == *head.id, text);
}

// The browser's layout around any JSON object: the short way and the long way see the same.
void check_the_browsers(std::string_view text) {
  const auto document = parse_json(std::string(text));
  if (!document || document->root().type() != JsonType::kObject) return;
  const std::string filler = std::string(kLongCdpBytes, ' ');
  const std::string value(document->root().raw());
  const std::string id = "0123456789ABCDEF0123456789ABCDEF";
  for (const std::string_view start :
       {R"({"id":1073741824,"result":)", R"({"method":"Page.frameAttached","params":)"}) {
    for (const std::string_view end : {R"(,"sessionId":")", ""}) {
      std::string message(start);
      message += "{\"filler\":\"" + filler + "\",\"value\":" + value + "}";
      message += end.empty() ? "}" : std::string(end) + id + "\"}";
      const CdpHead whole = scan_cdp(message);
      const CdpHead ends = scan_browser_cdp(message);
      REPRISE_ASSERT(whole.is_ok() && ends.is_ok(), message);
      REPRISE_ASSERT(whole.id == ends.id && whole.id_text == ends.id_text, message);
      REPRISE_ASSERT(whole.method == ends.method, message);
      REPRISE_ASSERT(whole.params == ends.params && whole.result == ends.result, message);
      REPRISE_ASSERT(whole.session_id == ends.session_id, message);
    }
  }
}

// Members and elements one by one, as a parse sees them.
void check_the_inside(std::string_view text) {
  const auto document = parse_json(std::string(text));
  if (!document) {
    // Not what the browser writes, but nothing to fall over.
    cdp_member(text, "id");
    cdp_elements(text);
    return;
  }
  const std::string_view raw = document->root().raw();
  for (const JsonMember& member : document->root().members()) {
    // The browser escapes no letter of a name; a name that was written otherwise is not found.
    const std::string_view seen = cdp_member(raw, member.name);
    const bool may_be_escaped = seen.empty() && raw.find('\\') != std::string_view::npos;
    REPRISE_ASSERT(seen == member.value.raw() || may_be_escaped, raw);
    if (const auto plain = cdp_plain_string(member.value.raw()))
      REPRISE_ASSERT(member.value.as_string() == *plain, raw);
  }
  const auto elements = document->root().elements();
  if (document->root().type() != JsonType::kArray) return;
  const auto seen = cdp_elements(raw);
  REPRISE_ASSERT(seen.size() == elements.size(), raw);
  for (std::size_t i = 0; i < seen.size(); ++i) REPRISE_ASSERT(seen[i] == elements[i].raw(), raw);
}

std::string through_a_pipe(std::string_view bytes, std::size_t piece) {
  CdpPipeDecoder decoder(200);
  std::string seen;
  for (std::size_t at = 0; at < bytes.size(); at += piece)
    for (const std::string& message : decoder.feed(bytes.substr(at, piece)))
      seen += json_string(message) + "\n";
  REPRISE_ASSERT(decoder.buffered_bytes() <= 200, decoder.buffered_bytes());
  return seen + (decoder.has_overflowed() ? "overflow" : "");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_against_a_parse(text);
  check_the_browsers(text);
  check_the_inside(text);
  REPRISE_ASSERT(through_a_pipe(text, 1) == through_a_pipe(text, size + 1));
  return 0;
}
