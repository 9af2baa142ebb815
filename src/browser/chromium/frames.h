// The frames of one page, as events tell of them, over all processes that show them.
//
// A frame keeps its id when another process takes it over; its document gets a new number with
// every navigation, so that what was found in an old document is never taken for something in the
// new one. The first document of a page has no prefix for its refs, every later one has `f` and its
// number.
//
// Pure: no I/O. Threads: belongs to its page.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "browser/driver.h"

namespace reprise::browser::chromium {

struct Frame {
  std::string id;
  std::string parent;   // empty: the page's own
  std::string session;  // of the process that shows it
  std::string loader;
  std::string url;
  std::uint64_t document = 0;
  std::string script;  // the page script in this document; empty: not there yet
  int world = 0;       // what it runs in, while it is there
  bool is_content_loaded = false;
  bool is_loaded = false;

  std::string ref_prefix() const;
};

class Frames {
 public:
  // Limits what a page can make us remember.
  void attach(const std::string& session, const std::string& id, const std::string& parent);
  void navigated(const std::string& session, const std::string& id, const std::string& parent,
                 const std::string& loader, const std::string& url);
  void lifecycle(const std::string& id, const std::string& loader, std::string_view name);
  // `is_swap`: another process takes it over, and the frame stays.
  void detach(const std::string& id, bool is_swap);
  // Another process shows this frame from now on.
  void moved(const std::string& id, const std::string& session);
  // That process is gone: its frames are, unless another has taken them over.
  void session_ended(const std::string& session);
  // The scripts of a process are gone, as after a navigation.
  void scripts_gone(const std::string& session);

  Frame* find(const std::string& id);
  const Frame* find(const std::string& id) const;
  // The page's own; nullptr before the first event.
  Frame* main();
  const Frame* main() const;
  // The page's own first, parents before children.
  std::vector<FrameInfo> list() const;
  std::size_t size() const { return frames_.size(); }

 private:
  void remove(const std::string& id);
  std::map<std::string, Frame> frames_;
  std::string main_;
  std::uint64_t last_document_ = 0;
};

}  // namespace reprise::browser::chromium
