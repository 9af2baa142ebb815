// reprise attach: a session's events, then live, and its questions to the person at the terminal.
#include <unistd.h>

#include <csignal>

#include "rt/gate.h"
#include "rt/input.h"
#include "rt/signals.h"
#include "server/cli/attach_prompt.h"
#include "server/cli/attach_terminal.h"
#include "server/cli/call.h"
#include "server/cli/follow.h"
#include "server/cli/table.h"

namespace reprise::server::cli {
namespace {

// A line of standard input that is an answer.
constexpr std::size_t kMaxAnswerLineBytes = 1024 * 1024;

enum class Mode : std::uint8_t {
  kTerminal,  // a person with keys
  kLines,     // answers are lines of standard input
  kWatch,     // nobody answers
};

class Attached final : public FollowSink {
 public:
  Attached(Client& client, std::string session, Mode mode, bool is_json)
      : client_(client),
        session_(std::move(session)),
        mode_(mode),
        is_json_(is_json),
        is_coloured_(!is_json && wants_colour()) {
    if (mode != Mode::kTerminal) return;
    // The terminal is put back, and then the signal does what it would have done.
    signals_.emplace(client.loop(), std::vector<int>{SIGINT, SIGTERM, SIGHUP}, [this](int number) {
      put_away();
      std::signal(number, SIG_DFL);
      std::raise(number);
    });
  }

  void on_event(const std::string& json) override {
    shown_ += is_json_ ? json + "\n" : event_line(json, is_coloured_);
    const auto document = wire::parse_json(json);
    if (!document || mode_ == Mode::kWatch) return;
    const auto change = questions_.on_event(document->root());
    if (change.kind == OpenQuestions::Change::Kind::kResolved) on_resolved(change);
  }
  // Only now it is known which of the questions are still open.
  void on_replay_complete() override { is_live_ = true; }
  Outcome<> flush() override {
    Outcome<> printed = say(std::exchange(shown_, {}));
    if (printed) ask_next();
    return printed;
  }
  void on_note(std::string_view text) override {
    if (prompt_) (void)screen_.draw("");
    note(fmt::format("attach: {}", text));
    redraw();
  }

  // Nothing may be on its way when this goes.
  rt::Task<> end() {
    put_away();
    lines_.reset();
    co_await gate_.empty();
  }

 private:
  Outcome<> say(std::string_view text) {
    return mode_ == Mode::kTerminal ? screen_.print(text)
           : text.empty()           ? Outcome<>{}
                                    : print(text);
  }

  void on_resolved(const OpenQuestions::Change& change) {
    if (sending_ == change.id) return;  // most likely by us: the answer to our answer tells
    if (!prompt_ || prompt_->question().id != change.id) return;
    put_away();
    shown_ += change.state == "answered"
                  ? "attach: the question was answered elsewhere\n"
                  : fmt::format("attach: the question is {}\n", printable(change.state));
  }

  void ask_next() {
    const Question* next = questions_.next();
    if (!is_live_ || next == nullptr || prompt_ || !sending_.empty()) return;
    if (mode_ == Mode::kLines) return ask_for_line(*next);
    prompt_.emplace(*next);
    (void)say(fmt::format(
        "? {}\n", printable(next->prompt.empty() ? "(a question without a text)" : next->prompt)));
    listen();
  }

  void listen() {
    raw_.enter();
    keys_ = {};
    input_.emplace(client_.loop(), STDIN_FILENO,
                   [this](std::string_view bytes) { on_keys(bytes); });
    redraw();
  }

  void redraw() {
    if (prompt_ && input_) (void)screen_.draw(prompt_->render(terminal_width().value_or(80)));
  }

  // No question on the screen, and the terminal as it was.
  void put_away() {
    input_.reset();
    if (prompt_) (void)screen_.draw("");
    prompt_.reset();
    raw_.leave();
  }

  // Leaves the session as it is: others may answer.
  [[noreturn]] void detach() {
    put_away();
    note("attach: left; the question stays open");
    _exit(kExitOk);
  }

  void on_keys(std::string_view bytes) {
    if (bytes.empty()) detach();
    for (const Key& key : keys_.feed(bytes)) {
      if (key.kind == Key::Kind::kEndOfInput) detach();
      if (prompt_->on_key(key) != Prompt::Step::kAnswer) continue;
      // What is typed after an answer is not for this question.
      input_.reset();
      raw_.leave();
      (void)screen_.draw("");
      return send(prompt_->question().id, prompt_->answer());
    }
    redraw();
  }

  void ask_for_line(const Question& question) {
    const bool has_enough =
        waiting_.size() > kMaxAnswerLineBytes && waiting_.find('\n') != std::string::npos;
    if (!lines_ && !is_at_end_of_lines_ && !has_enough)
      lines_.emplace(client_.loop(), STDIN_FILENO,
                     [this](std::string_view bytes) { on_lines(bytes); });
    while (sending_.empty()) {
      const std::size_t end = waiting_.find('\n');
      if (end == std::string::npos) return;
      const std::string line = waiting_.substr(0, end);
      waiting_.erase(0, end + 1);
      auto answer = answer_of_line(question, line);
      if (answer) return send(question.id, std::move(*answer));
      note(fmt::format("attach: {}", printable(answer.error().detail)));
    }
  }

  void on_lines(std::string_view bytes) {
    waiting_ += bytes;
    if (bytes.empty()) {
      if (!waiting_.empty() && !waiting_.ends_with('\n')) waiting_ += '\n';
      is_at_end_of_lines_ = true;
      lines_.reset();
    } else if (waiting_.size() > kMaxAnswerLineBytes) {
      if (waiting_.find('\n') == std::string::npos) {
        note("attach: a line of input is too long");
        waiting_.clear();
      } else {
        lines_.reset();  // enough for now: there will be questions for these first
      }
    }
    ask_next();
  }

  void send(std::string id, std::string answer) {
    sending_ = id;
    rt::spawn(gate_, send_answer(std::move(id), std::move(answer)));
  }

  rt::Task<> send_answer(std::string id, std::string answer) {
    ClientRequest request{
        .method = "POST",
        .target = session_target(session_, fmt::format("/interactions/{}/response", id)),
        .headers = {},
        .body = std::move(answer),
        .is_repeatable = false};
    const auto response = co_await client_.send(std::move(request));
    sending_.clear();
    const int status = response ? response->status : 0;
    if (status == 409 || status == 404 || status == 410) {
      questions_.drop(id);
      prompt_.reset();
      (void)say("attach: the question was answered elsewhere\n");
    } else if (status >= 200 && status < 300) {
      questions_.drop(id);
      prompt_.reset();
    } else {
      const Failure failure = response ? Failure(*response) : Failure(response.error());
      refuse(failure.line);
    }
    ask_next();
  }

  // The answer was not taken: the question is asked again, unless it was resolved meanwhile.
  void refuse(const std::string& why) {
    const Question* next = questions_.next();
    if (!prompt_ || next == nullptr || next->id != prompt_->question().id) {
      prompt_.reset();
      note(fmt::format("attach: {}", printable(why)));
      return;
    }
    prompt_->refuse(why);
    listen();
  }

  Client& client_;
  const std::string session_;
  const Mode mode_;
  const bool is_json_;
  const bool is_coloured_;
  bool is_live_ = false;
  std::string shown_;
  OpenQuestions questions_;
  std::optional<Prompt> prompt_;
  std::string sending_;  // the id of the question whose answer is on its way
  KeyDecoder keys_;
  Screen screen_;
  RawMode raw_;
  std::optional<rt::Input> input_;
  std::optional<rt::Input> lines_;
  std::string waiting_;  // lines no question has come for yet
  bool is_at_end_of_lines_ = false;
  std::optional<rt::Signals> signals_;
  rt::Gate gate_;
};

rt::Task<Outcome<>> attach_with(Client& client, std::string session, Mode mode, bool is_json) {
  Attached attached(client, session, mode, is_json);
  auto outcome = co_await follow(client, TailOptions{.session = session, .types = {}}, attached);
  co_await attached.end();
  co_return outcome;
}

}  // namespace

int attach(const ClientOptions& options, const AttachOptions& attach_options) {
  const Mode mode = options.is_json                  ? Mode::kWatch
                    : attach_options.answers_by_line ? Mode::kLines
                                                     : Mode::kTerminal;
  if (mode == Mode::kTerminal && !is_terminal_attached())
    return report(usage("attach needs a terminal: --lines reads the answers from standard input, "
                        "--json only shows events")
                      .error(),
                  options.is_json);
  return with_client(options, [&](Client& client) {
    return attach_with(client, attach_options.session, mode, options.is_json);
  });
}

}  // namespace reprise::server::cli
