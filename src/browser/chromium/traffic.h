// What a page loads and says: its requests and console messages, as events tell of them, bounded.
//
// Pure: no I/O. Threads: belongs to its page.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "browser/driver.h"
#include "browser/page_journal.h"
#include "wire/json.h"

namespace reprise::browser::chromium {

class Traffic {
 public:
  // True if it was an event of the Network domain, of the console or of the log.
  bool take(std::string_view method, wire::JsonValue params);
  // A new document: what was said and loaded before belongs to the old one.
  void begin_document();
  // A process of the page is gone: nothing of it finishes any more.
  void give_up();

  const std::vector<NetworkRequest>& requests() const { return requests_; }
  const std::vector<ConsoleMessage>& console() const { return console_; }
  // The newest of both, of earlier documents too.
  const PageJournal& journal() const { return journal_; }
  // Requests that others wait for: documents, scripts, styles and what scripts ask for.
  std::uint64_t started() const { return started_; }
  // Of these, begun after so many others, and not over.
  std::size_t in_flight_since(std::uint64_t started) const;
  // The answer to the request that brought a document, by its loader; 0: none.
  int document_status(const std::string& loader) const;
  // Where the latest documents were last asked for, redirects followed; empty for older ones.
  std::string document_url(const std::string& loader) const;

 private:
  void request(wire::JsonValue params);
  void response(wire::JsonValue params);
  void finished(wire::JsonValue params, std::string error);
  void say(ConsoleMessage message);
  NetworkRequest* find(const std::string& id);

  std::vector<NetworkRequest> requests_;
  std::unordered_map<std::string, std::size_t> places_;  // of requests_
  std::vector<ConsoleMessage> console_;
  PageJournal journal_;
  std::unordered_map<std::string, std::uint64_t> in_flight_;  // id to its number
  std::uint64_t started_ = 0;
  std::deque<std::pair<std::string, std::string>> documents_;  // loader and URL, oldest first
};

}  // namespace reprise::browser::chromium
