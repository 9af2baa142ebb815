// ChromiumPage: one page target and the frames of other processes in it.
//
// Made by ChromiumBrowser when the browser tells of it; prepare() makes it what its context asks
// for and lets it run. Events arrive through on_event; what they change is seen at once by the
// const members, and changed() is told.
//
// Threads: belongs to the browsers' loop.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "browser/chromium/connection.h"
#include "browser/chromium/frames.h"
#include "browser/chromium/screencast.h"
#include "browser/chromium/traffic.h"
#include "browser/driver.h"

namespace reprise::browser::chromium {

// What a page tells its context.
class PageOwner {
 public:
  virtual ~PageOwner() = default;
  virtual void page_changed(Page& page) = 0;
  virtual void page_asks(Page& page) = 0;  // a dialog or files, or they are gone
  // Its own frame has a document from there.
  virtual void page_shows(std::string_view url) = 0;
};

struct PageBirth {
  std::string target;
  std::string session;
  std::string opener;
  std::string url;
  bool is_plain = false;              // in a context that a client made: nothing is set on it
  bool is_resumed_by_others = false;  // by the clients that own it (browser/chromium/cdp_gate.h)
};

class ChromiumPage final : public Page,
                           public CdpListener,
                           public std::enable_shared_from_this<ChromiumPage> {
 public:
  ChromiumPage(CdpConnection& connection, PageOwner& owner, const ContextOptions& options,
               PageBirth birth);
  ~ChromiumPage() override;

  // Turns on what is needed and lets the page run; returns when its frames are known.
  rt::Task<Result<>> prepare(rt::Deadline deadline);
  void moved_to(std::string url);
  void crashed();
  // The browser has closed it: nothing can be asked of it any more.
  void gone();

  const std::string& target() const override { return target_; }
  const std::string& session() const { return session_; }
  const std::string& opener() const override { return opener_; }
  const std::string& url() const override { return url_; }
  const std::string& title() const override { return title_; }
  void ask_title() override;
  bool is_crashed() const override { return is_crashed_; }
  bool is_closed() const override { return is_closed_; }

  rt::Task<Result<Navigation>> navigate(std::string url, rt::Deadline deadline) override;
  void stop_loading() override;
  rt::Task<Result<bool>> go(int by, rt::Deadline deadline) override;
  rt::Task<Result<>> reload(rt::Deadline deadline) override;
  rt::Task<Result<>> close(rt::Deadline deadline) override;
  rt::Task<Result<>> bring_to_front(rt::Deadline deadline) override;

  std::vector<FrameInfo> frames() const override { return frames_.list(); }
  bool has_frame(const std::string& id) const { return frames_.find(id) != nullptr; }
  // Origins of its frames' documents, each with the session of a frame that shows it.
  std::map<std::string, std::string> shown_origins() const;
  rt::Task<Result<std::string>> call(std::string frame, std::string function, std::string argument,
                                     rt::Deadline deadline) override;
  rt::Task<Result<Element>> find(std::string frame, std::string function, std::string argument,
                                 rt::Deadline deadline) override;
  rt::Task<Result<std::string>> call_on(Element element, std::string function, std::string argument,
                                        rt::Deadline deadline) override;
  rt::Task<Result<std::string>> evaluate(std::string function, std::optional<Element> element,
                                         rt::CancelScope& scope, rt::Deadline deadline) override;
  rt::Task<Result<std::string>> frame_of(Element element, rt::Deadline deadline) override;
  rt::Task<Result<Element>> owner_of(std::string frame, rt::Deadline deadline) override;
  rt::Task<Result<Point>> origin_of(std::string frame, rt::Deadline deadline) override;

  rt::Task<Result<>> mouse(std::vector<MouseEvent> gesture, rt::Deadline deadline) override;
  rt::Task<Result<>> key(KeyStroke stroke, bool is_down, rt::Deadline deadline) override;
  rt::Task<Result<>> insert_text(std::string text, rt::Deadline deadline) override;
  rt::Task<Result<>> drop(Point at, DropData data, rt::Deadline deadline) override;
  rt::Task<Result<>> set_files(Element element, std::vector<std::string> paths,
                               rt::Deadline deadline) override;

  rt::Task<Result<Picture>> picture(PictureOptions options, rt::Deadline deadline) override;
  rt::Task<Result<std::string>> pdf(rt::Deadline deadline) override;
  Screencast& screencast() override { return screencast_; }
  rt::Task<Result<>> resize(Viewport viewport, rt::Deadline deadline) override;
  rt::Task<Result<>> emulate_media(std::string media, rt::Deadline deadline) override;

  const std::optional<Dialog>& dialog() const override { return dialog_; }
  rt::Task<Result<>> answer_dialog(bool is_accepted, std::optional<std::string> text,
                                   rt::Deadline deadline) override;
  std::optional<Element> file_chooser() const override { return file_chooser_; }
  void dismiss_file_chooser() override;

  const std::vector<ConsoleMessage>& console() const override { return traffic_.console(); }
  const std::vector<NetworkRequest>& requests() const override { return traffic_.requests(); }
  const PageJournal& journal() const override { return traffic_.journal(); }
  rt::Task<Result<std::string>> response_body(std::string request, rt::Deadline deadline) override;
  PageActivity activity() const override;
  std::size_t in_flight_since(std::uint64_t requests) const override {
    return traffic_.in_flight_since(requests);
  }
  void send_watch() override;
  rt::Task<> watch(rt::Deadline deadline) override;
  rt::Task<PutOff> put_off(WatchEnd end, rt::Deadline deadline) override;
  rt::Signal& changed() override { return changed_; }

  void on_event(const std::string& session, std::string_view method,
                wire::JsonValue params) override;
  void on_closed() override;

 private:
  void enable(const std::string& session);
  void send_options();
  bool frame_event(const std::string& session, std::string_view method, wire::JsonValue params);
  void child_attached(wire::JsonValue params);
  void child_detached(wire::JsonValue params);
  void file_chooser_opened(const std::string& session, wire::JsonValue params);
  void adopt_tree(const std::string& session, wire::JsonValue tree, const std::string& parent);
  void note_change();
  void note_title(wire::JsonValue result);
  // Waits for it, a little: one that was asked for may not have been told yet.
  rt::Task<> read_title();
  rt::Task<Result<>> usable() const;
  // A call that a dialog of the page ends: it would be answered only after the dialog is.
  rt::Task<Result<std::optional<CdpReply>>> call_until_asked(std::string session,
                                                             std::string method, std::string params,
                                                             rt::Deadline deadline,
                                                             rt::CancelScope* caller = nullptr);
  // Ends what a process of the page is running, if it runs anything.
  rt::Task<> stop_scripts(std::string session);
  rt::Task<Result<>> input(std::string method, std::string params, rt::Deadline deadline);
  rt::Task<Result<>> wait_for_document(std::string old_loader, std::string wanted,
                                       rt::Deadline deadline);
  rt::Task<Result<>> wait_for_load(rt::Deadline deadline);
  rt::Task<> wait_for_error_page(std::string loader);
  // The page script in a frame's present document.
  rt::Task<Result<std::string>> script_in(std::string frame, rt::Deadline deadline);
  struct Called;
  rt::Task<Result<Called>> call_function(std::string frame, std::string function,
                                         std::string arguments, bool by_value,
                                         rt::Deadline deadline);

  CdpConnection& connection_;
  PageOwner& owner_;
  const ContextOptions& options_;
  const std::string target_;
  const std::string session_;
  const std::string opener_;
  const bool is_plain_;
  const bool is_resumed_by_others_;
  std::string url_;
  std::string title_;
  bool is_crashed_ = false;
  bool is_closed_ = false;
  Frames frames_;
  Traffic traffic_;
  ChromiumScreencast screencast_;
  std::map<std::string, std::string> children_;  // sessions of frames of other processes
  std::optional<Dialog> dialog_;
  std::vector<rt::CancelScope*> ended_by_dialog_;
  std::optional<Element> file_chooser_;
  std::uint64_t navigations_ = 0;
  bool is_navigating_ = false;
  std::string failed_;  // the loader of the last navigation of ours that failed
  rt::Signal changed_;
  Viewport viewport_;
  rt::CancelScope scope_;  // cancelled when the page has gone
};

}  // namespace reprise::browser::chromium
