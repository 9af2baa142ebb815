// The streams a subscription is linked to: how far each is acknowledged, and where it ends. Pure.
//
// Which of them have something new is known without looking at all of them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/ids.h"

namespace reprise::stream {

struct SubscriptionLink {
  bool is_explicit = false;
  bool is_by_pattern = false;
  std::optional<Seq> acked;  // none: nothing yet, not even where it began
  // Whose appends were acknowledged: another stream of the same name begins anew. None: there was
  // no such stream.
  std::optional<StreamId> stream;
  friend bool operator==(const SubscriptionLink&, const SubscriptionLink&) = default;
};

std::string encode_link(const SubscriptionLink& link);
Result<SubscriptionLink> decode_link(std::string_view bytes);

std::string link_prefix(std::string_view subscription);
std::string link_key(std::string_view subscription, std::string_view path);

// What becomes of some links; none: the link is taken away.
using LinkChanges = std::map<std::string, std::optional<SubscriptionLink>>;

struct Ack {
  std::string stream;
  Seq offset;
};

class LinkTable {
 public:
  struct Row {
    SubscriptionLink link;
    std::optional<Seq> tail;  // none: there is no such stream
    bool has_pending() const { return tail && *tail > link.acked.value_or(Seq{0}); }
  };

  const std::map<std::string, Row>& rows() const { return rows_; }
  const Row* find(const std::string& path) const;
  bool has_pending() const { return !pending_.empty(); }
  const std::set<std::string>& pending() const { return pending_; }

  void apply(const LinkChanges& changes);
  // Nothing happens where there is no such link. Tails go forward, until they are forgotten.
  void advance_tail(const std::string& path, Seq tail);
  void forget_tail(const std::string& path);

  // At most so many streams that have something new, with their tails.
  std::map<std::string, Seq> snapshot(std::size_t most) const;
  // kBadParameter for an acknowledgement that goes back, beyond the tail, or to a stream that is
  // not linked; none counts then.
  Result<LinkChanges> acknowledge(const std::vector<Ack>& acks) const;
  // Everything up to the tails of a snapshot, as far as it is still linked.
  LinkChanges acknowledge_all(const std::map<std::string, Seq>& snapshot) const;

 private:
  void file(const std::string& path, const Row& row);

  std::map<std::string, Row> rows_;
  std::set<std::string> pending_;
};

}  // namespace reprise::stream
