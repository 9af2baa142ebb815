#include "rt/local_socket.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "rt/asio_native.h"
#include "rt/stream_socket.h"

namespace reprise::rt {
namespace {

using boost::asio::local::stream_protocol;

class LocalSocket final : public StreamSocket<stream_protocol> {
 public:
  using StreamSocket::StreamSocket;
  std::string peer_address() const override { return {}; }
};

}  // namespace

Result<LocalPair> local_pair(RealLoop& loop) {
  std::array<int, 2> numbers{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, numbers.data()) != 0)
    return fail(Code::kIo, fmt::format("no pair of sockets: {}", system_error(errno).detail));
  Descriptor ours(numbers[0]);
  Descriptor theirs(numbers[1]);
  stream_protocol::socket socket(loop.native().context);
  boost::system::error_code error;
  socket.assign(stream_protocol(), ours.number(), error);
  if (error) return fail(io_error(error));
  ours.release();
  return LocalPair{std::make_unique<LocalSocket>(std::move(socket)), std::move(theirs)};
}

}  // namespace reprise::rt
