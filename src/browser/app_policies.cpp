#include "browser/app_policies.h"

#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

#include "base/json_text.h"
#include "session/browser_rows.h"

namespace reprise::browser {
namespace {

std::string texts_json(const std::vector<std::string>& texts) {
  std::string json = "[";
  for (const std::string& text : texts) {
    if (json.back() != '[') json += ',';
    append_json_string(json, text);
  }
  return json + ']';
}

Result<std::vector<std::string>> read_texts(const wire::JsonMember& member) {
  if (member.value.type() != wire::JsonType::kArray)
    return invalid('/' + member.name, "must be a list of texts");
  std::vector<std::string> texts;
  for (const wire::JsonValue element : member.value.elements()) {
    auto text = element.as_string();
    if (!text) return invalid('/' + member.name, "must be a list of texts");
    texts.push_back(std::move(*text));
  }
  return texts;
}

Result<> read_member(UrlPolicyOptions& options, const wire::JsonMember& member) {
  const std::array<std::pair<std::string_view, std::vector<std::string>*>, 3> lists{
      {{"schemes", &options.schemes}, {"allow", &options.allow}, {"deny", &options.deny}}};
  for (const auto& [name, list] : lists) {
    if (member.name != name) continue;
    REPRISE_TRY(*list, read_texts(member));
    return {};
  }
  const std::array<std::pair<std::string_view, bool*>, 3> switches{
      {{"allowLoopback", &options.allow_loopback},
       {"allowPrivate", &options.allow_private},
       {"allowLinkLocal", &options.allow_link_local}}};
  for (const auto& [name, is_on] : switches) {
    if (member.name != name) continue;
    const auto value = member.value.as_bool();
    if (!value) return invalid('/' + member.name, "must be true or false");
    *is_on = *value;
    return {};
  }
  return invalid('/' + member.name, "is not known");
}

}  // namespace

Result<UrlPolicyOptions> parse_url_policy(wire::JsonValue object) {
  if (object.type() != wire::JsonType::kObject) return invalid("", "must be an object");
  UrlPolicyOptions options;
  for (const wire::JsonMember& member : object.members())
    if (!member.value.is_null()) REPRISE_CHECK(read_member(options, member));
  // Each list by itself, so that the pointer says which one is wrong.
  for (const auto& [pointer, one] :
       {std::pair<std::string, UrlPolicyOptions>{"/schemes", {.schemes = options.schemes}},
        {"/allow", {.allow = options.allow}},
        {"/deny", {.deny = options.deny}}})
    if (const auto made = UrlPolicy::make(one); !made) return invalid(pointer, made.error().detail);
  return options;
}

std::string url_policy_json(const UrlPolicyOptions& options) {
  return fmt::format(R"({{"allow":{},"deny":{},"schemes":{},"allowLoopback":{},"allowPrivate":{},)"
                     R"("allowLinkLocal":{}}})",
                     texts_json(options.allow), texts_json(options.deny),
                     texts_json(options.schemes), options.allow_loopback, options.allow_private,
                     options.allow_link_local);
}

rt::Task<Result<std::optional<UrlPolicyOptions>>> read_app_policy(store::AsyncStore& store,
                                                                  std::string app) {
  REPRISE_CO_TRY(const auto record, co_await store.get(session::app_policy_key(app)));
  if (!record) co_return std::optional<UrlPolicyOptions>();
  const auto document = wire::parse_json(record->value);
  auto options = document ? parse_url_policy(document->root())
                          : Result<UrlPolicyOptions>(fail(document.error()));
  if (!options)
    co_return fail(Code::kCorrupt, fmt::format("the URL policy of '{}' does not decode", app));
  co_return std::optional(std::move(*options));
}

rt::Task<Result<>> write_app_policy(store::AsyncStore& store, std::string app,
                                    UrlPolicyOptions options) {
  store::Commit commit;
  commit.puts.push_back(
      {.key = session::app_policy_key(app), .value = url_policy_json(options), .only_if = {}});
  REPRISE_CO_CHECK(co_await store.commit(std::move(commit)));
  co_return Result<>{};
}

void erase_app_policy(store::Commit& commit, std::string_view app) {
  commit.erases.push_back({.key = session::app_policy_key(app), .only_if = {}});
}

rt::Task<Result<std::shared_ptr<const UrlPolicy>>> policy_of_session(
    session::SessionService& sessions, SessionId session,
    std::shared_ptr<const UrlPolicy> without_one) {
  REPRISE_CO_TRY(const auto view, co_await sessions.get(session));
  REPRISE_CO_TRY(auto options, co_await read_app_policy(sessions.store_here(), view.state.app));
  if (!options) co_return without_one;
  REPRISE_CO_TRY(UrlPolicy policy, UrlPolicy::make(std::move(*options)));
  co_return std::make_shared<const UrlPolicy>(std::move(policy));
}

}  // namespace reprise::browser
