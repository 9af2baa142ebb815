#include "target.h"

#include <array>
#include <cstdio>

#include "net.h"
#include "resp_reader.h"

namespace reprise::load {
namespace {

constexpr std::string_view kOpening = R"({"type":"log","data":)";
constexpr std::size_t kTimeAt = kOpening.size() + 5;  // after {"t":
constexpr std::size_t kTimeDigits = 16;               // see now_ns()

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
  constexpr std::string_view kFiller = "the agent read a page and wrote a line about it; ";
  while (event_.size() + 3 < event_size) event_ += kFiller[event_.size() % kFiller.size()];
  event_ += R"("}})";
}

std::string_view Requests::event(std::uint64_t time) {
  std::array<char, 24> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llu", static_cast<unsigned long long>(time));
  event_.replace(kTimeAt, kTimeDigits, digits.data(), kTimeDigits);
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
  const auto text = event(time);
  if (target_ == Target::kRedis) {
    // The same words as fields; `data` is the JSON object.
    const auto data = text.substr(kOpening.size(), text.size() - kOpening.size() - 1);
    for (std::uint64_t i = 0; i < batch; ++i) {
      put_command(out, {"XADD", id, "*", "type", "log", "data", data});
    }
    return;
  }
  body_.clear();
  if (batch > 1) body_ += target_ == Target::kReprise ? R"({"events":[)" : "[";
  for (std::uint64_t i = 0; i < batch; ++i) {
    if (i > 0) body_ += ',';
    body_ += text;
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
