#include "server/cli/recorded_command.h"

namespace reprise::server::cli {
namespace {

std::string json_of(wire::JsonValue object, std::string_view name) {
  const auto value = object.find(name);
  return value && value->type() == wire::JsonType::kObject ? value->minified() : "{}";
}

}  // namespace

std::string text_member(wire::JsonValue object, std::string_view name) {
  const auto value = object.find(name);
  return value ? value->as_string().value_or("") : "";
}

RecordedCommand read_command(wire::JsonValue command) {
  RecordedCommand read;
  const auto seq = command.find("seq");
  read.seq = seq ? seq->as_uint().value_or(0) : 0;
  read.tool = text_member(command, "tool");
  read.source = text_member(command, "source");
  read.args = json_of(command, "args");
  read.target = json_of(command, "target");
  read.targets = json_of(command, "targets");
  const auto ok = command.find("ok");
  read.is_ok = ok && ok->as_bool().value_or(false);
  if (const auto error = command.find("error")) {
    read.error_code = text_member(*error, "code");
    read.error = text_member(*error, "message");
  }
  read.tab = text_member(command, "tabId");
  const auto page = command.find("page");
  if (page && page->type() == wire::JsonType::kObject) {
    read.url = text_member(*page, "url");
    read.title = text_member(*page, "title");
  }
  if (const auto capture = command.find("capture"))
    read.snapshot = text_member(*capture, "snapshot");
  return read;
}

}  // namespace reprise::server::cli
