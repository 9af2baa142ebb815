#include "session/stream_end.h"

#include "model/event.h"
#include "model/status.h"
#include "wire/json.h"

namespace reprise::session {

void note_end(std::string_view bytes, std::optional<std::string>& end_reason) {
  const auto entry = model::decode_entry(bytes);
  if (!entry) return;
  if (entry->type == model::event_type::kSessionReset) end_reason.reset();
  if (entry->type != model::event_type::kStatusChange) return;
  const auto data = wire::parse_json(std::string(entry->data));
  const auto to = data ? data->root().find("to") : std::nullopt;
  const auto status = model::parse_status(to ? to->as_string().value_or("") : "");
  if (!status) return;
  end_reason.reset();
  if (model::is_terminal(*status)) end_reason = std::string(word(*status));
}

}  // namespace reprise::session
