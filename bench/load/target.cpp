#include "target.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "net.h"
#include "resp_reader.h"

namespace reprise::load {
namespace {

constexpr std::string_view kOpening = R"({"type":"log","data":)";
constexpr std::size_t kTimeAt = kOpening.size() + 5;  // after {"t":
constexpr std::size_t kTimeDigits = 16;               // see now_ns()

// Text to cut paddings from: words of letters that come from a fixed seed. Events that were all
// alike would compress to nothing and flatter every store that compresses.
std::string make_words(std::size_t size) {
  std::string words;
  std::uint64_t seed = 0x9e3779b97f4a7c15;
  while (words.size() < size) {
    seed = seed * 6364136223846793005 + 1442695040888963407;
    const auto letter = static_cast<char>('a' + (seed >> 40) % 20);
    words += (seed >> 33) % 6 == 0 ? ' ' : letter;
  }
  return words;
}

constexpr std::size_t kWordBytes = 64 * 1024;

}  // namespace

Target parse_target(std::string_view name) {
  if (name == "reprise") return Target::kReprise;
  if (name == "durable-streams") return Target::kDurableStreams;
  if (name == "redis") return Target::kRedis;
  die("--target is reprise, durable-streams or redis");
}

Requests::Requests(Target target, std::uint16_t port, std::size_t event_size)
    : target_(target), host_("127.0.0.1:" + std::to_string(port)) {
  event_ = std::string(kOpening) + R"({"t":)" + std::string(kTimeDigits, '1') + R"(,"pad":")";
  pad_at_ = event_.size();
  constexpr std::string_view kClosing = R"("}})";
  const auto fixed = event_.size() + kClosing.size();
  pad_size_ = std::min(event_size > fixed ? event_size - fixed : 0, kWordBytes / 2);
  event_.append(pad_size_, ' ');
  event_ += kClosing;
  words_ = make_words(kWordBytes);
}

std::string_view Requests::event(std::uint64_t time) {
  std::to_chars(event_.data() + kTimeAt, event_.data() + kTimeAt + kTimeDigits, time);
  constexpr std::size_t kStep = 7919;
  words_at_ = (words_at_ + kStep) % (kWordBytes - pad_size_);
  std::memcpy(event_.data() + pad_at_, words_.data() + words_at_, pad_size_);
  return event_;
}

void Requests::put_post(std::string& out, std::string_view method, std::string_view path,
                        std::string_view body) {
  out += method;
  out += ' ';
  out += path;
  out += " HTTP/1.1\r\nHost: ";
  out += host_;
  out += "\r\nContent-Type: application/json\r\nContent-Length: ";
  out += std::to_string(body.size());
  out += "\r\n\r\n";
  out += body;
}

void Requests::put_get(std::string& out, std::string_view path) {
  out += "GET ";
  out += path;
  out += " HTTP/1.1\r\nHost: ";
  out += host_;
  out += "\r\n\r\n";
}

void Requests::put_append(std::string& out, std::string_view id, std::uint64_t batch,
                          std::uint64_t time) {
  if (target_ == Target::kRedis) {
    for (std::uint64_t i = 0; i < batch; ++i) {
      // The same words as fields; `data` is the JSON object.
      const auto text = event(time);
      const auto data = text.substr(kOpening.size(), text.size() - kOpening.size() - 1);
      put_command(out, {"XADD", id, "*", "type", "log", "data", data});
    }
    return;
  }
  body_.clear();
  if (batch > 1) body_ += target_ == Target::kReprise ? R"({"events":[)" : "[";
  for (std::uint64_t i = 0; i < batch; ++i) {
    if (i > 0) body_ += ',';
    body_ += event(time);
  }
  if (batch > 1) body_ += target_ == Target::kReprise ? "]}" : "]";
  if (target_ == Target::kReprise) {
    put_post(out, "POST", "/v1/sessions/" + std::string(id) + "/events", body_);
  } else {
    put_post(out, "POST", id, body_);
  }
}

void Requests::put_create(std::string& out, std::string_view name, bool is_named) {
  if (target_ == Target::kReprise) {
    put_post(out, "POST", "/v1/sessions",
             is_named ? R"({"name":")" + std::string(name) + R"("})" : "{}");
  } else {
    put_post(out, "PUT", "/v1/stream/bench/" + std::string(name), "");
  }
}

void Requests::put_stream(std::string& out, std::string_view id, std::uint64_t after) {
  const std::string log(id);
  if (target_ == Target::kReprise) {
    out += "GET /v1/sessions/" + log + "/events/stream?after=" + std::to_string(after);
  } else {
    out += "GET " + log + "?offset=" + (after == 0 ? "-1" : "now") + "&live=sse";
  }
  out += " HTTP/1.1\r\nHost: " + host_ + "\r\nAccept: text/event-stream\r\n\r\n";
}

}  // namespace reprise::load
