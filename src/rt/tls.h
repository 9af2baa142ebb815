// TLS on an accepted or connected socket, by OpenSSL.
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "rt/cancel.h"
#include "rt/socket.h"
#include "rt/task.h"

namespace reprise::rt {

// Certificates and settings, shared by all connections. Threads: any, after it is made.
class TlsContext {
 public:
  // A server's: a PEM chain and its key. TLS 1.2 and up.
  static Result<std::shared_ptr<TlsContext>> server(const std::string& certificate_file,
                                                    const std::string& key_file);
  // A client's, which checks the server's name against the system's authorities, or
  // `authority_file` if given.
  static Result<std::shared_ptr<TlsContext>> client(const std::string& authority_file);
  ~TlsContext();

  struct Native;
  Native& native() { return *native_; }
  explicit TlsContext(std::unique_ptr<Native> native);

 private:
  std::unique_ptr<Native> native_;
};

// Does the handshake and gives the encrypted socket. The plain one is consumed, also on failure,
// so the scope and the deadline are what ends a handshake with a peer that says nothing.
Task<Result<std::unique_ptr<Socket>>> accept_tls(std::shared_ptr<TlsContext> context,
                                                 std::unique_ptr<Socket> plain, CancelScope& scope,
                                                 Deadline deadline);
Task<Result<std::unique_ptr<Socket>>> connect_tls(std::shared_ptr<TlsContext> context,
                                                  std::unique_ptr<Socket> plain,
                                                  std::string server_name, CancelScope& scope,
                                                  Deadline deadline);
// The same without an end.
Task<Result<std::unique_ptr<Socket>>> accept_tls(std::shared_ptr<TlsContext> context,
                                                 std::unique_ptr<Socket> plain);
Task<Result<std::unique_ptr<Socket>>> connect_tls(std::shared_ptr<TlsContext> context,
                                                  std::unique_ptr<Socket> plain,
                                                  std::string server_name);

}  // namespace reprise::rt
