#include "browser/chromium/frames.h"

#include <fmt/format.h>

#include "browser/limits.h"

namespace reprise::browser::chromium {

std::string Frame::ref_prefix() const {
  return document <= 1 ? std::string() : fmt::format("f{}", document);
}

void Frames::attach(const std::string& session, const std::string& id, const std::string& parent) {
  if (frames_.contains(id)) return;  // told by the process that gave it away as well
  if (frames_.size() >= kMaxFramesPerPage) return;
  if (parent.empty() && main_.empty()) main_ = id;
  frames_.emplace(id, Frame{.id = id,
                            .parent = parent,
                            .session = session,
                            .loader = {},
                            .url = {},
                            .document = ++last_document_,
                            .script = {}});
}

void Frames::navigated(const std::string& session, const std::string& id, const std::string& parent,
                       const std::string& loader, const std::string& url) {
  Frame* frame = find(id);
  if (frame == nullptr) {
    attach(session, id, parent);
    frame = find(id);
    if (frame == nullptr) return;
  } else if (frame->loader != loader && !(frame->loader.empty() && frame->document == 1)) {
    // The first document a page ever shows keeps number one.
    frame->document = ++last_document_;
  }
  if (frame->loader != loader) {
    frame->script.clear();
    frame->is_content_loaded = false;
    frame->is_loaded = false;
  }
  frame->session = session;
  frame->loader = loader;
  frame->url = url;
}

void Frames::lifecycle(const std::string& id, const std::string& loader, std::string_view name) {
  Frame* frame = find(id);
  if (frame == nullptr || frame->loader != loader) return;
  if (name == "DOMContentLoaded") frame->is_content_loaded = true;
  if (name == "load") frame->is_content_loaded = frame->is_loaded = true;
}

void Frames::detach(const std::string& id, bool is_swap) {
  if (!is_swap && id != main_) remove(id);
}

void Frames::remove(const std::string& id) {
  frames_.erase(id);
  std::vector<std::string> children;
  for (const auto& [child, frame] : frames_)
    if (frame.parent == id) children.push_back(child);
  for (const std::string& child : children) remove(child);
}

void Frames::moved(const std::string& id, const std::string& session) {
  Frame* frame = find(id);
  if (frame == nullptr) return;
  frame->session = session;
  frame->script.clear();
}

void Frames::session_ended(const std::string& session) {
  std::vector<std::string> gone;
  for (const auto& [id, frame] : frames_)
    if (frame.session == session && id != main_) gone.push_back(id);
  for (const std::string& id : gone) remove(id);
}

void Frames::scripts_gone(const std::string& session) {
  for (auto& [id, frame] : frames_)
    if (frame.session == session) frame.script.clear();
}

Frame* Frames::find(const std::string& id) {
  const auto found = frames_.find(id);
  return found == frames_.end() ? nullptr : &found->second;
}

const Frame* Frames::find(const std::string& id) const {
  const auto found = frames_.find(id);
  return found == frames_.end() ? nullptr : &found->second;
}

Frame* Frames::main() { return find(main_); }
const Frame* Frames::main() const { return find(main_); }

std::vector<FrameInfo> Frames::list() const {
  std::vector<FrameInfo> all;
  if (const Frame* own = main())
    all.push_back({.id = own->id, .parent = {}, .ref_prefix = own->ref_prefix()});
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string parent = all[i].id;
    for (const auto& [id, frame] : frames_)
      if (frame.parent == parent)
        all.push_back({.id = id, .parent = parent, .ref_prefix = frame.ref_prefix()});
  }
  return all;
}

}  // namespace reprise::browser::chromium
