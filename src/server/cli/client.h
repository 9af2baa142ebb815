// An HTTP client for the commands: one server, one connection, kept alive between requests.
//
//     Client client(loop, url, token, tls);
//     auto response = co_await client.send({.method = "GET", .target = "/v1/sessions"});
//
// Every wait has a limit (ClientTimeouts). A response of any status is a response; an error is a
// connection that could not be made, was lost or said nothing for too long. The token appears in
// the Authorization header and nowhere else, in no error either.
//
// Threads: everything on the loop's thread. The loop must outlive the client; when the client goes,
// nothing may be under way, and after a connect that ran into its limit the loop must have stopped.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "rt/socket.h"
#include "rt/tls.h"
#include "server/cli/running.h"
#include "server/cli/url.h"
#include "wire/http.h"

namespace reprise::server::cli {

struct ClientTimeouts {
  std::chrono::milliseconds connect{5'000};       // including TLS
  std::chrono::milliseconds response{60'000};     // silence while a response is awaited
  std::chrono::milliseconds stream_idle{45'000};  // the server sends heartbeats every 15 s
};

struct ClientRequest {
  std::string method = "GET";
  std::string target;  // path and query, without the URL's prefix
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;        // JSON, if not empty
  bool is_upload = false;  // the body comes from elsewhere, and the headers say all about it
  // Whether sending it twice does no harm: then it is sent again when a kept-alive connection turns
  // out to be dead.
  bool is_repeatable = true;
  // Silence while the response is awaited, where the server has much to do first.
  std::optional<std::chrono::milliseconds> patience = std::nullopt;
};

// What reads an event stream.
class StreamReader {
 public:
  virtual ~StreamReader() = default;
  // The server answered 200; bytes follow.
  virtual void on_open() = 0;
  // False: enough, close the stream.
  virtual bool on_bytes(std::string_view bytes) = 0;
  // Whether what is read has an end, as a file has.
  virtual bool may_end() const { return false; }
};

// What an upload sends.
class UploadSource {
 public:
  virtual ~UploadSource() = default;
  // Fills some of the buffer; 0 at the end. May block.
  virtual Result<std::size_t> read(std::span<char> buffer) = 0;
  // None: it ends when it ends.
  virtual std::optional<std::uint64_t> size() const = 0;
};

class Client {
 public:
  // `tls` is needed for https only.
  Client(rt::RealLoop& loop, Url url, std::string token,
         std::shared_ptr<rt::TlsContext> tls = nullptr, ClientTimeouts timeouts = {});
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // kIo or kDeadline, with the server's address; kBadParameter for a header that cannot be sent.
  rt::Task<Result<wire::Response>> send(ClientRequest request);

  // Reads a 200's body piece by piece, on a connection of its own. Returns the response (without
  // its body) when the reader has had enough, kClosed when the server ended it before; any other
  // status comes back whole.
  rt::Task<Result<wire::Response>> stream(ClientRequest request, StreamReader& reader);

  // Sends a body piece by piece, on a connection of its own, once the server has said that it wants
  // it. kBadRequest if the source is shorter than it said.
  rt::Task<Result<wire::Response>> upload(ClientRequest request, UploadSource& source);

  rt::RealLoop& loop() { return loop_; }
  const Url& url() const { return url_; }

 private:
  struct Opening;
  rt::Task<Result<std::unique_ptr<rt::Socket>>> open();
  rt::Task<Result<std::unique_ptr<rt::Socket>>> connect_all();
  rt::Task<> open_into(std::shared_ptr<Opening> opening);
  Result<std::string> head_of(const ClientRequest& request) const;
  rt::Task<Result<wire::Response>> exchange(std::string bytes, bool is_head, bool& was_answered);
  rt::Task<Result<std::size_t>> read(rt::Socket& socket, std::span<char> buffer,
                                     std::chrono::milliseconds limit);
  rt::Task<Result<>> write(rt::Socket& socket, std::string_view bytes);
  rt::Task<Result<>> write_all(rt::Socket& socket, UploadSource& source);
  std::unexpected<Error> lost(const Error& error) const;

  rt::RealLoop& loop_;
  Url url_;
  std::string token_;
  std::shared_ptr<rt::TlsContext> tls_;
  ClientTimeouts timeouts_;
  std::unique_ptr<rt::Socket> socket_;  // idle, to be used again
  std::vector<Running> openings_;
};

}  // namespace reprise::server::cli
