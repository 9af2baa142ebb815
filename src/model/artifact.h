// Artifacts: the files of a session, by logical path. Pure rules: which paths, kinds and content
// types there are, and the events that tell of them.
//
// A path is relative, with `/` between its parts: `workspace/report.md`. What is under `tmp/` goes
// when the session ends or is reset; everything else is kept. No path ever reaches a file system.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/time.h"
#include "model/event.h"

namespace reprise::model {

enum class ArtifactKind : std::uint8_t { kCode, kNote, kLog, kAttachment, kOther };
inline constexpr std::array kArtifactKinds = {ArtifactKind::kCode, ArtifactKind::kNote,
                                              ArtifactKind::kLog, ArtifactKind::kAttachment,
                                              ArtifactKind::kOther};
std::string_view word(ArtifactKind kind);
std::optional<ArtifactKind> parse_artifact_kind(std::string_view text);

// kBadPath for one that is empty, absolute, too long or not UTF-8, that has an empty part, `.`,
// `..`, a backslash or a control character, or that is a mount itself.
Result<> check_artifact_path(std::string_view path);
// Whether it goes with the session's end.
bool is_temporary(std::string_view path);

inline constexpr std::string_view kDefaultContentType = "application/octet-stream";
// `type/subtype` with parameters, as a header may say it: kBadParameter.
Result<> check_content_type(std::string_view type);
// Whether versions of this type are compared line by line: text/*, JSON, XML, YAML and the like.
bool is_text_type(std::string_view type);

// What a browser does with the bytes: it saves them, under the last part of the path.
std::string content_disposition(std::string_view path);

struct ArtifactVersion {
  std::string path;
  std::uint64_t version = 0;
  ArtifactKind kind = ArtifactKind::kOther;
  std::string content_type;
  std::uint64_t size = 0;
  std::string sha256;  // 32 bytes
};

Event artifact_created(const ArtifactVersion& version, TimePoint now, std::string by);
// `version` of one that was removed alone; none: all of them, so many.
Event artifact_deleted(std::string_view path, std::optional<std::uint64_t> version,
                       std::uint64_t versions, TimePoint now, std::string by);
// Told after artifact_created, where the two versions are texts.
Event artifact_diff(std::string_view path, std::uint64_t from, std::uint64_t to,
                    std::string_view diff, TimePoint now, std::string by);

// Events that tell of artifacts; the session's record does not change by them.
bool is_artifact_type(std::string_view type);

}  // namespace reprise::model
