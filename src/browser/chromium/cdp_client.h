// The inside of CdpClient (users read browser/chromium/cdp_scope.h). Its parts:
//
//   cdp_client.cpp     what a client sends: checked, put in order, handed to its rule
//   cdp_commands.cpp   the rules for targets, contexts and windows
//   cdp_questions.cpp  the rules that must ask the server first: files, downloads, new contexts
//   cdp_replies.cpp    replies to commands that are tracked
//   cdp_events.cpp     events: sessions that come and go, hidden ones, discovery
//   cdp_quiet.cpp      ending without leaving anything held
//   cdp_downloads.*    whose download an event is about
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "browser/chromium/cdp_downloads.h"
#include "browser/chromium/cdp_limits.h"
#include "browser/chromium/cdp_scope.h"
#include "browser/chromium/cdp_text.h"
#include "wire/cdp.h"
#include "wire/json.h"

namespace reprise::browser {

class CdpClient::Core final : public CdpOwner, public std::enable_shared_from_this<Core> {
 public:
  Core(CdpGate& gate, std::shared_ptr<SessionScope> scope, CdpHooks hooks);

  void from_client(std::string message);
  void from_browser(std::string message);
  void leave();
  void close();
  bool is_waiting() const { return is_waiting_; }
  Holdings holdings() const;

  bool owns_context(std::string_view context_id) const override { return scope_->owns(context_id); }
  void send_held(std::string command) override { hooks_.to_browser(std::move(command)); }
  void resume_all() override;

 private:
  // A DevTools session on the client's connection; the empty id is the root's.
  struct Session {
    enum class Kind : std::uint8_t { kBrowser, kTarget, kHidden };
    Kind kind = Kind::kHidden;
    std::string type;  // of its target
    std::string target_id;
    std::string context_id;
    std::string parent;      // the session it was attached in
    bool is_paused = false;  // its target waits for the client's resume
    CdpGate::Pause pause = CdpGate::Pause::kNavigation;
    bool was_paused = false;  // a tab that waited when it was attached: so does its page
    bool has_page = false;    // of a tab: its page has been seen
    // Of a browser session: it is attached to what is new, which waits for it; and to what.
    bool holds_new = false;
    std::string filter;
    // Targets that discovery in this session has shown.
    std::set<std::string, std::less<>> announced;
    // Contexts that Chromium disposes when this browser session is detached.
    std::set<std::string> vanishing_contexts;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  using Sessions = std::unordered_map<std::string, Session, Hash, std::equal_to<>>;

  // A command that is more than passed on. It does not move: its head points into its text.
  struct Command {
    std::string text;
    wire::CdpHead head;
    std::string session_id;
    CdpTreatment treatment;
    std::uint64_t note = 0;  // its number in the audit, if it is there
    Command(std::string message, CdpTreatment how);
  };
  using CommandPtr = std::shared_ptr<Command>;

  // A command's params, parsed.
  class Params {
   public:
    Params() = default;
    explicit Params(wire::JsonDocument document) : document_(std::move(document)) {}
    std::optional<wire::JsonValue> find(std::string_view name) const;
    // Where a value of these stands in the command's text.
    std::string_view part(const Command& command, const wire::JsonValue& value) const;
    std::vector<wire::JsonMember> members() const;

   private:
    std::optional<wire::JsonDocument> document_;
  };

  // Why we wait for a reply.
  struct Pending {
    enum class Kind : std::uint8_t {
      kOwnBrowser,       // which target the root session is
      kRelay,            // the reply goes to the client under its own id
      kTargets,          // filtered
      kContexts,         // likewise
      kContextCreated,   // it becomes the session's
      kContextDisposed,  // and no longer
      kWindow,           // the client may use this window
      kBrowserAttach,
      kLookup,       // whose target that is, before the command goes on
      kHiddenDone,   // a hidden session has done what it was needed for
      kQuiet,        // nothing new is held any more
      kFrameTarget,  // the frame a download came from: is it a target's?
      kFrameTree     // or in one of ours?
    };
    Kind kind = Kind::kRelay;
    std::string id;                // the client's
    std::string session_id;        // the client's
    std::string upstream_session;  // where it was sent
    std::uint64_t note = 0;
    std::string subject;  // the context, target, session or download it is about
    bool vanishes = false;
    CommandPtr command;
  };

  struct TargetInfo {
    std::string_view target_id;
    std::string_view type;
    std::string_view context_id;
    bool can_access_opener = false;
  };

  // cdp_client.cpp
  void process(std::string message);
  bool refuse_malformed(const wire::CdpHead& head);
  void dispatch(const CommandPtr& command);
  void refuse(const Command& command, int code, std::string_view message);
  void refuse_params(const Command& command);
  std::optional<Params> params_of(const Command& command);
  // The string of that name, nothing where there is none; false (and refused) for other types.
  bool read_string(const Command& command, const Params& params, std::string_view name,
                   std::optional<std::string>& value);
  // Unless it has gone.
  void tell_client(std::string message) {
    if (!is_leaving_) hooks_.to_client(std::move(message));
  }
  void note(Command& command);
  void forward(const CommandPtr& command);
  void forward(const CommandPtr& command, const CdpEdit& edit) {
    forward(command, edit, Pending::Kind::kRelay);
  }
  // Tracked: a reply is looked at, and so is that of every command in the audit.
  void forward(const CommandPtr& command, CdpEdit edit, Pending::Kind kind);
  void track_and_send(const CommandPtr& command, CdpEdit edit, Pending pending);
  std::optional<std::int32_t> track(Pending pending);
  std::int32_t next_own_id();
  void send_own(std::string_view session_id, std::string_view method, std::string_view params);
  void send_tracked(std::string_view session_id, std::string_view method, std::string_view params,
                    Pending pending);
  void start_waiting() { is_waiting_ = true; }
  void stop_waiting();
  Session* find_session(std::string_view id);
  Session& session_of(const Command& command);
  std::string_view page_of(std::string_view session_id);
  CdpGate::Unit unit_of(std::string_view session_id);

  // cdp_commands.cpp
  void on_close_browser(const CommandPtr& command);
  void on_context(const CommandPtr& command);
  void on_cookies(const CommandPtr& command);
  void on_target(const CommandPtr& command);
  void with_target(const CommandPtr& command, std::string target_id);
  void target_is_own(const CommandPtr& command);
  void target_is_foreign(const Command& command);
  void on_window_for_target(const CommandPtr& command);
  void on_window(const CommandPtr& command);
  void on_auto_attach(const CommandPtr& command);
  void set_holding(const CommandPtr& command, bool holds, CdpGate::Taste taste, std::string filter);
  void on_detach(const CommandPtr& command);
  void on_dispose_context(const CommandPtr& command);
  void on_create_target(const CommandPtr& command);
  void on_resume(const CommandPtr& command);
  void on_navigate(const CommandPtr& command);
  bool may_navigate(const Command& command, const std::string& url);
  bool knows_target(std::string_view target_id) const;
  // The context a command means: its own, or its session's. Nothing (and refused) if it is foreign.
  std::optional<std::string> read_context(const CommandPtr& command, const Params& params,
                                          CdpEdit& edit);

  // cdp_questions.cpp
  using Answered = void (Core::*)(const CommandPtr& command, const CdpAnswer& answer);
  void ask(const CommandPtr& command, CdpQuestion question, Answered then);
  void answered(std::uint64_t question, const CommandPtr& command, Answered then,
                Result<CdpAnswer> answer);
  void on_input(const CommandPtr& command);
  void on_drag(const CommandPtr& command);
  void on_input_files(const CommandPtr& command);
  void ask_files(const CommandPtr& command, CdpQuestion::Kind kind,
                 const std::optional<wire::JsonValue>& files);
  void files_answered(const CommandPtr& command, const CdpAnswer& answer);
  void on_downloads(const CommandPtr& command);
  void downloads_answered(const CommandPtr& command, const CdpAnswer& answer);
  void on_create_context(const CommandPtr& command);
  void context_answered(const CommandPtr& command, const CdpAnswer& answer);

  // cdp_quiet.cpp
  bool is_within(std::string_view session_id, std::string_view ancestor);
  // In the session, or in those attached in it as well. Whether it must be waited for.
  enum class Reach : std::uint8_t { kAlone, kNested };
  bool stop_holding(std::string_view browser_session, Reach reach);
  void forward_when_quiet(const CommandPtr& command);
  void one_less_unquiet();

  // cdp_replies.cpp
  void on_reply(const wire::CdpHead& head);
  void relay(const Pending& pending, const wire::CdpHead& head, std::string_view result);
  void on_targets_reply(const Pending& pending, const wire::CdpHead& head);
  void on_contexts_reply(const Pending& pending, const wire::CdpHead& head);
  void on_context_created(const Pending& pending, const wire::CdpHead& head);
  void on_context_disposed(const Pending& pending, const wire::CdpHead& head);
  void on_window_reply(const Pending& pending, const wire::CdpHead& head);
  void on_lookup_reply(const Pending& pending, const wire::CdpHead& head);
  void on_frame_reply(const Pending& pending, const wire::CdpHead& head);
  // It will not be answered.
  void give_up(const Pending& pending);
  void end_note(std::uint64_t note, bool is_ok, std::string_view error, std::string_view result);

  // cdp_events.cpp
  void on_event(const wire::CdpHead& head, std::string message);
  void on_target_event(std::string_view session_id, const wire::CdpHead& head, std::string message);
  void on_attached(std::string_view session_id, const wire::CdpHead& head, std::string message);
  void on_detached(const wire::CdpHead& head, std::string message);
  void on_hidden_event(std::string_view session_id, const wire::CdpHead& head);
  static TargetInfo read_info(std::string_view info);
  bool is_visible(const TargetInfo& info, const Session& seen_by) const;
  void add_visible(std::string_view session_id, std::string_view parent, const TargetInfo& info,
                   bool is_waiting);
  // Whether the gate has a say in when its target runs.
  bool is_gated(const Session& session);
  void note_pause(std::string_view session_id, bool is_waiting, const TargetInfo& info);
  void dismiss(std::string_view session_id, std::string_view parent, const TargetInfo& info,
               bool is_waiting);
  void look_under_tab(std::string_view session_id);
  // Resumes it, and detaches `done` when that has happened.
  void resume_hidden(std::string_view session_id, std::string_view done);
  void detach_hidden(std::string_view session_id, std::string_view parent);
  void remove_session(const std::string& id);
  void give_up_on(std::string_view session_id);
  // The contexts that end with a session.
  void drop_contexts(const Session& session);
  void on_download_event(const wire::CdpHead& head, std::string message);
  void look_for_frame(const std::string& guid, std::string_view frame_id);
  void decide_download(const std::string& guid, bool is_own);

  CdpGate& gate_;
  const std::shared_ptr<SessionScope> scope_;
  const CdpHooks hooks_;
  Sessions sessions_;
  std::string own_browser_id_;
  bool has_asked_own_browser_ = false;
  std::size_t browser_attaches_ = 0;  // that were asked for and have not been answered
  std::set<std::int64_t> windows_;
  std::unordered_map<std::int32_t, Pending> pending_;
  std::int32_t last_own_id_ = kFirstOwnCdpId - 1;
  std::uint64_t last_note_ = 0;
  std::uint64_t last_question_ = 0;
  bool is_waiting_ = false;
  bool is_asking_ = false;  // the hook has not returned
  bool is_draining_ = false;
  bool is_closing_ = false;
  bool is_leaving_ = false;
  bool is_closed_ = false;
  std::deque<std::string> waiting_;
  std::size_t unquiet_ = 0;  // what must happen before nothing is held
  CommandPtr after_quiet_;
  CdpDownloads downloads_;
};

}  // namespace reprise::browser
