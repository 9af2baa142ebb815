#include "api/moves.h"

#include <fmt/format.h>

#include "model/decide.h"
#include "model/limits.h"

namespace reprise::api {
namespace {

using session::Action;

std::string reason_of(Body& body) {
  return body.text("reason", model::kMaxReasonBytes).value_or("");
}

constexpr std::string_view kInputIsAsked =
    "'input' is for questions: ask one with POST .../interactions";

// A reason that is one of the pause reasons' words is that reason. `input` belongs to interactions:
// only their answer takes it away again.
Result<std::optional<model::PauseReason>> pause_reason(const std::string& reason) {
  const auto parsed = model::parse_pause_reason(reason);
  if (parsed == model::PauseReason::kInput) return invalid("/reason", std::string(kInputIsAsked));
  return parsed;
}

Result<Action> decode_status(Body& body) {
  const auto word = body.text("status", model::kMaxIdentifierBytes);
  if (!word) body.wrong("status", "status is needed");
  const auto to = word ? model::parse_status(*word) : std::nullopt;
  if (word && !to) body.wrong("status", fmt::format("'{}' is not a status", *word));
  model::Move move{.to = to.value_or(model::Status::kActive)};
  move.reason = reason_of(body);
  move.error = body.text("error", model::kMaxReasonBytes).value_or("");
  if (const auto expected = body.text("expectedStatus", model::kMaxIdentifierBytes)) {
    move.expected_status = model::parse_status(*expected);
    if (!move.expected_status)
      body.wrong("expectedStatus", fmt::format("'{}' is not a status", *expected));
  }
  REPRISE_CHECK(body.done());
  if (move.to == model::Status::kPaused) {
    REPRISE_TRY(move.pause_reason, pause_reason(move.reason));
    // The connection vocabulary has no other word for a pause: it says why.
    if (!move.pause_reason && *word == "RATE_LIMITED")
      move.pause_reason = model::PauseReason::kRateLimit;
  }
  return Action(model::Command(std::move(move)));
}

Result<Action> decode_pause(Body& body) {
  model::Pause pause;
  pause.reason = reason_of(body);
  const auto word = body.text("pauseReason", model::kMaxIdentifierBytes);
  const auto named = word ? model::parse_pause_reason(*word) : std::nullopt;
  if (word && !named)
    body.wrong("pauseReason", fmt::format("'{}' is not a reason to pause", *word));
  if (named == model::PauseReason::kInput) body.wrong("pauseReason", std::string(kInputIsAsked));
  REPRISE_CHECK(body.done());
  REPRISE_TRY(const auto reason, pause_reason(word ? "" : pause.reason));
  pause.pause_reason = named.value_or(reason.value_or(pause.pause_reason));
  return Action(model::Command(std::move(pause)));
}

Result<Action> decode_resume(Body& body) {
  model::Resume resume{.reason = reason_of(body)};
  REPRISE_CHECK(body.done());
  return Action(model::Command(std::move(resume)));
}

Result<Action> decode_cancel(Body& body) {
  model::Cancel cancel{.reason = reason_of(body),
                       .error = body.text("error", model::kMaxReasonBytes).value_or("")};
  REPRISE_CHECK(body.done());
  return Action(model::Command(std::move(cancel)));
}

Result<Action> decode_close(Body& body) {
  model::Close close{.reason = reason_of(body)};
  REPRISE_CHECK(body.done());
  return Action(model::Command(std::move(close)));
}

Result<Action> decode_touch(Body& body) {
  REPRISE_CHECK(body.done());
  return Action(session::Touch{.is_explicit = true});
}

}  // namespace

const std::vector<NamedMove>& named_moves() {
  static const std::vector<NamedMove> moves = {
      {"status", decode_status}, {"pause", decode_pause}, {"resume", decode_resume},
      {"cancel", decode_cancel}, {"close", decode_close}, {"touch", decode_touch},
  };
  return moves;
}

}  // namespace reprise::api
