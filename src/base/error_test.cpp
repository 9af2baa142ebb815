#include "base/error.h"

#include <gtest/gtest.h>

#include <set>

#include "base/assert.h"

namespace reprise {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return fail(Code::kBadRequest, "odd");
  return number / 2;
}

Result<int> quarter(int number) {
  REPRISE_TRY(const int halved, half(number));
  REPRISE_TRY(const int quartered, half(halved));
  return quartered;
}

Result<> check_even(int number) {
  REPRISE_CHECK(half(number));
  return {};
}

TEST(Error, EveryRowStandsWhereItsEnumeratorPoints) {
  for (std::size_t i = 0; i < error_rows().size(); ++i) {
    const ErrorRow& row = error_rows()[i];
    EXPECT_EQ(static_cast<std::size_t>(row.code), i);
    EXPECT_EQ(&error_row(row.code), &row);
  }
}

TEST(Error, CodesAreUniqueWordsAndStatusesAreErrors) {
  std::set<std::string_view> names;
  for (const ErrorRow& row : error_rows()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(row.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string_view::npos)
        << row.name;
    EXPECT_GE(row.http_status, 400) << row.name;
    EXPECT_LE(row.http_status, 599) << row.name;
    EXPECT_FALSE(row.title.empty()) << row.name;
    EXPECT_EQ(row.title.back(), '.') << row.name;
  }
}

TEST(Error, OnlyErrorsThatPassAreRetryable) {
  EXPECT_TRUE(is_retryable(Code::kTooManyRequests));
  EXPECT_TRUE(is_retryable(Code::kOverloaded));
  EXPECT_TRUE(is_retryable(Code::kNoSpace));
  EXPECT_TRUE(is_retryable(Code::kSessionBusy));
  EXPECT_FALSE(is_retryable(Code::kInvalid));
  EXPECT_FALSE(is_retryable(Code::kCorrupt));
  EXPECT_FALSE(is_retryable(Code::kBadTransition));
}

TEST(Error, InvalidNamesItsField) {
  const Result<> result = invalid("/metadata", "too large");
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, Code::kInvalid);
  EXPECT_EQ(result.error().detail, "too large");
  ASSERT_EQ(result.error().fields.size(), 1U);
  EXPECT_EQ(result.error().fields[0].pointer, "/metadata");
  EXPECT_EQ(result.error().fields[0].detail, "too large");
}

TEST(Error, TryPassesValuesOnAndErrorsUp) {
  EXPECT_EQ(quarter(12).value(), 3);
  EXPECT_EQ(quarter(6).error().code, Code::kBadRequest);
  EXPECT_EQ(quarter(7).error().code, Code::kBadRequest);
  EXPECT_TRUE(check_even(2).has_value());
  EXPECT_EQ(check_even(3).error().code, Code::kBadRequest);
}

TEST(AssertDeathTest, AFailedAssertionPrintsItsValuesAndEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const int head = 9;
  EXPECT_DEATH(REPRISE_ASSERT(head == 7, head, "of the stream"),
               "head == 7 at .*values: 9 of the stream");
}

TEST(Assert, AnAssertionThatHoldsEvaluatesNoValues) {
  int evaluated = 0;
  REPRISE_ASSERT(true, ++evaluated);
  EXPECT_EQ(evaluated, 0);
}

}  // namespace
}  // namespace reprise
