// What a name says about the value beside it. Private to src/model.
//
//     is_known_secret_name("smtpPass");       // also DB_PASS and X-Api-Key; not compass
//     describes_secret("the PIN field");      // how tools of browsers say where they type
//
// Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace reprise::model {

// In lower case, without - _ . and blanks: how names are compared.
std::string normalised_name(std::string_view name);

// The last of the parts that - _ . or a change of case separate: Pass of smtpPass, PASS of DB_PASS;
// compass and OAuth are one part.
std::string_view last_part(std::string_view name);

// The rules that are built in; an operator's are the Redactor's.
bool is_known_secret_name(std::string_view name);

// A secret of this name has no blanks: what follows it on its line is something else.
bool is_one_word_secret(std::string_view name);

// {"name": …, "value": …}: members that name what another member holds,
bool is_naming(std::string_view member);
// those that describe where it goes ({"element": "Password field", "text": …}),
bool is_describing(std::string_view member);
bool describes_secret(std::string_view description);
// and those that hold it: for certain, or if it is one line (text, content: it may be a document).
bool is_value(std::string_view member);
bool is_typed(std::string_view member);

// Whether a list of texts with this one among its names is one of headers.
bool is_header_name(std::string_view name);

}  // namespace reprise::model
