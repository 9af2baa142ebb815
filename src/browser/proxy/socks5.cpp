#include "browser/proxy/socks5.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace reprise::browser {
namespace {

constexpr char kVersion = 5;
constexpr char kNoCredentials = 0;
constexpr char kNameAndPassword = 2;
constexpr char kConnect = 1;
constexpr char kIpv4 = 1;
constexpr char kName = 3;
constexpr char kIpv6 = 4;

std::uint8_t byte(char c) { return static_cast<std::uint8_t>(c); }

void put_text(std::string& out, std::string_view text) {
  out.push_back(static_cast<char>(text.size()));
  out.append(text);
}

// RFC 1928, section 6.
std::string_view reason(std::uint8_t reply) {
  constexpr auto kReasons = std::to_array<std::string_view>(
      {"succeeded", "general failure", "not allowed", "network unreachable", "host unreachable",
       "connection refused", "time to live expired", "command not known",
       "kind of address not known"});
  return reply < kReasons.size() ? kReasons[reply] : "an unknown failure";
}

std::unexpected<Error> not_socks() {
  return fail(Code::kMalformedHttp, "the proxy does not speak SOCKS5");
}

}  // namespace

Socks5Dialogue::Socks5Dialogue(wire::Authority to, std::string user, std::string password)
    : to_(std::move(to)), user_(std::move(user)), password_(std::move(password)) {
  output_ = user_.empty() ? std::string{kVersion, 1, kNoCredentials}
                          : std::string{kVersion, 2, kNoCredentials, kNameAndPassword};
}

std::string Socks5Dialogue::take_output() { return std::exchange(output_, {}); }

std::size_t Socks5Dialogue::wanted() const {
  if (state_ != State::kReply) return 2;
  // Version, reply, reserved, kind of address, address, port.
  if (message_.size() < 5) return 5;
  if (message_[3] == kIpv4) return 4 + 4 + 2;
  if (message_[3] == kIpv6) return 4 + 16 + 2;
  return 4 + 1 + byte(message_[4]) + 2;
}

Result<std::size_t> Socks5Dialogue::feed(std::string_view bytes) {
  std::size_t used = 0;
  while (state_ != State::kDone) {
    while (message_.size() < wanted() && used < bytes.size()) message_.push_back(bytes[used++]);
    if (message_.size() < wanted()) break;
    REPRISE_CHECK(take_message());
    message_.clear();
  }
  return used;
}

Result<> Socks5Dialogue::take_message() {
  if (state_ == State::kCredentials) {
    if (message_[1] != 0) return fail(Code::kIo, "the proxy refused the user name and password");
    ask_for_connection();
    return {};
  }
  if (message_[0] != kVersion) return not_socks();
  if (state_ == State::kMethod) {
    if (message_[1] == kNoCredentials) {
      ask_for_connection();
      return {};
    }
    if (message_[1] != kNameAndPassword || user_.empty())
      return fail(Code::kIo, "the proxy wants other credentials than it was given");
    output_.push_back(1);
    put_text(output_, user_);
    put_text(output_, password_);
    state_ = State::kCredentials;
    return {};
  }
  if (message_[1] != 0)
    return fail(Code::kIo, fmt::format("the proxy says: {}", reason(byte(message_[1]))));
  if (message_[3] != kIpv4 && message_[3] != kIpv6 && message_[3] != kName) return not_socks();
  state_ = State::kDone;
  return {};
}

void Socks5Dialogue::ask_for_connection() {
  output_.append({kVersion, kConnect, 0});
  if (to_.address) {
    std::array<char, 16> raw{};
    const bool is_v4 = to_.address->is_v4();
    inet_pton(is_v4 ? AF_INET : AF_INET6, to_.host.c_str(), raw.data());
    output_.push_back(is_v4 ? kIpv4 : kIpv6);
    output_.append(raw.data(), is_v4 ? 4 : 16);
  } else {
    output_.push_back(kName);
    put_text(output_, to_.host);
  }
  output_.push_back(static_cast<char>(to_.port >> 8));
  output_.push_back(static_cast<char>(to_.port & 255));
  state_ = State::kReply;
}

}  // namespace reprise::browser
