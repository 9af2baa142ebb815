#include "api/parameters.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "model/session_state.h"

namespace reprise::api {

Result<session::SessionRef> parse_session_ref(std::string_view text) {
  if (const auto id = SessionId::parse(text)) return *id;
  REPRISE_TRY(auto key, model::parse_session_key(text));
  return session::SessionRef(std::move(key));
}

Result<std::uint64_t> parse_number(std::string_view name, std::string_view text,
                                   std::uint64_t least, std::uint64_t most) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < least || number > most)
    return fail(Code::kBadParameter,
                fmt::format("{} is '{}'; it must be a whole number from {} to {}", name, text,
                            least, most));
  return number;
}

Result<std::optional<std::uint64_t>> number_parameter(const http::Exchange& exchange,
                                                      std::string_view name, std::uint64_t least,
                                                      std::uint64_t most) {
  REPRISE_TRY(const auto text, exchange.query(name));
  if (!text) return std::nullopt;
  REPRISE_TRY(const std::uint64_t number, parse_number(name, *text, least, most));
  return number;
}

Result<std::optional<bool>> boolean_parameter(const http::Exchange& exchange,
                                              std::string_view name) {
  REPRISE_TRY(const auto text, exchange.query(name));
  if (!text) return std::nullopt;
  if (*text == "true") return true;
  if (*text == "false") return false;
  return fail(Code::kBadParameter,
              fmt::format("{} is '{}'; it must be true or false", name, *text));
}

Result<model::Vocabulary> vocabulary_parameter(const http::Exchange& exchange) {
  REPRISE_TRY(const auto name, exchange.query("vocabulary"));
  if (!name) return model::Vocabulary::kStandard;
  const auto vocabulary = model::parse_vocabulary(*name);
  if (!vocabulary)
    return fail(
        Code::kBadParameter,
        fmt::format("vocabulary is '{}'; there are browser, agent, registry, graph, connection, "
                    "execution",
                    *name));
  return *vocabulary;
}

namespace {

Result<std::optional<TimePoint>> time_parameter(const http::Exchange& exchange,
                                                std::string_view name) {
  REPRISE_TRY(const auto text, exchange.query(name));
  if (!text) return std::nullopt;
  REPRISE_TRY(const TimePoint at, parse_time(*text));
  return at;
}

// A comma-separated list of statuses. A word of another vocabulary stands for every status it is a
// word of.
Result<std::vector<model::Status>> status_parameter(const http::Exchange& exchange) {
  REPRISE_TRY(const auto text, exchange.query("status"));
  std::vector<model::Status> statuses;
  if (!text) return statuses;
  REPRISE_TRY(const auto vocabulary, vocabulary_parameter(exchange));
  std::string_view rest = *text;
  do {
    const std::size_t comma = rest.find(',');
    const std::string_view word = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    const std::size_t before = statuses.size();
    for (const model::Status status : model::kStatuses)
      if (model::word(status) == word) statuses.push_back(status);
    if (statuses.size() == before && vocabulary != model::Vocabulary::kStandard)
      for (const model::Status status : model::kStatuses)
        if (model::word(status, vocabulary) == word) statuses.push_back(status);
    if (statuses.size() == before) {
      const auto status = model::parse_status(word);
      if (!status) return fail(Code::kBadParameter, fmt::format("'{}' is not a status", word));
      statuses.push_back(*status);
    }
  } while (!rest.empty());
  return statuses;
}

}  // namespace

Result<session::Filter> filter_parameters(const http::Exchange& exchange) {
  session::Filter filter;
  REPRISE_TRY(filter.app, exchange.query("app"));
  REPRISE_TRY(filter.graph_id, exchange.query("graphId"));
  REPRISE_TRY(filter.owner_agent, exchange.query("ownerAgent"));
  REPRISE_TRY(filter.pool_key, exchange.query("poolKey"));
  REPRISE_TRY(filter.name_starts_with, exchange.query("q"));
  REPRISE_TRY(filter.created_after, time_parameter(exchange, "createdAfter"));
  REPRISE_TRY(filter.created_before, time_parameter(exchange, "createdBefore"));
  REPRISE_TRY(filter.statuses, status_parameter(exchange));
  REPRISE_TRY(const auto waiting, boolean_parameter(exchange, "waiting"));
  filter.only_waiting = waiting.value_or(false);
  filter.allowed_apps = exchange.principal.apps;
  if (filter.app && filter.app->empty()) return fail(Code::kBadParameter, "app is empty");
  if (filter.graph_id && filter.graph_id->empty())
    return fail(Code::kBadParameter, "graphId is empty");
  if (filter.owner_agent && filter.owner_agent->empty())
    return fail(Code::kBadParameter, "ownerAgent is empty");
  return filter;
}

Result<std::optional<std::uint64_t>> if_match(const http::Exchange& exchange) {
  const auto header = exchange.request.headers.get("if-match");
  if (!header || *header == "*") return std::nullopt;
  std::string_view tag = *header;
  while (tag.starts_with('"')) tag.remove_prefix(1);
  while (tag.ends_with('"')) tag.remove_suffix(1);
  std::uint64_t revision = 0;
  const auto [end, error] = std::from_chars(tag.data(), tag.data() + tag.size(), revision);
  if (error != std::errc{} || end != tag.data() + tag.size())
    return fail(Code::kPreconditionFailed,
                fmt::format("If-Match is {}, which no session has as its etag", *header));
  return revision;
}

}  // namespace reprise::api
