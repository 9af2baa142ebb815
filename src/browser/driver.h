// What a browser can do, whatever browser it is: the line between the driver (chromium/) and
// everything above it.
//
// A Browser is a running process. It holds contexts, which share nothing; a context holds pages.
// Pages are told about by ContextEvents, also those that pages open by themselves. What happens in
// a page is done by the page script (page/), called through Page::call; the driver adds what a
// script cannot do: real input, navigation, pictures, dialogs, cookies.
//
// Threads: everything here belongs to the browsers' loop.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "browser/browser_files.h"
#include "browser/page_journal.h"
#include "browser/protocol_client.h"
#include "browser/storage_state.h"
#include "rt/cancel.h"
#include "rt/task.h"

namespace reprise::browser {

struct Point {
  double x = 0;
  double y = 0;
};

struct Viewport {
  unsigned width = 1280;
  unsigned height = 720;
  double scale = 1;
};

struct Geolocation {
  double latitude = 0;
  double longitude = 0;
  double accuracy = 0;
};

// What a context is like. JSON texts are minified and checked by whoever made the options.
struct ContextOptions {
  Viewport viewport;
  std::string user_agent;
  std::string locale;    // BCP 47
  std::string timezone;  // IANA
  std::optional<Geolocation> geolocation;
  std::vector<std::string> permissions;
  std::string extra_headers = "{}";  // name to value
  bool is_offline = false;
  bool accepts_downloads = true;
  std::string proxy_server;  // what all of its traffic goes through; empty: none
};

// One frame's present document.
struct FrameInfo {
  std::string id;
  std::string parent;      // empty: the page's own
  std::string ref_prefix;  // what refs of this document begin with
};

// An element, held by the browser until its document goes.
struct Element {
  std::string frame;
  std::string handle;
};

enum class MouseAction : std::uint8_t { kMove, kDown, kUp, kWheel };

struct MouseEvent {
  MouseAction action = MouseAction::kMove;
  Point at;
  std::string button = "none";  // left, right, middle
  unsigned click_count = 0;
  unsigned modifiers = 0;  // 1 Alt, 2 Control, 4 Meta, 8 Shift
  unsigned buttons = 0;    // held: 1 left, 2 right, 4 middle
  Point wheel;
};

struct KeyStroke {
  std::string key;   // "Enter", "a"
  std::string code;  // "Enter", "KeyA"
  std::string text;  // what it types, if anything
  unsigned key_code = 0;
  unsigned modifiers = 0;
  unsigned location = 0;
};

struct Picture {
  std::string bytes;
  std::string type;  // image/png, ...
};

struct PictureOptions {
  std::string format = "png";  // png, jpeg, webp
  int quality = 80;            // of the lossy ones
  bool is_full_page = false;
  bool is_css_scale = true;  // one pixel for each CSS pixel
  std::optional<Point> clip_at;
  double clip_width = 0;
  double clip_height = 0;
};

// What a page looked like at one moment, and what leads from a point of the picture to one of the
// page: the picture, whatever its size, shows `width` by `height` CSS pixels of the viewport, below
// `offset_top` of them that are not the page's.
struct ScreencastFrame {
  std::string picture;  // JPEG
  double width = 0;
  double height = 0;
  double offset_top = 0;
  double scale = 1;  // of a page that was zoomed by pinching
  double scroll_x = 0;
  double scroll_y = 0;
};

struct ScreencastOptions {
  int quality = 60;
  unsigned max_width = 1280;  // of the picture; the page is made smaller to fit
  unsigned max_height = 1280;
};

// Pictures of a page as it changes. One at a time: a browser sends a few ahead, and then none until
// it is told to go on; what changes meanwhile is seen in the next one, or never if that was the
// last change. Starting anew gives the present picture.
class Screencast {
 public:
  using OnFrame = std::function<void(ScreencastFrame frame)>;
  virtual ~Screencast() = default;
  // Ends one that runs. `told` is never called from within, nor after stop().
  virtual void start(ScreencastOptions options, OnFrame told) = 0;
  // All that came so far are taken.
  virtual void go_on() = 0;
  virtual void stop() = 0;
};

struct Navigation {
  int http_status = 0;     // 0: none, as of about:blank
  std::string error;       // the browser's, where nothing was loaded: net::ERR_…
  std::string failed_url;  // where it had got to by then, redirects followed; empty: not known
  bool is_download = false;
};

// A question of the page that stops it until it is answered.
struct Dialog {
  std::string kind;  // alert, confirm, prompt, beforeunload
  std::string message;
  std::string default_text;
};

struct NetworkRequest {
  std::string id;
  std::string method;
  std::string url;
  std::string kind;  // document, script, fetch, …
  int status = 0;    // 0: no answer yet
  std::string error;
  std::string request_headers = "{}";
  std::string response_headers = "{}";
  std::string post_data;
  std::string type;
  bool is_done = false;
};

// kRefused: the browser has too many of them, and it is cancelled without having begun.
enum class DownloadState : std::uint8_t { kBegun, kGoing, kDone, kCancelled, kRefused };

// What becomes of a file that a page downloads.
struct DownloadNews {
  std::string id;
  DownloadState state = DownloadState::kBegun;
  std::string suggested_name;  // of one that has begun, or was refused
  std::uint64_t received_bytes = 0;
  std::uint64_t total_bytes = 0;  // 0: nobody knows
};

// What is dropped onto a page from outside: files that the browser can read, and texts by type.
struct DropData {
  std::vector<std::string> files;
  std::vector<std::pair<std::string, std::string>> items;
};

// What the page has begun, for those who wait until it settles.
struct PageActivity {
  std::uint64_t requests = 0;     // that matter, since the page was opened
  std::uint64_t navigations = 0;  // likewise
  bool is_navigating = false;
};

// What scripts of a page have put off: how long until the last of their timers for soon is due, and
// whether they wait for frames.
struct PutOff {
  std::optional<Millis> timer;
  bool has_frames = false;
};
// When the watch for it ends: by this look, or if there is nothing.
enum class WatchEnd { kNow, kIfNone };

class Page {
 public:
  virtual ~Page() = default;
  // Its name in the browser.
  virtual const std::string& target() const = 0;
  virtual const std::string& opener() const = 0;
  virtual const std::string& url() const = 0;
  virtual const std::string& title() const = 0;
  // Scripts set titles, and a browser may not tell: a new one is asked for, and told as any change.
  virtual void ask_title() = 0;
  virtual bool is_crashed() const = 0;
  virtual bool is_closed() const = 0;

  // Until the document's content is there, and then at most `load_patience` for the rest.
  virtual rt::Task<Result<Navigation>> navigate(std::string url, rt::Deadline deadline) = 0;
  // What it is loading is given up, and whoever waits for it hears of that.
  virtual void stop_loading() = 0;
  // One entry back (-1) or forward (1); false if there is none.
  virtual rt::Task<Result<bool>> go(int by, rt::Deadline deadline) = 0;
  virtual rt::Task<Result<>> reload(rt::Deadline deadline) = 0;
  virtual rt::Task<Result<>> close(rt::Deadline deadline) = 0;
  virtual rt::Task<Result<>> bring_to_front(rt::Deadline deadline) = 0;

  // The page's own frame first.
  virtual std::vector<FrameInfo> frames() const = 0;
  // Calls a function of the page script (page/) in a frame: `function` takes (api, argument), and
  // its result, promises awaited, is JSON. A script that throws is kToolFailed with its words.
  virtual rt::Task<Result<std::string>> call(std::string frame, std::string function,
                                             std::string argument, rt::Deadline deadline) = 0;
  // The same; the result is an element.
  virtual rt::Task<Result<Element>> find(std::string frame, std::string function,
                                         std::string argument, rt::Deadline deadline) = 0;
  // `function` takes (api, element, argument).
  virtual rt::Task<Result<std::string>> call_on(Element element, std::string function,
                                                std::string argument, rt::Deadline deadline) = 0;
  // A function of the caller's, in the page's own world: with the element, if one is given. When
  // the scope is cancelled or its time is up, what still runs is stopped: a loop without end must
  // not be the page's last act.
  virtual rt::Task<Result<std::string>> evaluate(std::string function,
                                                 std::optional<Element> element,
                                                 rt::CancelScope& scope, rt::Deadline deadline) = 0;
  // The frame that an iframe element shows; empty if none.
  virtual rt::Task<Result<std::string>> frame_of(Element element, rt::Deadline deadline) = 0;
  // The element that shows a frame, in the one around it.
  virtual rt::Task<Result<Element>> owner_of(std::string frame, rt::Deadline deadline) = 0;
  // Where a frame's viewport begins in the page's.
  virtual rt::Task<Result<Point>> origin_of(std::string frame, rt::Deadline deadline) = 0;

  // Input goes to the page in the order of these calls. The last one of a gesture is awaited.
  virtual rt::Task<Result<>> mouse(std::vector<MouseEvent> gesture, rt::Deadline deadline) = 0;
  virtual rt::Task<Result<>> key(KeyStroke stroke, bool is_down, rt::Deadline deadline) = 0;
  virtual rt::Task<Result<>> insert_text(std::string text, rt::Deadline deadline) = 0;
  virtual rt::Task<Result<>> drop(Point at, DropData data, rt::Deadline deadline) = 0;
  virtual rt::Task<Result<>> set_files(Element element, std::vector<std::string> paths,
                                       rt::Deadline deadline) = 0;

  virtual rt::Task<Result<Picture>> picture(PictureOptions options, rt::Deadline deadline) = 0;
  virtual rt::Task<Result<std::string>> pdf(rt::Deadline deadline) = 0;
  // One for all who look; it lives as long as the page.
  virtual Screencast& screencast() = 0;
  virtual rt::Task<Result<>> resize(Viewport viewport, rt::Deadline deadline) = 0;
  // CSS media and features as JSON: {"media":"print","features":[{"name":…,"value":…}]}.
  virtual rt::Task<Result<>> emulate_media(std::string media, rt::Deadline deadline) = 0;

  virtual const std::optional<Dialog>& dialog() const = 0;
  virtual rt::Task<Result<>> answer_dialog(bool is_accepted, std::optional<std::string> text,
                                           rt::Deadline deadline) = 0;
  // Whether the page waits for files, and the element that asked.
  virtual std::optional<Element> file_chooser() const = 0;
  virtual void dismiss_file_chooser() = 0;

  virtual const std::vector<ConsoleMessage>& console() const = 0;
  virtual const std::vector<NetworkRequest>& requests() const = 0;
  // Both of these since the page was opened, of all its documents, the newest of them.
  virtual const PageJournal& journal() const = 0;
  virtual rt::Task<Result<std::string>> response_body(std::string request,
                                                      rt::Deadline deadline) = 0;
  virtual PageActivity activity() const = 0;
  // Requests begun after so many others, and not over.
  virtual std::size_t in_flight_since(std::uint64_t requests) const = 0;
  // From now on, what scripts of the page put off is watched. Scripts called after it find it
  // there; input takes another way into the page and overtakes it, so it is awaited before that.
  virtual void send_watch() = 0;
  virtual rt::Task<> watch(rt::Deadline deadline) = 0;
  // What they have put off and is yet to come. A page that is gone, or asks something, has nothing.
  virtual rt::Task<PutOff> put_off(WatchEnd end, rt::Deadline deadline) = 0;
  // Told when activity() or dialog() changes.
  virtual rt::Signal& changed() = 0;
};

// What a context tells of; on the browsers' loop, never from within a call of its owner's.
class ContextEvents {
 public:
  virtual ~ContextEvents() = default;
  virtual void on_page_opened(const std::shared_ptr<Page>& page) = 0;
  virtual void on_page_changed(Page& page) = 0;  // url or title, or it crashed
  virtual void on_page_closed(Page& page) = 0;
  virtual void on_dialog(Page& page) = 0;  // it asks something, or for files, or no longer does
  virtual void on_download(const DownloadNews& news) = 0;
  // Its browser is gone, and all of its pages with it.
  virtual void on_lost() = 0;
};

class Context {
 public:
  virtual ~Context() = default;
  virtual const std::string& name() const = 0;  // in the browser
  // The page is told of before this returns.
  virtual rt::Task<Result<std::shared_ptr<Page>>> open(std::string url, rt::Deadline deadline) = 0;
  virtual rt::Task<Result<>> close(rt::Deadline deadline) = 0;
  // Every page that the browser has announced by now is told of when this returns, unless one is
  // not ready by then: a link's new tab may load, and even download, before it is.
  virtual rt::Task<> pages_told(rt::Deadline deadline) = 0;

  // The file of a download that is done, open for reading, and gone from the browser's directory.
  virtual rt::Task<Result<rt::Descriptor>> take_download(std::string id) = 0;
  virtual void cancel_download(const std::string& id) = 0;
  // Where they go.
  virtual std::string download_directory() const = 0;
  // A client that was attached may have changed what becomes of them, and its leaving does.
  virtual void renew_downloads() = 0;
  // A new file of that name that the browser can read, for us to write; it goes with the context.
  virtual rt::Task<Result<LentFile>> lend_file(std::string name) = 0;

  virtual rt::Task<Result<std::vector<Cookie>>> cookies(rt::Deadline deadline) = 0;
  // One that has expired deletes what it names. kToolFailed for what the browser does not take.
  virtual rt::Task<Result<>> set_cookies(std::vector<Cookie> cookies, rt::Deadline deadline) = 0;
  virtual rt::Task<Result<>> clear_cookies(rt::Deadline deadline) = 0;
  // Local storage of the origins that pages have shown since this was last asked: those shown now,
  // and those that were left, which are read without asking the network.
  // Reading those takes a page that clients of the context could see: without `is_complete` they
  // are left for another time.
  virtual rt::Task<Result<std::vector<OriginStorage>>> local_storage(bool is_complete,
                                                                     rt::Deadline deadline) = 0;
  // Replaces the local storage of these origins, and of no others.
  virtual rt::Task<Result<>> set_local_storage(std::vector<OriginStorage> origins,
                                               rt::Deadline deadline) = 0;

  // Where programs that speak the browser's own protocol are let in; nothing if they are not.
  virtual std::optional<ProtocolAddress> protocol_address() const = 0;
  // One of them. It goes before the context does.
  virtual std::unique_ptr<ProtocolClient> admit(ProtocolHooks hooks) = 0;
  // While a person has taken over, input of all of them is refused.
  virtual void set_taken_over(bool is_taken_over) = 0;
};

struct BrowserHealth {
  std::string version;
  std::uint64_t memory_bytes = 0;  // what it and its children take, shared pages counted once
};

class Browser {
 public:
  virtual ~Browser() = default;
  // Ready to be used, and `events` told from then on; it outlives the context.
  virtual rt::Task<Result<std::shared_ptr<Context>>> new_context(ContextOptions options,
                                                                 ContextEvents& events,
                                                                 rt::Deadline deadline) = 0;
  virtual bool is_alive() const = 0;
  virtual int pid() const = 0;
  virtual const std::string& version() const = 0;
  // The contexts that the browser itself knows of; for those that compare.
  virtual rt::Task<Result<std::vector<std::string>>> context_names(rt::Deadline deadline) = 0;
  virtual rt::Task<Result<std::uint64_t>> memory() = 0;
  virtual rt::Task<> stop() = 0;
};

// Starts browsers of one kind.
class Driver {
 public:
  virtual ~Driver() = default;
  // Ends what an earlier server left running, and removes its files. Before the first start().
  virtual rt::Task<Result<>> sweep() = 0;
  virtual rt::Task<Result<std::shared_ptr<Browser>>> start(std::function<void()> on_gone) = 0;
  virtual std::string_view kind() const = 0;
};

}  // namespace reprise::browser
