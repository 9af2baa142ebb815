// What a page said and asked for during a command, as it is kept beside the command's picture:
// without secrets, bounded, as JSON.
//
//     {"console":[{"level":"error","text":"…","place":"http://x/a.js:7"}],"consoleOmitted":0,
//      "requests":[{"method":"GET","url":"…","kind":"fetch","status":200,"type":"text/html",
//                   "error":null,"durationMs":12}],"requestsOmitted":0}
//
// Neither headers nor bodies are in it. Of a command that has more than limits.h allows, the newest
// are kept.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "browser/driver.h"
#include "browser/page_journal.h"
#include "model/redact.h"

namespace reprise::browser {

// How far the journals of some pages were. A page that was not there has been listened to from its
// beginning.
class JournalMarks {
 public:
  void add(const std::shared_ptr<Page>& page) { marks_.emplace_back(page, page->journal().mark()); }
  JournalMark of(const std::shared_ptr<Page>& page) const;

 private:
  std::vector<std::pair<std::weak_ptr<Page>, JournalMark>> marks_;
};

struct CommandLog {
  JournalPart part = {};
  // The command typed what nobody may read, and a page may say it in pieces: of messages and
  // addresses it is told that they were, and from where.
  bool hides_text = false;
};

std::string command_log_json(const CommandLog& log, const model::Redactor& redactor);

}  // namespace reprise::browser
