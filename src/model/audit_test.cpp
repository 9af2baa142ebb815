// The chain over tool calls, and what is done to stored entries behind its back.
#include "model/audit.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "model/testing.h"

namespace reprise::model {
namespace {

struct StoredEntry {
  Seq seq;
  std::string bytes;
};

// A session's stream as it is stored: tool calls among other events.
struct History {
  SessionState state;
  std::vector<StoredEntry> entries;
  std::uint8_t next_id = 1;

  History() { add(*decide(nullptr, create_command(), kStart)); }
  void add(const std::vector<Event>& events) {
    for (const Event& event : events) {
      evolve(state, event);
      const std::string extra =
          is_audited_type(event.type) ? audit_extra(state.audit.head) : std::string();
      entries.push_back(
          {state.head, encode_entry(event, {.message_count = state.message_count}, extra)});
    }
  }
  void run(const Command& command) { add(*decide(&state, command, kStart + Millis{next_id})); }
  void call(std::string_view input, ToolCallStatus status = ToolCallStatus::kSuccess) {
    ToolCallId id;
    id.bytes.back() = next_id++;
    run(StartToolCall{.id = id,
                      .tool_name = "browser.click",
                      .input_summary = Redactor().text(input),
                      .by = "agent"});
    run(Append{.events = {client_event("message")}});
    run(FinishToolCall{.id = id,
                       .status = status,
                       .output_summary = Redactor().text("ok"),
                       .error = {},
                       .by = {}});
  }
  AuditReport verify() const {
    AuditVerifier verifier;
    for (const StoredEntry& entry : entries) verifier.stored(entry.seq, entry.bytes);
    return verifier.finish(state.audit, state.head);
  }
};

History sample() {
  History history;
  history.call("first");
  history.run(Append{.events = {client_event("log"), client_event("message")}});
  history.call("second", ToolCallStatus::kFailure);
  history.run(Reset{});
  history.call("third");
  return history;
}

bool is_audited(const StoredEntry& entry) {
  return is_audited_type(decode_entry(entry.bytes)->type);
}

TEST(Audit, AnUntouchedHistoryIsValidAndCountsItsEntries) {
  const History history = sample();
  EXPECT_TRUE(history.verify().is_valid) << history.verify().reason;
  EXPECT_EQ(history.state.audit.entries, 6U);
  EXPECT_TRUE(History().verify().is_valid);
}

TEST(Audit, TheHashIsTheDocumentedOne) {
  const EntryView entry{
      .type = "tool_started", .at = {300}, .data = "{}", .by = "me", .counters = {}, .extra = {}};
  const std::string bytes = std::string(32, '\0') +
                            *from_hex(
                                "0000000000000007"
                                "000000000000012c"
                                "0000000c") +
                            "tool_started" + *from_hex("00000002") + "me" + *from_hex("00000002") +
                            "{}";
  EXPECT_EQ(to_hex(audit_hash({}, Seq{7}, entry)), reprise::to_hex(sha256(bytes)));
}

TEST(Audit, TheSessionsIdIsNoPartOfIt) {
  const History history = sample();
  // The same calls in a session of another id.
  AuditVerifier verifier;
  Create other = create_command();
  other.id = *SessionId::parse("019a8b3c-9999-7222-8333-444455556666");
  verifier.stored(Seq{1}, encode_entry((*decide(nullptr, other, kStart))[0], {}));
  for (std::size_t i = 1; i < history.entries.size(); ++i)
    verifier.stored(history.entries[i].seq, history.entries[i].bytes);
  EXPECT_TRUE(verifier.finish(history.state.audit, history.state.head).is_valid);
}

TEST(Audit, EveryFlippedBitOfAnAuditedEntryIsFound) {
  const History untouched = sample();
  for (std::size_t i = 0; i < untouched.entries.size(); ++i) {
    if (!is_audited(untouched.entries[i])) continue;
    for (std::size_t byte = 0; byte < untouched.entries[i].bytes.size(); ++byte) {
      for (unsigned bit = 0; bit < 8; ++bit) {
        History history = untouched;
        char& flipped = history.entries[i].bytes[byte];
        flipped = static_cast<char>(static_cast<unsigned char>(flipped) ^ (1U << bit));
        const AuditReport report = history.verify();
        ASSERT_FALSE(report.is_valid) << "entry " << i << " byte " << byte << " bit " << bit;
        // A flip that makes another type of it may show at the next audited entry, or in the count.
        if (report.first_bad) ASSERT_GE(*report.first_bad, untouched.entries[i].seq);
      }
    }
  }
}

TEST(Audit, EveryDroppedEntryIsFound) {
  const History untouched = sample();
  for (std::size_t i = 0; i < untouched.entries.size(); ++i) {
    History history = untouched;
    history.entries.erase(history.entries.begin() + static_cast<std::ptrdiff_t>(i));
    const AuditReport report = history.verify();
    EXPECT_FALSE(report.is_valid);
    EXPECT_EQ(report.first_bad, untouched.entries[i].seq);
  }
}

// The later entries move up, as if the dropped one had never been.
TEST(Audit, ADroppedEntryWhoseGapWasClosedIsFound) {
  const History untouched = sample();
  for (std::size_t i = 0; i < untouched.entries.size(); ++i) {
    if (!is_audited(untouched.entries[i])) continue;
    History history = untouched;
    history.entries.erase(history.entries.begin() + static_cast<std::ptrdiff_t>(i));
    for (std::size_t j = i; j < history.entries.size(); ++j) --history.entries[j].seq.value;
    EXPECT_FALSE(history.verify().is_valid) << i;
  }
}

TEST(Audit, EveryPairOfSwappedEntriesIsFound) {
  const History untouched = sample();
  for (std::size_t i = 0; i < untouched.entries.size(); ++i) {
    for (std::size_t j = i + 1; j < untouched.entries.size(); ++j) {
      if (!is_audited(untouched.entries[i]) && !is_audited(untouched.entries[j])) continue;
      History history = untouched;
      std::swap(history.entries[i].bytes, history.entries[j].bytes);
      EXPECT_FALSE(history.verify().is_valid) << i << " and " << j;
    }
  }
}

TEST(Audit, EveryCutOffEndIsFound) {
  const History untouched = sample();
  for (std::size_t size = 0; size < untouched.entries.size(); ++size) {
    History history = untouched;
    history.entries.resize(size);
    const AuditReport report = history.verify();
    EXPECT_FALSE(report.is_valid) << size;
    EXPECT_EQ(report.first_bad, Seq{size + 1});
  }
}

// Whoever also writes down a smaller head still meets the number and the hash of the record.
TEST(Audit, ACutOffEndIsFoundByTheRecordsCount) {
  History history = sample();
  history.entries.resize(4);
  AuditVerifier verifier;
  for (const StoredEntry& entry : history.entries) verifier.stored(entry.seq, entry.bytes);
  EXPECT_FALSE(verifier.finish(history.state.audit, Seq{4}).is_valid);
  EXPECT_FALSE(verifier.finish(history.state.audit).is_valid);
}

TEST(Audit, AnAddedEntryIsFound) {
  History history = sample();
  const AuditChain recorded = history.state.audit;
  history.call("added later");
  history.state.audit = recorded;
  EXPECT_FALSE(history.verify().is_valid);
}

TEST(Audit, AnEntryWhoseOwnHashWasMadeAnewIsFoundByTheNext) {
  History history = sample();
  StoredEntry& second = history.entries[1];
  const EntryView was = *decode_entry(second.bytes);
  Event changed{.type = std::string(was.type),
                .at = was.at,
                .data = std::string(was.data),
                .by = "somebody else"};
  EntryView now = was;
  now.by = changed.by;
  second.bytes = encode_entry(changed, was.counters, audit_extra(audit_hash({}, second.seq, now)));
  const AuditReport report = history.verify();
  EXPECT_FALSE(report.is_valid);
  EXPECT_GT(report.first_bad, second.seq);
}

TEST(Audit, AHashIsReadBackFromItsTextAndFromAnEntry) {
  const AuditHash hash = sample().state.audit.head;
  EXPECT_EQ(parse_audit_hash(to_hex(hash)), hash);
  EXPECT_EQ(hash_in_extra(audit_extra(hash)), hash);
  EXPECT_EQ(parse_audit_hash("00"), std::nullopt);
  EXPECT_EQ(hash_in_extra(""), std::nullopt);
  EXPECT_EQ(hash_in_extra(audit_extra(hash) + "x"), std::nullopt);
}

}  // namespace
}  // namespace reprise::model
