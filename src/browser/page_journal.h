// PageJournal: what a page said and asked for lately, whatever documents it has shown meanwhile;
// for whoever wants to know what happened during something.
//
//     const JournalMark before = journal.mark();
//     …                                             // a click, say, that leaves the page
//     const JournalPart part = journal.between(before, journal.mark());
//
// It keeps the newest messages and requests (limits.h); a part says how many of its own are gone.
// A request belongs to where it began, and is told with what has become of it since.
//
// Pure: no I/O. Threads: belongs to its page.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace reprise::browser {

struct ConsoleMessage {
  std::string level;  // error, warning, info, debug
  std::string text;
  std::string place;  // url:line
};

struct JournalRequest {
  std::string method;
  std::string url;
  std::string kind;                               // document, script, fetch, …
  int status = 0;                                 // 0: no answer yet
  std::string type;                               // of the answer: text/html, …
  std::string error;                              // of one that failed: net::ERR_…
  std::optional<Millis> duration = std::nullopt;  // of one that is over
};

struct JournalMark {
  std::uint64_t messages = 0;
  std::uint64_t requests = 0;
};

struct JournalPart {
  std::vector<ConsoleMessage> console;
  std::uint64_t lost_messages = 0;
  std::vector<JournalRequest> requests;
  std::uint64_t lost_requests = 0;
  bool is_empty() const { return console.empty() && requests.empty(); }
};

class PageJournal {
 public:
  void said(ConsoleMessage message);
  // Times are seconds of any clock that does not stand still; ids are those of requests that are
  // under way: one that is used again is another request.
  void asked(std::string id, JournalRequest request, double at);
  void answered(std::string_view id, int status, std::string type);
  void over(std::string_view id, std::string error, double at);

  JournalMark mark() const { return {.messages = messages_, .requests = begun_}; }
  JournalPart between(JournalMark from, JournalMark to) const;

 private:
  struct Asked {
    std::string id;
    JournalRequest request;
    double began = 0;
  };
  Asked* find(std::string_view id);

  std::deque<ConsoleMessage> console_;
  std::deque<Asked> requests_;
  std::uint64_t messages_ = 0;  // ever
  std::uint64_t begun_ = 0;     // likewise
};

}  // namespace reprise::browser
