#include "browser/download_book.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "browser/limits.h"
#include "model/artifact.h"

namespace reprise::browser {
namespace {

TEST(DownloadPath, IsWhatTheSiteSuggests) {
  EXPECT_EQ(download_path("report.pdf", 1), "downloads/report.pdf");
  EXPECT_EQ(download_path("report.pdf", 2), "downloads/report (2).pdf");
  EXPECT_EQ(download_path("README", 3), "downloads/README (3)");
  EXPECT_EQ(download_path("Bericht für März.pdf", 1), "downloads/Bericht für März.pdf");
}

TEST(DownloadPath, IsAPathOfAnArtifactWhateverIsSuggested) {
  EXPECT_EQ(download_path("", 1), "downloads/download");
  EXPECT_EQ(download_path("...", 1), "downloads/download");
  EXPECT_EQ(download_path("../../etc/passwd", 1), "downloads/_.._etc_passwd");
  EXPECT_EQ(download_path(".bashrc", 1), "downloads/bashrc");
  for (const std::string& name : {std::string("a\0b", 3), std::string("a\nb"), std::string("C:\\x"),
                                  std::string("\xff\xfe.txt"), std::string(5'000, 'x'),
                                  std::string(600, 'x') + "\xc3\xa4", std::string("/etc/passwd")}) {
    const std::string path = download_path(name, 1);
    EXPECT_TRUE(model::check_artifact_path(path)) << path;
    EXPECT_LE(path.size(), kMaxDownloadNameBytes + std::string_view("downloads/").size());
  }
  std::string umlauts;
  while (umlauts.size() < kMaxDownloadNameBytes + 1) umlauts += "ä";
  EXPECT_TRUE(model::check_artifact_path(download_path(umlauts, 1)));
}

using Step = DownloadBook::Step;

DownloadNews begun(std::string id, std::string name = "a.txt") {
  return {.id = std::move(id), .state = DownloadState::kBegun, .suggested_name = std::move(name)};
}
DownloadNews news(std::string id, DownloadState state, std::uint64_t received = 0,
                  std::uint64_t total = 0) {
  return {.id = std::move(id),
          .state = state,
          .suggested_name = {},
          .received_bytes = received,
          .total_bytes = total};
}

TEST(DownloadBook, OneThatIsDoneIsKeptAndToldOnce) {
  DownloadBook book(1'000);
  EXPECT_EQ(book.take(begun("1")), Step::kNothing);
  EXPECT_TRUE(book.has_new(0));
  EXPECT_FALSE(book.has_new(1));
  EXPECT_EQ(book.take_notes(), std::vector<std::string>{"downloading: a.txt"});
  EXPECT_EQ(book.take(news("1", DownloadState::kGoing, 10, 1'000)), Step::kNothing);
  EXPECT_EQ(book.take(news("1", DownloadState::kDone, 1'000, 1'000)), Step::kKeep);
  book.ended("1", "downloaded");
  EXPECT_FALSE(book.has_new(0));
  EXPECT_EQ(book.take_notes(), std::vector<std::string>{"downloaded"});
  EXPECT_TRUE(book.take_notes().empty());
  EXPECT_EQ(book.take(news("1", DownloadState::kDone)), Step::kNothing);
}

TEST(DownloadBook, OneThatIsTooLargeIsCancelledOnce) {
  for (const auto& [received, total] : {std::pair{1'001, 0}, {1, 1'001}}) {
    DownloadBook book(1'000);
    book.take(begun("1"));
    const auto large = news("1", DownloadState::kGoing, static_cast<std::uint64_t>(received),
                            static_cast<std::uint64_t>(total));
    EXPECT_EQ(book.take(large), Step::kCancel);
    EXPECT_EQ(book.take(large), Step::kNothing);
    EXPECT_EQ(book.take(news("1", DownloadState::kCancelled)), Step::kNothing);
    EXPECT_EQ(book.take_notes(),
              std::vector<std::string>{"not downloaded: a.txt: it has more than 1000 bytes"});
  }
  EXPECT_EQ(DownloadBook(UINT64_MAX).max_bytes(), kMaxDownloadBytes);
}

TEST(DownloadBook, SoManyGoOnAtOnce) {
  DownloadBook book(1'000);
  for (std::size_t i = 0; i < kMaxDownloadsAtOnce; ++i)
    EXPECT_EQ(book.take(begun(fmt::to_string(i))), Step::kNothing);
  EXPECT_EQ(book.take(begun("more")), Step::kCancel);
  // Cancelled too late: it is not kept all the same.
  EXPECT_EQ(book.take(news("more", DownloadState::kDone, 1)), Step::kNothing);
  EXPECT_EQ(book.take_notes().size(), kMaxDownloadsAtOnce + 1);
  book.ended("0", "");
  EXPECT_EQ(book.take(begun("again")), Step::kNothing);
}

TEST(DownloadBook, OneThatTheBrowserHasNoRoomForIsTold) {
  DownloadBook book(1'000);
  EXPECT_EQ(book.take({.id = "1", .state = DownloadState::kRefused, .suggested_name = "b.txt"}),
            Step::kNothing);
  EXPECT_FALSE(book.has_new(0));
  EXPECT_EQ(book.take_notes(),
            std::vector<std::string>{"not downloaded: b.txt: too many go on in the browser"});
}

TEST(DownloadBook, SoManyLinesWaitToBeTold) {
  DownloadBook book(1'000);
  for (std::size_t i = 0; i <= kMaxDownloadNotes; ++i) {
    book.take(begun("x"));
    book.take(news("x", DownloadState::kCancelled));
  }
  EXPECT_EQ(book.take_notes().size(), kMaxDownloadNotes);
}

}  // namespace
}  // namespace reprise::browser
