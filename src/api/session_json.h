// A session's record as clients see it.
#pragma once

#include <string>

#include "model/status.h"
#include "session/actor.h"
#include "session/stored_session.h"

namespace reprise::api {

void append_session_json(std::string& out, const session::SessionView& view,
                         model::Vocabulary vocabulary = model::Vocabulary::kStandard);
std::string session_json(const session::SessionView& view,
                         model::Vocabulary vocabulary = model::Vocabulary::kStandard);
session::SessionView view_of(const session::StoredSession& stored, std::size_t subscribers);

// The strong validator of a record: "7", with its quotes.
std::string etag_of(std::uint64_t revision);

}  // namespace reprise::api
