#include "browser/chromium/traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "browser/chromium/json_access.h"
#include "browser/limits.h"

namespace reprise::browser::chromium {
namespace {

// Documents, those of frames included, of which it is known where they were asked for.
constexpr std::size_t kRecentDocuments = 32;

std::string cut(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  // Not in the middle of a character.
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  text.resize(most);
  return text + "…";
}

bool is_waited_for(std::string_view kind) {
  return kind == "document" || kind == "script" || kind == "stylesheet" || kind == "xhr" ||
         kind == "fetch";
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string headers_of(wire::JsonValue value) {
  const auto headers = value.find("headers");
  if (!headers || headers->type() != wire::JsonType::kObject) return "{}";
  std::string json = headers->minified();
  return json.size() <= kMaxKeptHeaderBytes ? json : "{}";
}

// When it was, by the browser's own clock.
double seconds_of(wire::JsonValue params) {
  const auto at = params.find("timestamp");
  return at ? at->as_double().value_or(0) : 0;
}

// What a console call was given, as a person would read it.
std::string said(wire::JsonValue arguments) {
  std::string text;
  for (const wire::JsonValue argument : arguments.elements()) {
    if (!text.empty()) text += ' ';
    const auto value = argument.find("value");
    if (value && value->type() == wire::JsonType::kString)
      text += value->as_string().value_or("");
    else if (value)
      text += value->minified();
    else if (const auto description = argument.find("description"))
      text += description->as_string().value_or("");
    else
      text += text_of(argument, "type");
    if (text.size() > kMaxConsoleTextBytes) break;
  }
  return text;
}

std::string console_level(std::string_view kind) {
  if (kind == "error" || kind == "assert") return "error";
  if (kind == "warning") return "warning";
  if (kind == "debug" || kind == "trace") return "debug";
  return "info";
}

std::string place_of_stack(wire::JsonValue params) {
  const auto stack = params.find("stackTrace");
  const auto frames = stack ? stack->find("callFrames") : std::nullopt;
  if (!frames) return {};
  const auto elements = frames->elements();
  if (elements.empty()) return {};
  return fmt::format("{}:{}", text_of(elements.front(), "url"),
                     number_of(elements.front(), "lineNumber") + 1);
}

}  // namespace

bool Traffic::take(std::string_view method, wire::JsonValue params) {
  if (method == "Network.requestWillBeSent")
    request(params);
  else if (method == "Network.responseReceived")
    response(params);
  else if (method == "Network.loadingFinished")
    finished(params, {});
  else if (method == "Network.loadingFailed")
    finished(params, text_of(params, "errorText"));
  else if (method == "Runtime.consoleAPICalled") {
    const auto arguments = params.find("args");
    say({.level = console_level(text_of(params, "type")),
         .text = arguments ? said(*arguments) : "",
         .place = place_of_stack(params)});
  } else if (method == "Runtime.exceptionThrown") {
    const auto details = params.find("exceptionDetails");
    if (!details) return true;
    const auto exception = details->find("exception");
    std::string text = exception ? text_of(*exception, "description") : "";
    if (text.empty()) text = text_of(*details, "text");
    say({.level = "error",
         .text = std::move(text),
         .place = fmt::format("{}:{}", text_of(*details, "url"),
                              number_of(*details, "lineNumber") + 1)});
  } else if (method == "Log.entryAdded") {
    const auto entry = params.find("entry");
    if (!entry) return true;
    say({.level = console_level(text_of(*entry, "level")),
         .text = text_of(*entry, "text"),
         .place = fmt::format("{}:{}", text_of(*entry, "url"), number_of(*entry, "lineNumber"))});
  } else {
    return method.starts_with("Network.");
  }
  return true;
}

void Traffic::request(wire::JsonValue params) {
  const auto sent = params.find("request");
  const std::string id = text_of(params, "requestId");
  if (!sent || id.empty()) return;
  const std::string kind = lower(text_of(params, "type"));
  if (is_waited_for(kind) && in_flight_.size() < kMaxKeptRequests) {
    in_flight_[id] = ++started_;
  }
  const double at = seconds_of(params);
  // A redirect is a new request with the same id: the first one ends with its answer.
  if (const auto redirect = params.find("redirectResponse")) {
    journal_.answered(id, number_of(*redirect, "status"), text_of(*redirect, "mimeType"));
    journal_.over(id, {}, at);
    if (NetworkRequest* before = find(id)) {
      before->status = number_of(*redirect, "status");
      before->response_headers = headers_of(*redirect);
      before->is_done = true;
    }
    places_.erase(id);
  }
  if (kind == "document" && id == text_of(params, "loaderId")) {
    std::erase_if(documents_, [&](const auto& one) { return one.first == id; });
    documents_.emplace_back(id, cut(text_of(*sent, "url"), kMaxKeptUrlBytes));
    if (documents_.size() > kRecentDocuments) documents_.pop_front();
  }
  journal_.asked(id,
                 {.method = text_of(*sent, "method"),
                  .url = cut(text_of(*sent, "url"), kMaxKeptUrlBytes),
                  .kind = kind,
                  .type = {},
                  .error = {}},
                 at);
  if (requests_.size() >= kMaxKeptRequests) return;
  places_[id] = requests_.size();
  requests_.push_back({.id = id,
                       .method = text_of(*sent, "method"),
                       .url = cut(text_of(*sent, "url"), kMaxKeptUrlBytes),
                       .kind = kind,
                       .error = {},
                       .request_headers = headers_of(*sent),
                       .post_data = cut(text_of(*sent, "postData"), kMaxKeptPostBytes),
                       .type = {}});
}

void Traffic::response(wire::JsonValue params) {
  const std::string id = text_of(params, "requestId");
  const auto received = params.find("response");
  if (!received) return;
  journal_.answered(id, number_of(*received, "status"), text_of(*received, "mimeType"));
  NetworkRequest* found = find(id);
  if (found == nullptr) return;
  found->status = number_of(*received, "status");
  found->type = text_of(*received, "mimeType");
  found->response_headers = headers_of(*received);
}

void Traffic::finished(wire::JsonValue params, std::string error) {
  const std::string id = text_of(params, "requestId");
  in_flight_.erase(id);
  journal_.over(id, error, seconds_of(params));
  if (NetworkRequest* found = find(id)) {
    found->is_done = true;
    found->error = std::move(error);
  }
}

void Traffic::say(ConsoleMessage message) {
  message.text = cut(std::move(message.text), kMaxConsoleTextBytes);
  message.place = cut(std::move(message.place), kMaxKeptUrlBytes);
  journal_.said(message);
  // The oldest half goes at once, so that a page that talks without end costs little.
  if (console_.size() >= kMaxConsoleMessages)
    console_.erase(console_.begin(),
                   console_.begin() + static_cast<std::ptrdiff_t>(kMaxConsoleMessages / 2));
  console_.push_back(std::move(message));
}

void Traffic::begin_document() {
  // What is still under way stays: it may be the new document's.
  std::vector<NetworkRequest> kept;
  places_.clear();
  for (NetworkRequest& one : requests_) {
    if (one.is_done) continue;
    places_[one.id] = kept.size();
    kept.push_back(std::move(one));
  }
  requests_ = std::move(kept);
  console_.clear();
}

void Traffic::give_up() { in_flight_.clear(); }

std::size_t Traffic::in_flight_since(std::uint64_t started) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      in_flight_, [started](const auto& one) { return one.second > started; }));
}

NetworkRequest* Traffic::find(const std::string& id) {
  const auto place = places_.find(id);
  return place == places_.end() ? nullptr : &requests_[place->second];
}

std::string Traffic::document_url(const std::string& loader) const {
  const auto found =
      std::ranges::find(documents_, loader, &std::pair<std::string, std::string>::first);
  return found == documents_.end() ? std::string() : found->second;
}

int Traffic::document_status(const std::string& loader) const {
  // A document's request has its loader's id.
  const auto place = places_.find(loader);
  return place == places_.end() ? 0 : requests_[place->second].status;
}

}  // namespace reprise::browser::chromium
