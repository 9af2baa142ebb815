#include "stream/log/append_entry.h"

#include <fmt/format.h>

#include "base/bytes.h"

namespace reprise::stream {
namespace {

std::unexpected<Error> damaged() { return fail(Code::kCorrupt, "a stored append does not decode"); }

}  // namespace

std::string encode_messages(const std::vector<std::string_view>& messages) {
  std::string entry;
  put_varint(entry, messages.size());
  for (const std::string_view message : messages) put_varint(entry, message.size());
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (i > 0) entry += ',';
    entry += messages[i];
  }
  return entry;
}

std::string encode_bytes(std::string_view bytes) {
  std::string entry;
  entry.reserve(bytes.size() + 1);
  put_varint(entry, 0);
  entry += bytes;
  return entry;
}

Result<AppendView> decode_append(std::string_view entry) {
  ByteReader reader(entry);
  std::uint64_t count = 0;
  if (!reader.varint(count) || count > entry.size()) return damaged();
  AppendView view;
  view.lengths.reserve(count);
  std::uint64_t total = count > 0 ? count - 1 : 0;  // the commas
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t length = 0;
    if (!reader.varint(length) || length > entry.size()) return damaged();
    view.lengths.push_back(length);
    total += length;
  }
  view.content = reader.rest();
  if (count > 0 && view.content.size() != total) return damaged();
  return view;
}

Result<std::string_view> append_content(std::string_view entry) {
  ByteReader reader(entry);
  std::uint64_t count = 0;
  if (!reader.varint(count) || count > entry.size()) return damaged();
  for (std::uint64_t length = 0; count > 0; --count)
    if (!reader.varint(length)) return damaged();
  return reader.rest();
}

Result<std::string> first_part(std::string_view entry, std::uint64_t count) {
  REPRISE_TRY(const AppendView view, decode_append(entry));
  const std::uint64_t has = view.lengths.empty() ? view.content.size() : view.lengths.size();
  if (count > has)
    return fail(Code::kBadParameter,
                fmt::format("the sub-offset is {}, but the append there has {}", count, has));
  if (view.lengths.empty()) return encode_bytes(view.content.substr(0, count));
  std::vector<std::string_view> messages;
  std::string_view rest = view.content;
  for (std::uint64_t i = 0; i < count; ++i) {
    messages.push_back(rest.substr(0, view.lengths[i]));
    rest.remove_prefix(std::min(rest.size(), view.lengths[i] + 1));
  }
  return encode_messages(messages);
}

}  // namespace reprise::stream
