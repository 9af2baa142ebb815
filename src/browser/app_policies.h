// What the pages of an app's browsers may reach, as the app's owner says it (browser/url_policy.h).
//
//     {"allow": ["*.example.com"], "deny": ["ads.example.com"], "schemes": ["file"],
//      "allowLoopback": true, "allowPrivate": true, "allowLinkLocal": false}
//
// It stands in a record of its own, `B U app`, and holds for contexts that are opened from then on.
// An app without one has the server's.
//
// Threads: on any loop of the session service, with that loop's store.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "browser/url_policy.h"
#include "rt/task.h"
#include "session/service.h"
#include "store/async.h"
#include "store/commit.h"
#include "wire/json.h"

namespace reprise::browser {

// kInvalid, with a pointer to what is wrong.
Result<UrlPolicyOptions> parse_url_policy(wire::JsonValue object);
// With all members; parse_url_policy() reads it back.
std::string url_policy_json(const UrlPolicyOptions& options);

// Nothing where the app has none of its own.
rt::Task<Result<std::optional<UrlPolicyOptions>>> read_app_policy(store::AsyncStore& store,
                                                                  std::string app);
rt::Task<Result<>> write_app_policy(store::AsyncStore& store, std::string app,
                                    UrlPolicyOptions options);
// Part of a commit, or one of its own.
void erase_app_policy(store::Commit& commit, std::string_view app);

// The policy of the app that a session is of. Where it cannot be read nothing is opened.
rt::Task<Result<std::shared_ptr<const UrlPolicy>>> policy_of_session(
    session::SessionService& sessions, SessionId session,
    std::shared_ptr<const UrlPolicy> without_one);

}  // namespace reprise::browser
