#include "browser/page_journal.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "browser/limits.h"

namespace reprise::browser {
namespace {

// Which of the kept ones, the newest of which is number `ever`, are those after `from` up to `to`.
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::uint64_t lost = 0;
};
Range range_of(std::uint64_t from, std::uint64_t to, std::uint64_t ever, std::size_t kept) {
  const std::uint64_t gone = ever - kept;
  to = std::min(to, ever);
  if (from >= to) return {};
  return {.begin = static_cast<std::size_t>(std::max(from, gone) - gone),
          .end = static_cast<std::size_t>(std::max(to, gone) - gone),
          .lost = std::min(to, std::max(from, gone)) - from};
}

}  // namespace

void PageJournal::said(ConsoleMessage message) {
  if (console_.size() >= kMaxJournalMessages) console_.pop_front();
  console_.push_back(std::move(message));
  ++messages_;
}

void PageJournal::asked(std::string id, JournalRequest request, double at) {
  if (requests_.size() >= kMaxJournalRequests) requests_.pop_front();
  requests_.push_back({.id = std::move(id), .request = std::move(request), .began = at});
  ++begun_;
}

void PageJournal::answered(std::string_view id, int status, std::string type) {
  Asked* const found = find(id);
  if (found == nullptr) return;
  found->request.status = status;
  found->request.type = std::move(type);
}

void PageJournal::over(std::string_view id, std::string error, double at) {
  Asked* const found = find(id);
  if (found == nullptr) return;
  found->request.error = std::move(error);
  const double took = std::max(0.0, at - found->began);
  found->request.duration = Millis{std::llround(std::min(took, 1e9) * 1'000)};
}

JournalPart PageJournal::between(JournalMark from, JournalMark to) const {
  JournalPart part;
  const Range said = range_of(from.messages, to.messages, messages_, console_.size());
  part.lost_messages = said.lost;
  for (std::size_t i = said.begin; i < said.end; ++i) part.console.push_back(console_[i]);
  const Range asked = range_of(from.requests, to.requests, begun_, requests_.size());
  part.lost_requests = asked.lost;
  for (std::size_t i = asked.begin; i < asked.end; ++i)
    part.requests.push_back(requests_[i].request);
  return part;
}

// The newest of that id: a redirect is a request of its own with the id of the one before.
PageJournal::Asked* PageJournal::find(std::string_view id) {
  for (auto asked = requests_.rbegin(); asked != requests_.rend(); ++asked)
    if (asked->id == id) return &*asked;
  return nullptr;
}

}  // namespace reprise::browser
