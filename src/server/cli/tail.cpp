// reprise tail: a session's events, then live.
#include "server/cli/call.h"
#include "server/cli/follow.h"
#include "server/cli/table.h"

namespace reprise::server::cli {
namespace {

class TailSink final : public FollowSink {
 public:
  explicit TailSink(bool is_json) : is_json_(is_json), is_coloured_(!is_json && wants_colour()) {}

  void on_event(const std::string& json) override {
    shown_ += is_json_ ? json + "\n" : event_line(json, is_coloured_);
  }
  // All frames of one read become one write.
  Outcome<> flush() override {
    if (shown_.empty()) return {};
    return print(std::exchange(shown_, {}));
  }
  void on_note(std::string_view text) override { note(fmt::format("tail: {}", text)); }

 private:
  const bool is_json_;
  const bool is_coloured_;
  std::string shown_;
};

rt::Task<Outcome<>> tail_with(Client& client, TailOptions options, bool is_json) {
  TailSink sink(is_json);
  co_return co_await follow(client, std::move(options), sink);
}

}  // namespace

int tail(const ClientOptions& options, const TailOptions& tail_options) {
  return with_client(
      options, [&](Client& client) { return tail_with(client, tail_options, options.is_json); });
}

}  // namespace reprise::server::cli
