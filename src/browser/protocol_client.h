// ProtocolClient: a program that speaks the browser's own protocol with one context, and sees
// nothing of the others in the same browser.
//
// It has one socket to us and one of its own to the browser; between the two stands the client. It
// reads messages and writes messages; sockets are its caller's (browser/attached_client.h).
//
//     auto client = context.admit(hooks);
//     client->from_client(text);    // each message of the program, in order
//     client->from_browser(text);   // each message of the browser, in order
//     client->leave();              // the program is gone, or its session has ended
//     client->closed();             // the browser's socket is gone; no hook is called after this
//
// While is_waiting(), messages of the program are not handed in; readable() says when to go on.
// After leave(), what the browser says is handed in until finished(), or for kMaxClientGoodbye.
//
// Threads: belongs to the browsers' loop. Hooks do not call back into the client.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "rt/loop.h"

namespace reprise::browser {

// Where a browser listens for clients, on this machine.
struct ProtocolAddress {
  std::uint16_t port = 0;
  std::string path;
};

// Something that a program did, for the record.
struct ProtocolCommand {
  std::string name;              // the protocol's own
  std::string arguments = "{}";  // JSON; what was typed is told by its length
  std::string target;            // the page's name in the browser; empty: none
  bool is_ok = true;
  std::string error;
  rt::Nanos began{0};  // on the loop's clock
  rt::Nanos ended{0};
};

using FilesFound = std::function<void(Result<std::vector<std::string>>)>;

struct ProtocolHooks {
  std::function<void(std::string message)> to_client;
  std::function<void(std::string message)> to_browser;
  std::function<void()> readable;
  std::function<void()> finished;
  // The program wants the browser closed, and is told that it is.
  std::function<void()> close_asked;
  // Before a page is sent somewhere: what to tell the program instead, if it may not.
  std::function<std::optional<std::string>(std::string_view url)> check_url;
  // What a program calls files, as files that the browser may read, as many; at once or later, and
  // once. An error is told to the program by its detail.
  std::function<void(std::vector<std::string> names, FilesFound found)> find_files;
  // Where the browser may put what is downloaded; empty: downloads are refused.
  std::function<std::string()> download_directory;
  std::function<void(ProtocolCommand command)> record;
};

class ProtocolClient {
 public:
  virtual ~ProtocolClient() = default;
  virtual void from_client(std::string message) = 0;
  virtual void from_browser(std::string message) = 0;
  virtual void leave() = 0;
  virtual void closed() = 0;
  virtual bool is_waiting() const = 0;
  // Commands that are not on record yet.
  virtual std::size_t unrecorded() const = 0;
};

}  // namespace reprise::browser
