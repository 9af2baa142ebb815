#include "rt/input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "rt/asio_native.h"

namespace reprise::rt {
namespace {

// Waiting makes a descriptor non-blocking, and that is a property of the open file: of a terminal
// it is shared with standard output and with the shell. So it is opened once more; what cannot be
// (a socket) is not shared that way.
int open_again(int descriptor) {
  const std::string path = fmt::format("/proc/self/fd/{}", descriptor);
  const int own = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  return own >= 0 ? own : ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
}

}  // namespace

struct Input::Impl : std::enable_shared_from_this<Impl> {
  boost::asio::posix::stream_descriptor stream;
  std::function<void(std::string_view)> on_bytes;
  std::array<char, 1024> buffer;
  bool is_wanted = true;
  explicit Impl(RealLoop& loop) : stream(loop.native().context) {}
  void read() {
    stream.async_read_some(
        boost::asio::buffer(buffer),
        [self = shared_from_this()](const boost::system::error_code& error, std::size_t count) {
          if (!self->is_wanted) return;
          if (error) return self->on_bytes({});
          self->on_bytes({self->buffer.data(), count});
          if (self->is_wanted) self->read();
        });
  }
};

Input::Input(RealLoop& loop, int descriptor, std::function<void(std::string_view)> on_bytes)
    : impl_(std::make_shared<Impl>(loop)) {
  impl_->on_bytes = std::move(on_bytes);
  boost::system::error_code ignored;
  impl_->stream.assign(open_again(descriptor), ignored);
  impl_->read();
}

Input::~Input() {
  impl_->is_wanted = false;
  boost::system::error_code ignored;
  impl_->stream.close(ignored);
}

}  // namespace reprise::rt
