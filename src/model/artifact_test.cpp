#include "model/artifact.h"

#include <gtest/gtest.h>

#include "base/hash.h"
#include "model/limits.h"

namespace reprise::model {
namespace {

Code path_code(std::string_view path) {
  const auto checked = check_artifact_path(path);
  return checked ? Code::kInternal : checked.error().code;
}

TEST(ArtifactPath, IsRelativeAndPlain) {
  for (const std::string_view path :
       {"a", "workspace/report.md", "tmp/x", "a/b/c.d/..e", "...", "a b", "\xc3\xa9/\xe6\x97\xa5",
        "tmpfile", "workspace2", "a/tmp"})
    EXPECT_TRUE(check_artifact_path(path)) << path;
  for (const std::string_view path :
       {"",     "/",     "/etc/passwd", "..",    ".",
        "a/..", "../a",  "a/../b",      "a/./b", "a//b",
        "a/",   "tmp",   "workspace",   "tmp/",  "a\\b",
        "a\nb", "a\x7f", "\xc2\x85",    "\xff",  "a/\xc0\xae\xc0\xae/b"})
    EXPECT_EQ(path_code(path), Code::kBadPath) << path;
  EXPECT_EQ(path_code(std::string_view("a\0b", 3)), Code::kBadPath);
}

TEST(ArtifactPath, HasALimit) {
  EXPECT_TRUE(check_artifact_path(std::string(kMaxArtifactPathBytes, 'a')));
  EXPECT_EQ(path_code(std::string(kMaxArtifactPathBytes + 1, 'a')), Code::kBadPath);
}

TEST(ArtifactPath, IsTemporaryUnderTmp) {
  EXPECT_TRUE(is_temporary("tmp/a"));
  for (const std::string_view path : {"workspace/tmp/a", "tmpa", "tmp2/a", "a"})
    EXPECT_FALSE(is_temporary(path)) << path;
}

TEST(ArtifactKinds, HaveWords) {
  for (const ArtifactKind kind : kArtifactKinds) EXPECT_EQ(parse_artifact_kind(word(kind)), kind);
  EXPECT_FALSE(parse_artifact_kind("Code"));
  EXPECT_FALSE(parse_artifact_kind(""));
}

TEST(ContentType, IsAMediaType) {
  for (const std::string_view type : {"text/plain", "text/plain; charset=utf-8", "image/svg+xml",
                                      "application/x-y.z", "TEXT/HTML ;a=\"b c\""})
    EXPECT_TRUE(check_content_type(type)) << type;
  for (const std::string_view type : {"", "text", "text/", "/plain", "text/pl ain", "a/b/c",
                                      "text/plain\x01", "text/\xc3\xa9", "; charset=utf-8"})
    EXPECT_FALSE(check_content_type(type)) << type;
  const std::string longest = "text/" + std::string(kMaxContentTypeBytes - 5, 'x');
  EXPECT_TRUE(check_content_type(longest));
  EXPECT_FALSE(check_content_type(longest + "x"));
}

TEST(ContentType, SaysWhatIsText) {
  for (const std::string_view type : {"text/plain", "TEXT/x-python; charset=utf-8",
                                      "application/json", "application/ld+json", "image/svg+xml"})
    EXPECT_TRUE(is_text_type(type)) << type;
  for (const std::string_view type : {"application/octet-stream", "image/png", "application/zip"})
    EXPECT_FALSE(is_text_type(type)) << type;
}

TEST(ContentDisposition, SavesUnderTheLastPartWhateverItIs) {
  EXPECT_EQ(content_disposition("workspace/a.txt"),
            "attachment; filename=\"a.txt\"; filename*=UTF-8''a.txt");
  EXPECT_EQ(content_disposition("a\";x=\"%41.html"),
            "attachment; filename=\"a_;x=__41.html\"; filename*=UTF-8''a%22%3Bx%3D%22%2541.html");
  EXPECT_EQ(content_disposition("\xc3\xa9 b"),
            "attachment; filename=\"__ b\"; filename*=UTF-8''%C3%A9%20b");
}

TEST(ArtifactEvents, TellWhatHappened) {
  const ArtifactVersion version{.path = "a",
                                .version = 2,
                                .kind = ArtifactKind::kCode,
                                .content_type = "text/plain",
                                .size = 5,
                                .sha256 = sha256("hello")};
  const Event created = artifact_created(version, TimePoint{7}, "ci");
  EXPECT_EQ(created.type, "artifact_created");
  EXPECT_EQ(created.by, "ci");
  EXPECT_EQ(created.data,
            R"({"path":"a","version":2,"kind":"code","contentType":"text/plain","size":5,)"
            R"("sha256":"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"})");
  EXPECT_EQ(artifact_deleted("a", std::nullopt, 3, TimePoint{}, "").data,
            R"({"path":"a","versions":3})");
  EXPECT_EQ(artifact_deleted("a", 2, 1, TimePoint{}, "").data,
            R"({"path":"a","version":2,"versions":1})");
  EXPECT_EQ(artifact_diff("a", 1, 2, "-x\n", TimePoint{}, "").data,
            R"({"path":"a","fromVersion":1,"toVersion":2,"diff":"-x\n"})");
  EXPECT_TRUE(is_artifact_type("artifact_created") && is_artifact_type("artifact_deleted"));
  EXPECT_FALSE(is_artifact_type("diff"));
}

}  // namespace
}  // namespace reprise::model
