// For tests and fuzzers: clients whose messages are kept, and a model of what Chromium does with
// the messages of many connections, which complains when a client reaches beyond its session.
#pragma once

#include <fmt/format.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "browser/chromium/cdp_scope.h"
#include "wire/cdp.h"

namespace reprise::browser::testing {

// Timers that run when a test says so.
class ManualTimers {
 public:
  std::function<void(std::chrono::milliseconds, std::function<void()>)> starter() {
    return [this](std::chrono::milliseconds delay, std::function<void()> fire) {
      timers_.emplace(now_ + delay, std::move(fire));
    };
  }
  void advance(std::chrono::milliseconds by) {
    now_ += by;
    while (!timers_.empty() && timers_.begin()->first <= now_) {
      const std::function<void()> fire = std::move(timers_.begin()->second);
      timers_.erase(timers_.begin());
      fire();
    }
  }

 private:
  std::chrono::milliseconds now_{0};
  std::multimap<std::chrono::milliseconds, std::function<void()>> timers_;
};

// A client and everything it was made to say. Questions are answered at once unless
// `is_thoughtful`; paths are mapped below /mapped, except those that hold "passwd".
class TestClient {
 public:
  TestClient(CdpGate& gate, const std::shared_ptr<SessionScope>& scope)
      : client_(gate, scope, hooks()) {}

  CdpClient* operator->() { return &client_; }

  // What was sent since it was last asked.
  std::vector<std::string> to_client() { return std::exchange(to_client_, {}); }
  std::vector<std::string> to_browser() { return std::exchange(to_browser_, {}); }
  std::vector<std::string> audit() { return std::exchange(audit_, {}); }
  std::vector<std::string> contexts() { return std::exchange(contexts_, {}); }

  bool is_thoughtful = false;
  std::vector<std::pair<CdpQuestion, CdpAnswered>> questions;
  int closes = 0;
  int readables = 0;
  int finishes = 0;
  // Called with each message instead of keeping it.
  std::function<void(std::string)> client_sink;
  std::function<void(std::string)> browser_sink;

  static CdpAnswer answer_to(const CdpQuestion& question) {
    CdpAnswer answer;
    for (const std::string& path : question.paths) answer.paths.push_back("/mapped/" + path);
    if (question.kind == CdpQuestion::Kind::kDownloads) answer.paths = {"/mapped/downloads"};
    if (question.kind == CdpQuestion::Kind::kNewContext) {
      answer.proxy_server = "127.0.0.1:1";
      answer.proxy_bypass_list = "<-loopback>";
    }
    return answer;
  }

 private:
  CdpHooks hooks() {
    return {
        .to_client =
            [this](std::string message) {
              client_sink ? client_sink(std::move(message))
                          : to_client_.push_back(std::move(message));
            },
        .to_browser =
            [this](std::string message) {
              browser_sink ? browser_sink(std::move(message))
                           : to_browser_.push_back(std::move(message));
            },
        .check_url = [](std::string_view url) -> std::optional<std::string> {
          if (url.starts_with("file:")) return "Not that URL";
          return std::nullopt;
        },
        .ask = [this](CdpQuestion question, CdpAnswered answered) { ask(question, answered); },
        .audit =
            [this](const AuditNote& note) {
              audit_.push_back(fmt::format("{} {} {} {}", note.number, note.method, note.target_id,
                                           note.params));
            },
        .audit_outcome =
            [this](const AuditOutcome& outcome) {
              audit_.push_back(fmt::format("{} {} {}{}", outcome.number,
                                           outcome.is_ok ? "ok" : "failed", outcome.error,
                                           outcome.result));
            },
        .context_changed =
            [this](std::string_view context_id, bool is_created) {
              contexts_.push_back((is_created ? "+" : "-") + std::string(context_id));
            },
        .close_asked = [this] { ++closes; },
        .readable = [this] { ++readables; },
        .finished = [this] { ++finishes; },
    };
  }

  void ask(const CdpQuestion& question, const CdpAnswered& answered) {
    if (is_thoughtful) {
      questions.emplace_back(question, answered);
      return;
    }
    for (const std::string& path : question.paths)
      if (path.find("passwd") != std::string::npos)
        return answered(fail(Code::kNotFound, "no such artifact"));
    answered(answer_to(question));
  }

  std::vector<std::string> to_client_;
  std::vector<std::string> to_browser_;
  std::vector<std::string> audit_;
  std::vector<std::string> contexts_;
  CdpClient client_;  // last: its hooks are of the members above
};

// One session with one client, who has said hello: its context is "OWN", its connection's target
// "BROWSER", and it is attached to its page "PAGE" by the session "S".
struct Conversation {
  ManualTimers timers;
  std::vector<std::string> stranded;
  CdpGate gate{{.start_timer = timers.starter(),
                .stranded = [this](std::string id) { stranded.push_back(std::move(id)); }}};
  std::shared_ptr<SessionScope> scope = std::make_shared<SessionScope>("OWN");
  TestClient client{gate, scope};

  Conversation() {
    introduce(client);
    hear(attached("S", "PAGE", "page", "OWN"));
    client.to_client();
  }

  static void introduce(TestClient& client) {
    client->from_client(R"({"id":1,"method":"Browser.getVersion"})");
    client->from_browser(fmt::format(
        R"({{"id":{},"result":{{"targetInfo":{{"targetId":"BROWSER","type":"browser"}}}}}})",
        id_of(client.to_browser().front())));
    client.to_client();
  }
  static std::string id_of(std::string_view message) {
    return std::string(wire::scan_cdp(message).id_text);
  }

  // What the client's message makes us send to the browser, and what to the client.
  std::vector<std::string> say(std::string message) {
    client->from_client(std::move(message));
    return client.to_browser();
  }
  std::vector<std::string> answer() { return client.to_client(); }
  // What the browser's message makes us send to the client.
  std::vector<std::string> hear(std::string message) {
    client->from_browser(std::move(message));
    return client.to_client();
  }
  // A reply to a command of ours that was just sent.
  std::vector<std::string> reply(std::string_view to, std::string_view result) {
    return hear(fmt::format(R"({{"id":{},"result":{}}})", id_of(to), result));
  }
  std::vector<std::string> reply_error(std::string_view to, std::string_view message) {
    return hear(
        fmt::format(R"({{"id":{},"error":{{"code":-32602,"message":"{}"}}}})", id_of(to), message));
  }

  static std::string info(std::string_view target, std::string_view type, std::string_view context,
                          bool has_opener = false) {
    const std::string of =
        context.empty() ? "" : fmt::format(R"(,"browserContextId":"{}")", context);
    return fmt::format(
        R"({{"targetId":"{}","type":"{}","title":"","url":"","canAccessOpener":{}{}}})", target,
        type, has_opener, of);
  }
  struct How {
    bool is_waiting = false;
    bool has_opener = false;
    std::string in;  // the session it is told to
  };
  static std::string attached(std::string_view session, std::string_view target,
                              std::string_view type, std::string_view context, How how) {
    const std::string in = how.in.empty() ? "" : fmt::format(R"(,"sessionId":"{}")", how.in);
    return fmt::format(
        R"({{"method":"Target.attachedToTarget","params":{{"sessionId":"{}","targetInfo":{},)"
        R"("waitingForDebugger":{}}}{}}})",
        session, info(target, type, context, how.has_opener), how.is_waiting, in);
  }
  static std::string attached(std::string_view session, std::string_view target,
                              std::string_view type, std::string_view context) {
    return attached(session, target, type, context, How{});
  }
  static std::string detached(std::string_view session, std::string_view in = "") {
    return fmt::format(
        R"({{"method":"Target.detachedFromTarget","params":{{"sessionId":"{}"}}{}}})", session,
        in.empty() ? "" : fmt::format(R"(,"sessionId":"{}")", in));
  }
};

}  // namespace reprise::browser::testing
