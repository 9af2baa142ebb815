#include "browser/chromium/download_table.h"

#include <utility>

#include "browser/chromium/limits.h"

namespace reprise::browser::chromium {

bool DownloadTable::add(const std::string& id, KnownDownload download) {
  if (under_way_.size() >= kMaxBrowserDownloads && !download.context.empty()) forget_context("");
  if (under_way_.size() >= kMaxBrowserDownloads) return false;
  under_way_.insert_or_assign(id, std::move(download));
  return true;
}

KnownDownload* DownloadTable::find(const std::string& id) {
  const auto found = under_way_.find(id);
  return found == under_way_.end() ? nullptr : &found->second;
}

void DownloadTable::forget_context(const std::string& context) {
  std::erase_if(under_way_, [&](const auto& entry) { return entry.second.context == context; });
}

}  // namespace reprise::browser::chromium
