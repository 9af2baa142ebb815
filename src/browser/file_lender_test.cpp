#include "browser/file_lender.h"

#include <gtest/gtest.h>

#include "browser/limits.h"

namespace reprise::browser {
namespace {

Code code_of(const Result<>& outcome) { return outcome.error().code; }

TEST(LentTally, LendsSoManyFilesAtOnce) {
  LentTally tally;
  EXPECT_TRUE(tally.add("context", 0, 0));
  EXPECT_TRUE(tally.add("context", kMaxLentFiles, 0));
  EXPECT_EQ(code_of(tally.add("context", kMaxLentFiles + 1, 0)), Code::kBodyTooLarge);
}

TEST(LentTally, LendsAContextSoManyBytesInAll) {
  LentTally tally;
  EXPECT_EQ(code_of(tally.add("context", 1, kMaxLentBytes + 1)), Code::kBodyTooLarge);
  EXPECT_TRUE(tally.add("context", 1, kMaxLentBytes - 1));
  // What was refused is not counted.
  EXPECT_EQ(code_of(tally.add("context", 1, 2)), Code::kBodyTooLarge);
  EXPECT_TRUE(tally.add("context", 1, 1));
  EXPECT_EQ(code_of(tally.add("context", 1, 1)), Code::kBodyTooLarge);
  EXPECT_TRUE(tally.add("context", 1, 0));
  EXPECT_TRUE(tally.add("another", 1, kMaxLentBytes)) << "the files of the first went with it";
}

TEST(FileLender, AFileHasTheLastPartOfItsPathForAName) {
  EXPECT_EQ(lent_name("report.pdf"), "report.pdf");
  EXPECT_EQ(lent_name("workspace/a b/Größe.txt"), "Größe.txt");
  const std::string most(kMaxLentNameBytes, 'x');
  EXPECT_EQ(lent_name("a/" + most), most);
  EXPECT_EQ(lent_name("a/" + most + "y"), most);
  const std::string cut = lent_name(most + ".pdf");
  EXPECT_EQ(cut.size(), kMaxLentNameBytes);
  EXPECT_TRUE(cut.ends_with("x.pdf"));
  // Two bytes each: one more than half of the most does not fit.
  std::string wide = "z";
  for (std::size_t i = 0; i < kMaxLentNameBytes; ++i) wide += "ö";
  EXPECT_EQ(lent_name(wide).size(), kMaxLentNameBytes);
  EXPECT_EQ(lent_name("y" + wide).size(), kMaxLentNameBytes - 1);
}

}  // namespace
}  // namespace reprise::browser
