#include "wire/headers.h"

#include <gtest/gtest.h>

namespace reprise::wire {
namespace {

TEST(Headers, NamesAreLowerCaseAndValuesTrimmed) {
  Headers headers;
  headers.add("Content-TYPE", " \ttext/plain; a=b \t");
  headers.add("X-Empty", "  ");
  EXPECT_EQ(headers.get("content-type"), "text/plain; a=b");
  EXPECT_EQ(headers.get("x-empty"), "");
  EXPECT_EQ(headers.get("Content-Type"), std::nullopt);  // asked for in lower case
  EXPECT_EQ(headers.get("content-typ"), std::nullopt);
  EXPECT_EQ(headers.lines(), "content-type: text/plain; a=b\r\nx-empty: \r\n");
}

TEST(Headers, KeepTheirOrderAndRepetitions) {
  Headers headers;
  for (int i = 0; i < 300; ++i) headers.add(i % 2 == 0 ? "A" : "B", std::to_string(i));
  EXPECT_EQ(headers.count("a"), 150U);
  EXPECT_EQ(headers.count("c"), 0U);
  EXPECT_EQ(headers.get("b"), "1");  // the first
  int next = 0;
  for (const Header& header : headers) {
    EXPECT_EQ(header.name, next % 2 == 0 ? "a" : "b");
    EXPECT_EQ(header.value, std::to_string(next++));
  }
  EXPECT_EQ(next, 300);
}

TEST(Headers, AreValues) {
  Headers headers;
  headers.add("a", "1");
  Headers copy = headers;
  headers.clear();
  EXPECT_EQ(headers.begin(), headers.end());
  EXPECT_EQ(headers.lines(), "");
  headers.add("b", "2");
  EXPECT_EQ(copy.get("a"), "1");
  EXPECT_EQ(copy.get("b"), std::nullopt);
  EXPECT_EQ(headers.get("b"), "2");
}

}  // namespace
}  // namespace reprise::wire
