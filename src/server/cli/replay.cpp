// reprise replay SESSION: what was done in a session's browser, done again in a fresh session.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_text.h"
#include "rt/cancel.h"
#include "server/cli/call.h"
#include "server/cli/replay_outcome.h"
#include "server/cli/replay_plan.h"
#include "server/cli/replay_tabs.h"
#include "server/cli/table.h"
#include "wire/target.h"

namespace reprise::server::cli {
namespace {

using rt::Task;

// A tool may wait for a page for two minutes.
constexpr std::chrono::minutes kToolPatience{3};
// For what comes by itself: a tab that a page opens, and what is kept of a command.
constexpr std::chrono::seconds kComingPatience{5};
constexpr std::chrono::milliseconds kLookAgain{50};

Failure needs_secret(const RecordedCommand& command, const std::string& name) {
  Failure failure;
  failure.line = fmt::format(
      "needs_secret: command {} ({}) needs '{}', which was not stored: give --secret '{}=…' or "
      "--secret {}=…",
      command.seq, command.tool, name, name, command.seq);
  failure.problem = fmt::format(
      R"({{"type":"urn:reprise:error:needs_secret","title":"A secret is needed.","status":422,)"
      R"("code":"needs_secret","detail":{},"secret":{},"seq":{}}})",
      json_string(failure.line), json_string(name), command.seq);
  return failure;
}

Task<Outcome<std::vector<RecordedCommand>>> read_commands(Client& client, std::string session) {
  std::vector<RecordedCommand> commands;
  std::string after = "0";
  for (bool has_more = true; has_more;) {
    REPRISE_CO_TRY(const auto response,
                   co_await call(client, {.target = session_target(session, "/commands") +
                                                    query({{"after", after}, {"limit", "500"}})}));
    REPRISE_CO_TRY(const auto page, body_of(response));
    if (const auto list = page.root().find("commands"))
      for (const wire::JsonValue command : list->elements())
        commands.push_back(read_command(command));
    after = member_text(page.root(), "nextAfter");
    has_more = member_text(page.root(), "hasMore") == "true";
  }
  co_return commands;
}

Task<Outcome<std::vector<TabSeen>>> tabs_of(Client& client, std::string session,
                                            std::string status) {
  REPRISE_CO_TRY(const auto response,
                 co_await call(client, {.target = session_target(session, "/tabs") +
                                                  query({{"status", std::move(status)}})}));
  REPRISE_CO_TRY(const auto answer, body_of(response));
  co_return read_tabs(answer.root());
}

// A text that is sent as it is.
class TextSource final : public UploadSource {
 public:
  explicit TextSource(std::string text) : text_(std::move(text)) {}
  Result<std::size_t> read(std::span<char> buffer) override {
    const std::size_t taken = std::min(buffer.size(), text_.size() - at_);
    text_.copy(buffer.data(), taken, at_);
    at_ += taken;
    return taken;
  }
  std::optional<std::uint64_t> size() const override { return text_.size(); }

 private:
  const std::string text_;
  std::size_t at_ = 0;
};

// Commands about tabs say themselves which one they mean.
bool is_about_tabs(const Plan& plan) {
  return plan.attempts.front().front().tool == "browser_tabs";
}

bool is_elsewhere(const ReplayedCommand& replayed) {
  return !replayed.is_ok &&
         (replayed.error_code == "not_found" || replayed.error_code == "not_unique");
}

class Replay {
 public:
  Replay(Client& client, const ReplayOptions& options, Secrets secrets, bool is_json)
      : client_(client), options_(options), secrets_(std::move(secrets)), is_json_(is_json) {}

  Task<Outcome<>> run() {
    REPRISE_CO_TRY(const auto commands, co_await read_commands(client_, options_.session));
    if (commands.empty()) {
      note("nothing was done in this session's browser");
      co_return Outcome<>{};
    }
    const std::vector<Plan> plans = plan_commands(commands, secrets_);
    // Before anything is done: what is missing, and is certain to be.
    for (std::size_t i = 0; i < plans.size(); ++i)
      if (plans[i].missing) co_return std::unexpected(needs_secret(commands[i], *plans[i].missing));
    REPRISE_CO_CHECK(co_await open_session());
    for (std::size_t i = 0; i < plans.size(); ++i)
      REPRISE_CO_CHECK(co_await replay(commands[i], plans[i]));
    if (!options_.keeps_session)
      REPRISE_CO_CHECK(co_await post(session_target(session_, "/close"), "{}"));
    co_return tell_end(commands.size());
  }

 private:
  Task<Outcome<wire::JsonDocument>> post(std::string target, std::string body) {
    REPRISE_CO_TRY(const auto response, co_await call(client_, {.method = "POST",
                                                                .target = std::move(target),
                                                                .body = std::move(body),
                                                                .is_repeatable = false,
                                                                .patience = kToolPatience}));
    co_return body_of(response);
  }

  Task<Outcome<>> open_session() {
    REPRISE_CO_TRY(const auto response,
                   co_await call(client_, {.target = session_target(options_.session)}));
    REPRISE_CO_TRY(const auto original, body_of(response));
    REPRISE_CO_TRY(
        const auto made,
        co_await post("/v1/sessions",
                      fmt::format(R"({{"app":{},"status":"ACTIVE","metadata":{{"replayOf":{}}}}})",
                                  json_string(member_text(original.root(), "app")),
                                  json_string(member_text(original.root(), "id")))));
    session_ = member_text(made.root(), "id");
    if (!options_.browser.empty())
      REPRISE_CO_CHECK(co_await post(session_target(session_, "/browser"), options_.browser));
    REPRISE_CO_TRY(auto recorded, co_await tabs_of(client_, options_.session, ""));
    REPRISE_CO_TRY(const auto closed, co_await tabs_of(client_, options_.session, "closed"));
    recorded.insert(recorded.end(), closed.begin(), closed.end());
    tabs_ = ReplayTabs(std::move(recorded));
    co_return Outcome<>{};
  }

  Task<Outcome<>> see_tabs() {
    REPRISE_CO_TRY(auto open, co_await tabs_of(client_, session_, ""));
    tabs_.see(std::move(open));
    co_return Outcome<>{};
  }

  rt::Deadline coming() { return rt::Deadline::after(client_.loop(), kComingPatience); }
  Task<> nap() { (void)co_await rt::sleep_for(client_.loop(), kLookAgain, scope_); }

  // Tools work on the active tab: it is the one that stands for the recorded one.
  Task<Outcome<>> activate(const std::string& recorded) {
    if (recorded.empty()) co_return Outcome<>{};
    const rt::Deadline deadline = coming();
    while (!tabs_.ours(recorded) && tabs_.is_opened_by_page(recorded) &&
           !deadline.has_passed(client_.loop())) {
      co_await nap();
      REPRISE_CO_CHECK(co_await see_tabs());
    }
    const auto ours = tabs_.ours(recorded);
    if (!ours || tabs_.is_active(*ours)) co_return Outcome<>{};
    auto response =
        co_await client_.send({.method = "POST",
                               .target = session_target(session_, "/tabs/" + *ours + "/activate"),
                               .body = "{}",
                               .is_repeatable = false});
    // A tab that is gone here fails with the command that needs it.
    if (!response) co_return failed(response.error());
    co_return Outcome<>{};
  }

  Task<Outcome<>> replay(const RecordedCommand& command, const Plan& plan) {
    if (plan.merged_into)
      co_return tell(command, "merged", {fmt::format("it is part of {}", *plan.merged_into)}, {});
    if (!plan.skipped.empty()) {
      ++skipped_;
      co_return tell(command, "skipped", {plan.skipped}, {});
    }
    REPRISE_CO_CHECK(co_await see_tabs());
    if (!is_about_tabs(plan)) REPRISE_CO_CHECK(co_await activate(command.tab));
    std::optional<ReplayedCommand> replayed;
    for (const Attempt& attempt : plan.attempts) {
      REPRISE_CO_TRY(ReplayedCommand tried, co_await try_once(command, attempt));
      const bool is_over = !is_elsewhere(tried);
      // Where nothing is found, the first that was looked for says most.
      if (is_over || !replayed) replayed = std::move(tried);
      if (is_over) break;
    }
    std::optional<std::string> shown;
    if (replayed->snapshot) {
      REPRISE_CO_TRY(shown, co_await read_artifact(options_.session, command.snapshot, false));
    }
    const auto found = differences(command, *replayed, shown);
    if (!found.empty()) ++different_;
    std::vector<std::string> words;
    for (const Difference& one : found) words.push_back(one.words);
    co_return tell(command, found.empty() ? "same" : "differs", words, found);
  }

  Task<Outcome<ReplayedCommand>> try_once(const RecordedCommand& command, const Attempt& attempt) {
    ReplayedCommand replayed;
    std::uint64_t seq = 0;
    for (const ToolCall& one : attempt) {
      REPRISE_CO_TRY(replayed, co_await call_tool(command, one, seq));
      if (!replayed.is_ok) break;
    }
    if (seq != 0) REPRISE_CO_CHECK(co_await add_record(command, seq, replayed));
    co_return replayed;
  }

  // What the server put on record of it: the element, and what the page showed.
  Task<Outcome<>> add_record(const RecordedCommand& command, std::uint64_t seq,
                             ReplayedCommand& replayed) {
    REPRISE_CO_TRY(
        const auto response,
        co_await call(client_,
                      {.target = session_target(session_, "/commands") +
                                 query({{"after", std::to_string(seq - 1)}, {"limit", "1"}})}));
    REPRISE_CO_TRY(const auto page, body_of(response));
    const auto list = page.root().find("commands");
    const auto found = list ? list->elements() : std::vector<wire::JsonValue>{};
    if (found.empty()) co_return Outcome<>{};
    const RecordedCommand ours = read_command(found.front());
    replayed.target = ours.target;
    // What a person did by hand is captured when it is put on record, which may be after the next
    // thing that they did; then the page is not on record either.
    const bool is_captured = !command.snapshot.empty() && command.url && !ours.snapshot.empty();
    if (options_.ignores_snapshots || !is_captured) co_return Outcome<>{};
    REPRISE_CO_TRY(replayed.snapshot, co_await read_artifact(session_, ours.snapshot, true));
    co_return Outcome<>{};
  }

  // Nothing if there is none; `may_come`: it is written after the answer.
  Task<Outcome<std::optional<std::string>>> read_artifact(std::string session, std::string path,
                                                          bool may_come) {
    const rt::Deadline deadline = coming();
    for (;;) {
      auto response = co_await client_.send({.target = artifact_target(session, path)});
      if (!response) co_return failed(response.error());
      if (response->status == 200) co_return std::optional(std::move(response->body));
      if (response->status != 404 && response->status != 410) co_return failed(*response);
      if (!may_come || deadline.has_passed(client_.loop())) co_return std::optional<std::string>();
      co_await nap();
    }
  }

  // Files that a page was given are artifacts of the recorded session.
  Task<Outcome<>> bring_files(std::string arguments) {
    const auto document = wire::parse_json(std::move(arguments));
    const auto paths = document ? document->root().find("paths") : std::nullopt;
    for (const wire::JsonValue path : paths ? paths->elements() : std::vector<wire::JsonValue>{}) {
      const std::string name = path.as_string().value_or("");
      if (name.empty()) continue;
      auto there =
          co_await client_.send({.method = "HEAD", .target = artifact_target(session_, name)});
      if (!there) co_return failed(there.error());
      if (there->status != 404) continue;
      auto content = co_await client_.send({.target = artifact_target(options_.session, name)});
      if (!content) co_return failed(content.error());
      if (content->status != 200) continue;  // the command fails as it did, or tells of it
      ClientRequest request{.method = "PUT", .target = artifact_target(session_, name)};
      if (const auto type = content->headers.get("content-type"))
        request.headers.emplace_back("Content-Type", std::string(*type));
      TextSource source(std::move(content->body));
      auto stored = co_await client_.upload(std::move(request), source);
      if (!stored) co_return failed(stored.error());
    }
    co_return Outcome<>{};
  }

  // Which tab is closed or selected is told by its number, which may be another now.
  std::string with_index(const RecordedCommand& command, const ToolCall& one) const {
    const auto ours = tabs_.ours(command.tab);
    const auto index = ours ? tabs_.index_of(*ours) : std::nullopt;
    const auto document = wire::parse_json(one.arguments);
    const std::string action = document ? text_member(document->root(), "action") : "";
    if (one.tool != "browser_tabs" || !index || (action != "close" && action != "select"))
      return one.arguments;
    return fmt::format(R"({{"action":"{}","index":{}}})", action, *index);
  }

  Task<Outcome<ReplayedCommand>> call_tool(const RecordedCommand& command, const ToolCall& one,
                                           std::uint64_t& seq) {
    const bool has_files = one.tool == "browser_file_upload" || one.tool == "browser_drop";
    if (has_files) REPRISE_CO_CHECK(co_await bring_files(one.arguments));
    ReplayedCommand replayed;
    auto response = co_await client_.send(
        {.method = "POST",
         .target = session_target(session_, "/tools/" + wire::percent_encode(one.tool)) +
                   query({{"source", "replay"}}),
         .body = with_index(command, one),
         .is_repeatable = false,
         .patience = kToolPatience});
    if (!response) co_return failed(response.error());
    REPRISE_CO_TRY(const auto answer, body_of(*response));
    const wire::JsonValue root = answer.root();
    // What the server refuses is told as it is told for a page's fault.
    if (response->status >= 300) {
      replayed.error_code = member_text(root, "code");
      replayed.error = member_text(root, "detail");
      co_return replayed;
    }
    replayed.is_ok = member_text(root, "ok") == "true";
    if (const auto number = root.find("seq")) seq = number->as_uint().value_or(0);
    if (const auto error = root.find("error")) {
      replayed.error_code = member_text(*error, "code");
      replayed.error = member_text(*error, "message");
    }
    if (const auto page = root.find("page")) {
      replayed.url = member_text(*page, "url");
      replayed.title = member_text(*page, "title");
    }
    const std::string tab = member_text(root, "tabId");
    const bool is_missing = tabs_.is_opened_by_page(command.tab) && !tabs_.ours(command.tab);
    if (!tab.empty() && !command.tab.empty() && !is_missing) tabs_.pair(command.tab, tab);
    co_return replayed;
  }

  Outcome<> tell(const RecordedCommand& command, std::string_view verdict,
                 const std::vector<std::string>& why, const std::vector<Difference>& found) {
    if (is_json_) {
      std::string list;
      for (const std::string& one : why) list += (list.empty() ? "" : ",") + json_string(one);
      std::string details;
      for (const Difference& one : found)
        details += fmt::format(R"({}{{"kind":"{}","recorded":{},"replayed":{}}})",
                               details.empty() ? "" : ",", one.kind, json_string(one.recorded),
                               json_string(one.replayed));
      return print(fmt::format(
          "{{\"seq\":{},\"tool\":{},\"verdict\":\"{}\",\"why\":[{}],\"differences\":[{}]}}\n",
          command.seq, json_string(command.tool), verdict, list, details));
    }
    std::string line = fmt::format("{} {} {}", command.seq, command.tool, verdict);
    for (std::size_t i = 0; i < why.size(); ++i) line += (i == 0 ? ": " : "; ") + why[i];
    return print(printable(line) + "\n");
  }

  Outcome<> tell_end(std::size_t commands) {
    REPRISE_CHECK(print(
        is_json_
            ? fmt::format("{{\"session\":{},\"commands\":{},\"different\":{},\"skipped\":{}}}\n",
                          json_string(session_), commands, different_, skipped_)
            : fmt::format("replayed {} commands in session {}: {} differ, {} skipped\n", commands,
                          session_, different_, skipped_)));
    if (different_ == 0 && skipped_ == 0) return {};
    // All is said.
    Failure failure;
    failure.exit_status = different_ > 0 ? kExitFailed : kExitIncomplete;
    return std::unexpected(std::move(failure));
  }

  Client& client_;
  const ReplayOptions& options_;
  const Secrets secrets_;
  const bool is_json_;
  rt::CancelScope scope_;
  std::string session_;
  ReplayTabs tabs_{{}};
  std::size_t different_ = 0;
  std::size_t skipped_ = 0;
};

Task<Outcome<>> replay_with(Client& client, const ReplayOptions& options, bool is_json) {
  auto secrets = parse_secrets(options.secrets);
  if (!secrets) co_return usage(secrets.error().detail);
  Replay replay(client, options, std::move(*secrets), is_json);
  co_return co_await replay.run();
}

}  // namespace

int replay_session(const ClientOptions& options, const ReplayOptions& replay) {
  return with_client(options,
                     [&](Client& client) { return replay_with(client, replay, options.is_json); });
}

}  // namespace reprise::server::cli
