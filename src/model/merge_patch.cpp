// JSON Merge Patch (RFC 7396). Values that the patch leaves alone are copied as text, so that a
// number keeps its spelling. The recursion is as deep as the patch, and parse_json() has bounded
// that.
#include <unordered_map>

#include "base/json_text.h"
#include "model/decide.h"
#include "wire/json.h"

namespace reprise::model {
namespace {

using wire::JsonMember;
using wire::JsonType;
using wire::JsonValue;

class ObjectWriter {
 public:
  explicit ObjectWriter(std::string& out) : out_(out) { out_ += '{'; }
  void name(std::string_view name) {
    if (!is_first_) out_ += ',';
    is_first_ = false;
    append_json_string(out_, name);
    out_ += ':';
  }
  void end() { out_ += '}'; }

 private:
  std::string& out_;
  bool is_first_ = true;
};

// Appends what `patch` makes of `target`; nullopt is a target that is not there.
void merge(std::string& out, std::optional<JsonValue> target, JsonValue patch) {
  if (patch.type() != JsonType::kObject) {
    out += patch.minified();
    return;
  }
  ObjectWriter object(out);
  const std::vector<JsonMember> changes = patch.members();
  // Found by hash: an object of ten thousand members against another would otherwise be 10^8
  // comparisons.
  std::unordered_map<std::string_view, std::size_t> change_of;
  change_of.reserve(changes.size());
  for (std::size_t i = 0; i < changes.size(); ++i) change_of.emplace(changes[i].name, i);
  std::vector<bool> is_merged(changes.size(), false);

  if (target) {
    for (const JsonMember& member : target->members()) {  // none unless the target is an object
      const auto change = change_of.find(member.name);
      if (change == change_of.end()) {
        object.name(member.name);
        out += member.value.minified();
        continue;
      }
      is_merged[change->second] = true;
      const JsonValue value = changes[change->second].value;
      if (value.is_null()) continue;
      object.name(member.name);
      merge(out, member.value, value);
    }
  }
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (is_merged[i] || changes[i].value.is_null()) continue;
    object.name(changes[i].name);
    merge(out, std::nullopt, changes[i].value);
  }
  object.end();
}

}  // namespace

Result<std::string> merge_patch(std::string_view target, std::string_view patch) {
  REPRISE_TRY(const wire::JsonDocument target_document, wire::parse_json(std::string(target)));
  REPRISE_TRY(const wire::JsonDocument patch_document, wire::parse_json(std::string(patch)));
  if (target_document.root().type() != JsonType::kObject)
    return invalid("", "the target of a merge patch must be an object");
  if (patch_document.root().type() != JsonType::kObject)
    return invalid("", "the merge patch must be an object");
  std::string merged;
  merged.reserve(target.size() + patch.size());
  merge(merged, target_document.root(), patch_document.root());
  return merged;
}

}  // namespace reprise::model
