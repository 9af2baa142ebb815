#include "browser/attached_client.h"

#include <utility>

#include "browser/command.h"
#include "browser/limits.h"
#include "browser/timing.h"

namespace reprise::browser {

AttachedClient::AttachedClient(std::shared_ptr<SessionBrowser> browser, ProtocolAddress address,
                               Pool::Seat seat, const model::Redactor& redactor, std::string by)
    : browser_(std::move(browser)),
      address_(std::move(address)),
      seat_(std::move(seat)),
      redactor_(redactor),
      by_(std::move(by)),
      awake_(browser_->around().loop.timers()) {
  browser_->add_client(*this);
}

AttachedClient::~AttachedClient() {
  closed();
  browser_->remove_client(*this);
}

void AttachedClient::start(Sockets sockets) {
  sockets_ = std::move(sockets);
  if (!end_ && browser_->context() != nullptr)
    client_ = browser_->context()->admit(hooks());
  else if (!end_)
    end_ = ClientEnd{kBrowserGoneClose, "the browser is gone"};
  if (end_) sockets_.ended(*end_);
}

ProtocolHooks AttachedClient::hooks() {
  const Outside& outside = browser_->around().outside;
  return {.to_client =
              [this](std::string message) {
                // An event begins with its method.
                if (unanswered_ > 0 && message.starts_with(R"({"id":)")) --unanswered_;
                sockets_.to_client(std::move(message));
              },
          .to_browser = sockets_.to_browser,
          .readable = sockets_.readable,
          .finished = sockets_.finished,
          .close_asked = sockets_.close_asked,
          .check_url = [this, &outside](std::string_view url) -> std::optional<std::string> {
            auto checked = check_url(browser_->policy(), outside.ports, url);
            if (checked) return std::nullopt;
            return checked.error().detail;
          },
          .find_files =
              [this](std::vector<std::string> names, FilesFound found) {
                browser_->lend_later(std::move(names), std::move(found));
              },
          .download_directory =
              [this] {
                const auto context = browser_->held_context();
                const bool is_wanted = browser_->options().context.accepts_downloads;
                return context && is_wanted ? context->download_directory() : std::string();
              },
          .record = [this](ProtocolCommand command) { record(std::move(command)); }};
}

void AttachedClient::from_client(std::string message) {
  if (client_ == nullptr) return;
  heard_at_ = browser_->around().loop.now();
  if (message.find(R"("id")") != std::string::npos) ++unanswered_;
  stay_awake();
  client_->from_client(std::move(message));
}

void AttachedClient::from_browser(std::string message) {
  if (client_ != nullptr) client_->from_browser(std::move(message));
}

void AttachedClient::leave() {
  if (client_ != nullptr)
    client_->leave();
  else if (sockets_.finished)
    sockets_.finished();
}

void AttachedClient::closed() {
  if (client_ != nullptr) client_->closed();
  client_.reset();
  awake_.cancel();
}

bool AttachedClient::is_waiting() const {
  if (client_ == nullptr) return false;
  return client_->is_waiting() || client_->unrecorded() + browser_->untold() >= kMaxUnstored;
}

void AttachedClient::stored() {
  if (client_ != nullptr && !is_waiting()) sockets_.readable();
}

void AttachedClient::end(ClientEnd end) {
  if (end_) return;
  end_ = std::move(end);
  if (sockets_.ended) sockets_.ended(*end_);
}

void AttachedClient::note_activity() {
  browser_->note_use();
  const rt::Nanos now = browser_->around().loop.now();
  if (now - touched_at_ < kClientTouchInterval) return;
  touched_at_ = now;
  browser_->touch();
}

void AttachedClient::stay_awake() {
  note_activity();
  const rt::Nanos now = browser_->around().loop.now();
  awake_.arm(now + kClientTouchInterval, [this] {
    const bool is_silent = browser_->around().loop.now() - heard_at_ > kMaxClientSilence;
    if (unanswered_ > 0 && !is_silent && client_ != nullptr) stay_awake();
  });
}

void AttachedClient::record(ProtocolCommand command) {
  Surroundings& around = browser_->around();
  const rt::Nanos now = around.loop.now();
  const auto ago = std::chrono::duration_cast<Millis>(now - command.began);
  const TimePoint started_at = around.clock.now() - ago;
  const auto tab = browser_->tab_of_target(command.target);
  const CommandCall call{
      .tool = command.name, .arguments = std::move(command.arguments), .source = "cdp", .by = by_};
  const CommandAnswer answer{
      .is_ok = command.is_ok,
      .tool = command.name,
      .tab = tab,
      .duration = std::chrono::duration_cast<Millis>(command.ended - command.began),
      .error_code = command.is_ok ? "" : "browser_error",
      .error = std::move(command.error)};
  const std::string id = format_uuid(make_uuid_v7(started_at, around.random));
  browser_->record_later(command_event(
      {.id = id, .call = call, .outcome = {}, .answer = answer, .started_at = started_at},
      redactor_));
  browser_->note_state(true);
}

}  // namespace reprise::browser
