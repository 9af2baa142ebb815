#include "browser/chromium/cdp_audit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "base/json_text.h"
#include "browser/chromium/cdp_limits.h"
#include "browser/chromium/json_access.h"
#include "browser/limits.h"

namespace reprise::browser::chromium {
namespace {

// Of a command's parameters only these are kept, and of those no more than an address may take.
constexpr auto kKept =
    std::to_array<std::string_view>({"url", "targetId", "browserContextId", "accept", "ignoreCache",
                                     "entryId", "type", "x", "y", "button", "clickCount", "files"});
// Texts that a person typed.
constexpr auto kTyped = std::to_array<std::string_view>({"text", "promptText"});

bool is_key_event(std::string_view method) {
  return method == "Input.dispatchKeyEvent" || method == "Input.insertText" ||
         method == "Input.imeSetComposition";
}

// What only prepares or ends what another event stands for.
bool is_dropped(std::string_view type) {
  return type == "mouseMoved" || type == "touchMove" || type == "touchEnd" || type == "touchCancel";
}

// Within so many pixels a press and its release are a click.
constexpr double kClickReach = 4;

// Keys that show in what they modify, by their bits.
constexpr auto kModifiers = std::to_array<std::pair<unsigned, std::string_view>>(
    {{2, "Control"}, {1, "Alt"}, {4, "Meta"}, {8, "Shift"}});
constexpr unsigned kChord = 1 | 2 | 4;

bool is_modifier(std::string_view key) {
  return std::ranges::find(kModifiers, key, &std::pair<unsigned, std::string_view>::second) !=
         kModifiers.end();
}

// As tools call it: "Control+a", "Shift+Tab".
std::string key_with_modifiers(const std::string& key, unsigned modifiers) {
  std::string name;
  for (const auto& [bit, word] : kModifiers)
    if ((modifiers & bit) != 0 && (bit != 8 || key.size() > 1)) name += fmt::format("{}+", word);
  return name + (key == " " ? "Space" : key);
}

std::string length_of(std::size_t characters) {
  return fmt::format(R"({{"redacted":true,"length":{}}})", characters);
}

std::string kept(wire::JsonValue value) {
  const auto text = value.as_string();
  if (text && text->size() > kMaxKeptUrlBytes)
    return json_string(std::string_view(*text).substr(0, kMaxKeptUrlBytes));
  std::string json = value.minified();
  return json.size() <= 8 * kMaxKeptUrlBytes ? json : "null";
}

std::string arguments_of(wire::JsonValue params, std::string_view target) {
  std::string json = "{";
  for (const wire::JsonMember& member : params.members()) {
    const auto text = member.value.as_string();
    // The frame that is sent elsewhere, where it is not the page's own.
    const bool is_inner = member.name == "frameId" && text && *text != target;
    const bool is_typed = text && std::ranges::find(kTyped, member.name) != kTyped.end();
    if (!is_typed && !is_inner && std::ranges::find(kKept, member.name) == kKept.end()) continue;
    if (json.size() > 1) json += ',';
    append_json_string(json, member.name);
    json += ':' + (is_typed ? length_of(text->size()) : kept(member.value));
  }
  return json + '}';
}

double decimal_of(wire::JsonValue params, std::string_view name) {
  const auto member = params.find(name);
  return member ? member->as_double().value_or(0) : 0;
}

}  // namespace

CdpAudit::CdpAudit(rt::Loop& loop, std::function<void(ProtocolCommand)> record)
    : loop_(loop), record_(std::move(record)), timer_(loop.timers()) {}

CdpAudit::Entry CdpAudit::entry_of(const AuditNote& note) const {
  Entry entry{.number = note.number};
  entry.command.name = note.method;
  entry.command.target = note.target_id;
  entry.command.began = loop_.now();
  entry.command.ended = entry.command.began;
  return entry;
}

void CdpAudit::note(const AuditNote& note) {
  auto parsed = wire::parse_json(note.params.empty() ? "{}" : std::string(note.params));
  if (!parsed) parsed = wire::parse_json("{}");
  const wire::JsonValue params = parsed->root();
  if (note.kind == AuditKind::kInput) {
    const std::string type = text_of(params, "type");
    // A setting is nothing that is done.
    if (is_dropped(type) || note.method.starts_with("Input.set")) return;
    if (is_key_event(note.method)) return note_keys(note, params);
    if (type == "mouseWheel") return note_wheel(note, params);
    if (!is_gesture(note, params, type)) return;
  }
  end_sum();
  Entry entry = entry_of(note);
  entry.command.arguments = arguments_of(params, note.target_id);
  // At the browser's level a command says which page it is about.
  if (entry.command.target.empty()) entry.command.target = text_of(params, "targetId");
  entry.is_over = note.kind == AuditKind::kInput;
  waiting_.push_back(std::move(entry));
}

bool CdpAudit::is_gesture(const AuditNote& note, wire::JsonValue params, std::string_view type) {
  const double x = decimal_of(params, "x");
  const double y = decimal_of(params, "y");
  if (type == "mousePressed") press_ = {.target = std::string(note.target_id), .x = x, .y = y};
  if (type != "mouseReleased") return true;
  return press_.target == note.target_id &&
         (std::abs(press_.x - x) > kClickReach || std::abs(press_.y - y) > kClickReach);
}

CdpAudit::Entry& CdpAudit::sum(const AuditNote& note, Sum kind) {
  const bool is_more = !waiting_.empty() && waiting_.back().sum == kind &&
                       !waiting_.back().is_over && waiting_.back().command.target == note.target_id;
  if (!is_more) {
    end_sum();
    Entry entry = entry_of(note);
    entry.sum = kind;
    waiting_.push_back(std::move(entry));
  }
  Entry& last = waiting_.back();
  last.number = note.number;
  last.command.ended = loop_.now();
  return last;
}

void CdpAudit::note_keys(const AuditNote& note, wire::JsonValue params) {
  Entry& keys = sum(note, Sum::kKeys);
  const std::string type = text_of(params, "type");
  const std::string text = text_of(params, "text");
  if (type == "keyUp") return;
  if (type != "char") ++keys.keys;
  // Named keys have longer names than the characters that others type.
  const std::string key = text_of(params, "key").substr(0, 32);
  const bool is_named = key.size() > 4 || key == "Tab" || key == "End" || key == "Home";
  if (is_named && keys.named.size() < kMaxNamedKeys) keys.named.push_back(key);
  const auto modifiers = static_cast<unsigned>(decimal_of(params, "modifiers"));
  const bool is_chord = (modifiers & kChord) != 0 && !key.empty();
  if (!is_named && !is_chord) {
    keys.characters += text.size();
    keys.run += text.size();
    // What is composed is sent again with every change.
    keys.is_cut = keys.is_cut || note.method == "Input.imeSetComposition";
    return;
  }
  if (is_modifier(key)) return;
  end_run(keys);
  if (keys.order.size() < 2 * kMaxNamedKeys)
    keys.order.push_back(json_string(key_with_modifiers(key, modifiers)));
  else
    keys.is_cut = true;
}

void CdpAudit::end_run(Entry& keys) {
  if (keys.run == 0) return;
  if (keys.order.size() < 2 * kMaxNamedKeys)
    keys.order.push_back(fmt::to_string(keys.run));
  else
    keys.is_cut = true;
  keys.run = 0;
}

void CdpAudit::note_wheel(const AuditNote& note, wire::JsonValue params) {
  Entry& turns = sum(note, Sum::kWheel);
  turns.x = decimal_of(params, "x");
  turns.y = decimal_of(params, "y");
  turns.wheel_x += decimal_of(params, "deltaX");
  turns.wheel_y += decimal_of(params, "deltaY");
}

void CdpAudit::end_sum() {
  if (waiting_.empty() || waiting_.back().sum == Sum::kNone || waiting_.back().is_over) return;
  Entry& last = waiting_.back();
  last.is_over = true;
  if (last.sum == Sum::kWheel) {
    last.command.arguments =
        fmt::format(R"({{"type":"mouseWheel","x":{},"y":{},"deltaX":{},"deltaY":{}}})", last.x,
                    last.y, last.wheel_x, last.wheel_y);
    return;
  }
  std::string named;
  for (const std::string& key : last.named) {
    if (!named.empty()) named += ',';
    append_json_string(named, key);
  }
  end_run(last);
  last.command.arguments = fmt::format(
      R"({{"keys":{},"text":{},"named":[{}],"order":{}}})", last.keys, length_of(last.characters),
      named, last.is_cut ? "null" : fmt::format("[{}]", fmt::join(last.order, ",")));
}

void CdpAudit::outcome(const AuditOutcome& outcome) {
  const auto found = std::ranges::find(waiting_, outcome.number, &Entry::number);
  if (found == waiting_.end()) return;
  if (!outcome.is_ok && found->sum != Sum::kNone) end_sum();
  found->is_over = true;
  // A page that it made.
  if (found->command.name == "Target.createTarget")
    if (const auto result = wire::parse_json(std::string(outcome.result)))
      if (std::string made = text_of(result->root(), "targetId"); !made.empty())
        found->command.target = std::move(made);
  found->command.is_ok = outcome.is_ok;
  found->command.error = outcome.error;
  found->command.ended = loop_.now();
}

void CdpAudit::write() {
  const rt::Nanos now = loop_.now();
  if (!waiting_.empty() && now - waiting_.back().command.ended >= kInputQuiet) end_sum();
  rt::Nanos next = rt::Nanos::max();
  for (auto entry = waiting_.begin(); entry != waiting_.end();) {
    if (entry->is_over) {
      record_(std::move(entry->command));
      entry = waiting_.erase(entry);
      continue;
    }
    const bool is_sum = entry->sum != Sum::kNone;
    const rt::Nanos due =
        is_sum ? entry->command.ended + kInputQuiet : entry->command.began + kMaxOutcomeWait;
    if (is_sum || now < due) {
      next = due;
      break;
    }
    ++entry;
  }
  if (next == rt::Nanos::max())
    timer_.cancel();
  else
    timer_.arm(next, [this] { write(); });
}

void CdpAudit::finish() {
  timer_.cancel();
  end_sum();
  for (Entry& entry : std::exchange(waiting_, {})) {
    if (!entry.is_over) {
      entry.command.is_ok = false;
      entry.command.error = "the client left before it was over";
      entry.command.ended = loop_.now();
    }
    record_(std::move(entry.command));
  }
}

}  // namespace reprise::browser::chromium
