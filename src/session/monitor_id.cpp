#include "session/monitor_id.h"

#include "base/bytes.h"

namespace reprise::session {
namespace {
constexpr std::uint8_t kVersion = 1;
}

std::string encode_monitor_id(const MonitorId& id) {
  std::string bytes(1, static_cast<char>(kVersion));
  for (const Seq head : id.heads) put_varint(bytes, head.value);
  return to_base64url(bytes);
}

Result<MonitorId> decode_monitor_id(std::string_view text) {
  const auto bytes = from_base64url(text);
  const auto bad = [] {
    return fail(Code::kBadCursor, "the monitor id is not one that a list or monitor gave");
  };
  if (!bytes) return bad();
  ByteReader reader(*bytes);
  std::uint8_t version = 0;
  if (!reader.byte(version) || version != kVersion) return bad();
  MonitorId id;
  for (Seq& head : id.heads)
    if (!reader.varint(head.value)) return bad();
  if (!reader.at_end()) return bad();
  return id;
}

}  // namespace reprise::session
