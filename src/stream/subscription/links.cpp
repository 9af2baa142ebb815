#include "stream/subscription/links.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"

namespace reprise::stream {

std::string encode_link(const SubscriptionLink& link) {
  std::string out;
  put_varint(out, (link.is_explicit ? 1U : 0U) | (link.is_by_pattern ? 2U : 0U));
  put_varint(out, link.acked ? link.acked->value + 1 : 0);
  put_text(out, link.stream ? link.stream->view() : std::string_view());
  return out;
}

Result<SubscriptionLink> decode_link(std::string_view bytes) {
  ByteReader reader(bytes);
  std::uint64_t kinds = 0;
  std::uint64_t acked = 0;
  std::string stream;
  if (!reader.varint(kinds) || kinds > 3 || !reader.varint(acked) || !reader.text(stream) ||
      !reader.at_end() || (!stream.empty() && !StreamId::from_bytes(stream)))
    return fail(Code::kCorrupt, "a subscription's link does not decode");
  SubscriptionLink link{.is_explicit = (kinds & 1) != 0, .is_by_pattern = (kinds & 2) != 0};
  link.stream = StreamId::from_bytes(stream);
  if (acked > 0) link.acked = Seq{acked - 1};
  return link;
}

std::string link_prefix(std::string_view subscription) {
  return "T" + std::string(subscription) + '\0';
}

std::string link_key(std::string_view subscription, std::string_view path) {
  return link_prefix(subscription).append(path);
}

const LinkTable::Row* LinkTable::find(const std::string& path) const {
  const auto row = rows_.find(path);
  return row == rows_.end() ? nullptr : &row->second;
}

void LinkTable::file(const std::string& path, const Row& row) {
  if (row.has_pending())
    pending_.insert(path);
  else
    pending_.erase(path);
}

void LinkTable::apply(const LinkChanges& changes) {
  for (const auto& [path, link] : changes) {
    if (!link) {
      rows_.erase(path);
      pending_.erase(path);
      continue;
    }
    Row& row = rows_[path];
    row.link = *link;
    file(path, row);
  }
}

void LinkTable::advance_tail(const std::string& path, Seq tail) {
  const auto row = rows_.find(path);
  if (row == rows_.end()) return;
  row->second.tail = std::max(row->second.tail.value_or(Seq{0}), tail);
  file(path, row->second);
}

void LinkTable::forget_tail(const std::string& path) {
  const auto row = rows_.find(path);
  if (row == rows_.end()) return;
  row->second.tail.reset();
  file(path, row->second);
}

std::map<std::string, Seq> LinkTable::snapshot(std::size_t most) const {
  std::map<std::string, Seq> tails;
  for (const std::string& path : pending_) {
    if (tails.size() == most) break;
    tails.emplace(path, *rows_.at(path).tail);
  }
  return tails;
}

Result<LinkChanges> LinkTable::acknowledge(const std::vector<Ack>& acks) const {
  LinkChanges changes;
  for (const Ack& ack : acks) {
    const Row* row = find(ack.stream);
    if (row == nullptr || !row->tail)
      return fail(Code::kBadParameter,
                  fmt::format("'{}' is not a stream of this subscription", ack.stream));
    auto& link = changes.try_emplace(ack.stream, row->link).first->second;
    if (ack.offset > *row->tail || ack.offset < link->acked.value_or(Seq{0}))
      return fail(Code::kBadParameter,
                  fmt::format("the offset for '{}' goes back, or beyond its tail", ack.stream));
    link->acked = ack.offset;
  }
  return changes;
}

LinkChanges LinkTable::acknowledge_all(const std::map<std::string, Seq>& snapshot) const {
  LinkChanges changes;
  for (const auto& [path, tail] : snapshot) {
    const Row* row = find(path);
    // What was told of may be gone by now, and another may be there.
    if (row == nullptr || !row->tail || tail > *row->tail) continue;
    SubscriptionLink link = row->link;
    link.acked = std::max(link.acked.value_or(Seq{0}), tail);
    if (link != row->link) changes.emplace(path, link);
  }
  return changes;
}

}  // namespace reprise::stream
