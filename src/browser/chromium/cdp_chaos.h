// For tests and fuzzers: clients of two sessions, friendly and hostile, in one model browser
// (browser/chromium/cdp_model.h). Bytes choose what happens: commands with anybody's ids, garbage,
// pages that open and close, messages that arrive now or later, clients that come and go.
//
// Whatever happens: no client's command reaches beyond its session (the model complains), no client
// is told anything of another session, nobody stays attached to what is not his, and when all have
// gone nothing is left that waits to be resumed.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "browser/chromium/cdp_model.h"
#include "browser/chromium/cdp_testing.h"

namespace reprise::browser::testing {

class Chaos {
 public:
  explicit Chaos(std::string_view choices) : choices_(choices) {
    for (const std::string_view session : {"A", "B"}) {
      const std::string context = browser_.add_context(std::string(session));
      scopes_.push_back(std::make_shared<SessionScope>(context));
      browser_.open_page(context, ModelBrowser::Opening::kNavigation);
    }
    for (std::size_t i = 0; i < slots_.size(); ++i) arrive(i);
  }

  void run() {
    while (!choices_.empty()) step();
    settle();
    REPRISE_ASSERT(browser_.hidden_sessions() == 0, browser_.hidden_sessions());
    for (std::size_t i = 0; i < slots_.size(); ++i) depart(i);
    const std::vector<std::string> held = browser_.held();
    REPRISE_ASSERT(held.empty(), held.size(), held.front());
  }

 private:
  struct Slot {
    std::unique_ptr<TestClient> client;
    int connection = 0;
  };
  struct Template {
    std::string_view method;
    std::string_view params;  // each % is an id
  };
  static const std::vector<Template>& templates();

  std::uint8_t next() {
    if (choices_.empty()) return 0;
    const char choice = choices_.front();
    choices_.remove_prefix(1);
    return static_cast<std::uint8_t>(choice);
  }
  template <typename T>
  const T& pick(const std::vector<T>& from) {
    return from[next() % from.size()];
  }

  static std::string session_name(std::size_t slot) { return slot < 2 ? "A" : "B"; }

  void arrive(std::size_t slot) {
    Slot& made = slots_[slot];
    made.connection = ++last_connection_;
    browser_.connect(made.connection, session_name(slot));
    made.client = std::make_unique<TestClient>(gate_, scopes_[slot / 2]);
    made.client->browser_sink = [this, number = made.connection](std::string message) {
      browser_.receive(number, message);
    };
    made.client->client_sink = [this, slot](std::string message) { check(slot, message); };
  }

  // What a client is told names nothing of others, except in errors, which repeat what it said.
  void check(std::size_t slot, const std::string& message) {
    if (!wire::scan_cdp(message).error.empty()) return;
    for (const std::string& id : browser_.foreign_ids(session_name(slot)))
      REPRISE_ASSERT(message.find(id) == std::string::npos, message, id);
  }

  void depart(std::size_t slot) {
    TestClient& client = *slots_[slot].client;
    const int connection = slots_[slot].connection;
    client->leave();
    while (client.finishes == 0) {
      const auto message = browser_.take(connection);
      REPRISE_ASSERT(message.has_value(), "a client cannot leave");
      client->from_browser(*message);
    }
    client->closed();
    browser_.disconnect(connection);
    slots_[slot].client.reset();
  }

  bool deliver(std::size_t slot) {
    const auto message = browser_.take(slots_[slot].connection);
    if (message) (*slots_[slot].client)->from_browser(*message);
    return message.has_value();
  }

  // Until nobody has anything more to say.
  void settle() {
    for (Slot& slot : slots_) answer_all(*slot.client);
    for (int round = 0; round < 3; ++round) {
      bool is_quiet = false;
      while (!is_quiet) {
        is_quiet = true;
        for (std::size_t i = 0; i < slots_.size(); ++i)
          while (deliver(i)) is_quiet = false;
        for (Slot& slot : slots_) answer_all(*slot.client);
      }
      timers_.advance(kMaxResumeWait);
    }
  }

  // What is on its way arrives before long.
  void pass_time(std::chrono::milliseconds time) {
    for (std::size_t i = 0; i < slots_.size(); ++i)
      while (deliver(i)) continue;
    timers_.advance(time);
  }

  static void answer_all(TestClient& client) {
    client.is_thoughtful = false;
    for (const auto& [question, answered] : std::exchange(client.questions, {}))
      answered(TestClient::answer_to(question));
  }

  std::string some_id(std::size_t slot) {
    std::vector<std::string> ids{"", "nonsense"};
    const auto add = [&](const std::vector<std::string>& more) {
      ids.insert(ids.end(), more.begin(), more.end());
    };
    const std::uint8_t kind = next();
    if (kind % 4 != 0) {
      for (const std::string& context : browser_.contexts(session_name(slot))) {
        add({context});
        add(browser_.pages(context));
      }
      add(browser_.sessions(slots_[slot].connection));
    } else {
      add(browser_.foreign_ids(session_name(slot)));
    }
    return pick(ids);
  }

  std::string some_command(std::size_t slot) {
    const Template& chosen = templates()[next() % templates().size()];
    std::string params;
    for (const char c : chosen.params) c == '%' ? params += some_id(slot) : params += c;
    std::string session;
    switch (next() % 4) {
      case 0: break;
      case 1: session = some_id(slot); break;
      default: session = pick(browser_.sessions(slots_[slot].connection));
    }
    std::string message = fmt::format(R"({{"id":{},"method":"{}")", next() % 8, chosen.method);
    if (!params.empty()) message += R"(,"params":)" + params;
    if (!session.empty()) message += R"(,"sessionId":")" + session + '"';
    return message + "}";
  }

  void mutate(std::string& message) {
    const std::size_t at = (next() * 256U + next()) % message.size();
    switch (next() % 3) {
      case 0: message[at] = static_cast<char>(next()); break;
      case 1: message.erase(at, 1); break;
      default:
        message.replace(at, 1, fmt::format("\\u{:04x}", static_cast<unsigned char>(message[at])));
    }
  }

  void step() {
    const std::size_t slot = next() % slots_.size();
    TestClient& client = *slots_[slot].client;
    const std::vector<std::string> contexts =
        browser_.contexts(next() % 2 == 0 ? std::string("A") : std::string("B"));
    const std::string context = pick(contexts);
    const std::vector<std::string> pages = browser_.pages(context);
    switch (next() % 16) {
      case 0: browser_.open_page(context, ModelBrowser::Opening::kPopup); break;
      case 1: browser_.open_page(context, ModelBrowser::Opening::kNavigation); break;
      case 2:
        if (!pages.empty()) browser_.close_page(pick(pages));
        break;
      case 3:
        if (!pages.empty()) browser_.start_download(pick(pages));
        break;
      case 4: browser_.start_worker(context); break;
      case 5: pass_time(std::chrono::milliseconds(next() * 40)); break;
      case 6:
        client.is_thoughtful = !client.is_thoughtful;
        if (!client.is_thoughtful) answer_all(client);
        break;
      case 7:
        if (next() % 4 == 0) {
          depart(slot);
          arrive(slot);
        }
        break;
      case 8: {
        std::string text(choices_.substr(0, next()));
        choices_.remove_prefix(text.size());
        client->from_client(std::move(text));
        break;
      }
      case 9: {
        std::string message = some_command(slot);
        mutate(message);
        client->from_client(std::move(message));
        break;
      }
      case 10:
      case 11:
      case 12: client->from_client(some_command(slot)); break;
      default:
        for (int left = next() % 8; left >= 0 && deliver(slot);) --left;
    }
  }

  std::string_view choices_;
  ModelBrowser browser_;
  ManualTimers timers_;
  CdpGate gate_{{.start_timer = timers_.starter(),
                 .stranded = [this](const std::string& id) { browser_.resume_for_server(id); }}};
  std::vector<std::shared_ptr<SessionScope>> scopes_;
  std::array<Slot, 4> slots_;  // two of each session
  int last_connection_ = 0;
};

inline const std::vector<Chaos::Template>& Chaos::templates() {
  static const std::vector<Template> kTemplates{
      {"Target.setAutoAttach",
       R"({"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true})"},
      {"Target.setAutoAttach", R"({"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true,)"
                               R"("filter":[{"type":"page","exclude":true},{}]})"},
      {"Target.setAutoAttach",
       R"({"autoAttach":false,"waitForDebuggerOnStart":false,"flatten":true})"},
      {"Target.setAutoAttach", R"({"autoAttach":true,"waitForDebuggerOnStart":true})"},
      {"Runtime.runIfWaitingForDebugger", ""},
      {"Runtime.runIfWaitingForDebugger", "{}"},
      {"Target.setDiscoverTargets", R"({"discover":true})"},
      {"Target.attachToTarget", R"({"targetId":"%","flatten":true})"},
      {"Target.attachToTarget", R"({"targetId":"%"})"},
      {"Target.closeTarget", R"({"targetId":"%"})"},
      {"Target.activateTarget", R"({"targetId":"%"})"},
      {"Target.getTargetInfo", R"({"targetId":"%"})"},
      {"Target.getTargetInfo", ""},
      {"Target.autoAttachRelated", R"({"targetId":"%","waitForDebuggerOnStart":true})"},
      {"Target.createTarget", R"({"url":"about:blank","browserContextId":"%"})"},
      {"Target.createTarget", R"({"url":"about:blank"})"},
      {"Target.createTarget", R"({"url":"file:///etc/passwd"})"},
      {"Target.createBrowserContext", ""},
      {"Target.createBrowserContext", R"({"disposeOnDetach":true,"proxyServer":"evil"})"},
      {"Target.disposeBrowserContext", R"({"browserContextId":"%"})"},
      {"Target.getTargets", ""},
      {"Target.getTargets", R"({"filter":[{}]})"},
      {"Target.getBrowserContexts", ""},
      {"Target.attachToBrowserTarget", ""},
      {"Target.detachFromTarget", R"({"sessionId":"%"})"},
      {"Target.detachFromTarget", R"({"targetId":"%"})"},
      {"Target.sendMessageToTarget", R"({"sessionId":"%","message":"{}"})"},
      {"Target.exposeDevToolsProtocol", R"({"targetId":"%"})"},
      {"Storage.getCookies", ""},
      {"Storage.getCookies", R"({"browserContextId":"%"})"},
      {"Storage.clearCookies", R"({"browserContextId":"%","browserContextId":"%"})"},
      {"Browser.grantPermissions", R"({"permissions":[],"browserContextId":"%"})"},
      {"Browser.resetPermissions", ""},
      {"Browser.getWindowForTarget", R"({"targetId":"%"})"},
      {"Browser.setWindowBounds", R"({"windowId":32})"},
      {"Browser.setDownloadBehavior", R"({"behavior":"allow","downloadPath":"/etc"})"},
      {"Browser.setDownloadBehavior", R"({"behavior":"deny","browserContextId":"%"})"},
      {"Page.setDownloadBehavior", R"({"behavior":"allow","downloadPath":"/etc"})"},
      {"Browser.close", ""},
      {"Browser.crash", ""},
      {"Tracing.start", ""},
      {"Fetch.enable", ""},
      {"Page.navigate", R"({"url":"file:///etc/passwd"})"},
      {"Page.navigate", R"({"url":"http://a/"})"},
      {"DOM.setFileInputFiles", R"({"files":["a","/etc/passwd"]})"},
      {"DOM.setFileInputFiles", R"({"files":["a"]})"},
      {"Input.dispatchDragEvent", R"({"data":{"files":["%"]}})"},
      {"Page.enable", R"({"targetId":"%"})"},
  };
  return kTemplates;
}

}  // namespace reprise::browser::testing
