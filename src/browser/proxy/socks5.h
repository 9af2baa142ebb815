// The client's side of a SOCKS5 dialogue (RFC 1928; name and password as of RFC 1929): bytes out,
// bytes in, until the proxy has connected. No I/O.
//
//     Socks5Dialogue dialogue(at, user, password);
//     while (!dialogue.is_done()) { send(dialogue.take_output()); feed what comes; }
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "wire/url.h"

namespace reprise::browser {

class Socks5Dialogue {
 public:
  // Without a user no credentials are offered.
  Socks5Dialogue(wire::Authority to, std::string user, std::string password);

  // What is to be sent now; empty when it is the proxy's turn.
  std::string take_output();
  // Takes bytes and returns how many were used: those behind the dialogue belong to the server.
  // kIo, with what the proxy said, when it does not connect; kMalformedHttp for no SOCKS5.
  Result<std::size_t> feed(std::string_view bytes);
  bool is_done() const { return state_ == State::kDone; }

 private:
  enum class State : std::uint8_t { kMethod, kCredentials, kReply, kDone };
  // How many bytes the present message has, as far as those that are here tell.
  std::size_t wanted() const;
  Result<> take_message();
  void ask_for_connection();

  wire::Authority to_;
  std::string user_;
  std::string password_;
  State state_ = State::kMethod;
  std::string output_;
  std::string message_;  // what has come of the present one
};

}  // namespace reprise::browser
