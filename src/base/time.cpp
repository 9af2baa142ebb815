#include "base/time.h"

#include <fmt/format.h>

#include <algorithm>

namespace reprise {
namespace {

struct Civil {
  std::int64_t year;
  unsigned month;
  unsigned day;
};

// Days since 1970-01-01 to a date and back, in the proleptic Gregorian calendar.
Civil civil_from_days(std::int64_t days) {
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{days}}};
  return {static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
          static_cast<unsigned>(date.day())};
}

void put_digits(char* out, std::int64_t value, int count) {
  for (int i = count - 1; i >= 0; --i) {
    out[i] = static_cast<char>('0' + value % 10);
    value /= 10;
  }
}

bool read_digits(std::string_view text, std::size_t at, std::size_t count, int& value) {
  if (text.size() < at + count) return false;
  value = 0;
  for (std::size_t i = at; i < at + count; ++i) {
    if (text[i] < '0' || text[i] > '9') return false;
    value = value * 10 + (text[i] - '0');
  }
  return true;
}

constexpr std::int64_t kMsPerDay = 86'400'000;
// What four digits of year can say; stored times outside are shown as the nearest one.
constexpr std::int64_t kFirstMs = -62'167'219'200'000;
constexpr std::int64_t kLastMs = 253'402'300'799'999;

}  // namespace

void append_time(std::string& out, TimePoint at) {
  const std::int64_t ms = std::min(std::max(at.ms, kFirstMs), kLastMs);
  std::int64_t days = ms / kMsPerDay;
  std::int64_t in_day = ms % kMsPerDay;
  if (in_day < 0) {
    in_day += kMsPerDay;
    --days;
  }
  // Events of one batch share the day: the date is the expensive part and is remembered.
  thread_local std::int64_t cached_days = 0;
  thread_local char cached_date[11] = "1970-01-01";
  if (days != cached_days) {
    const Civil civil = civil_from_days(days);
    put_digits(cached_date, civil.year, 4);
    put_digits(cached_date + 5, civil.month, 2);
    put_digits(cached_date + 8, civil.day, 2);
    cached_days = days;
  }
  char text[24];
  for (int i = 0; i < 10; ++i) text[i] = cached_date[i];
  text[10] = 'T';
  put_digits(text + 11, in_day / 3'600'000, 2);
  text[13] = ':';
  put_digits(text + 14, in_day / 60'000 % 60, 2);
  text[16] = ':';
  put_digits(text + 17, in_day / 1000 % 60, 2);
  text[19] = '.';
  put_digits(text + 20, in_day % 1000, 3);
  text[23] = 'Z';
  out.append(text, sizeof text);
}

std::string format_time(TimePoint at) {
  std::string text;
  append_time(text, at);
  return text;
}

Result<TimePoint> parse_time(std::string_view text) {
  const auto bad = [&] {
    return fail(Code::kBadParameter,
                fmt::format("'{}' is not an RFC 3339 time such as 2026-11-15T18:13:02.117Z", text));
  };
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  if (!read_digits(text, 0, 4, year) || !read_digits(text, 5, 2, month) ||
      !read_digits(text, 8, 2, day) || !read_digits(text, 11, 2, hour) ||
      !read_digits(text, 14, 2, minute) || !read_digits(text, 17, 2, second))
    return bad();
  if (text[4] != '-' || text[7] != '-' || (text[10] != 'T' && text[10] != 't') || text[13] != ':' ||
      text[16] != ':')
    return bad();
  const std::chrono::year_month_day date{std::chrono::year{year},
                                         std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  // Second 60 is a leap second; it is read as the second after.
  if (!date.ok() || hour > 23 || minute > 59 || second > 60) return bad();
  std::size_t at = 19;
  std::int64_t ms = 0;
  if (at < text.size() && text[at] == '.') {
    std::size_t digits = 0;
    for (++at; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, ++digits)
      if (digits < 3) ms = ms * 10 + (text[at] - '0');
    if (digits == 0 || digits > 9) return bad();
    for (; digits < 3; ++digits) ms *= 10;
  }
  std::int64_t offset_minutes = 0;
  if (at < text.size() && (text[at] == 'Z' || text[at] == 'z')) {
    ++at;
  } else if (at < text.size() && (text[at] == '+' || text[at] == '-')) {
    int hours = 0, minutes = 0;
    if (!read_digits(text, at + 1, 2, hours) || !read_digits(text, at + 4, 2, minutes) ||
        text[at + 3] != ':' || hours > 23 || minutes > 59)
      return bad();
    offset_minutes = (hours * 60 + minutes) * (text[at] == '-' ? -1 : 1);
    at += 6;
  } else {
    return bad();
  }
  if (at != text.size()) return bad();
  const std::int64_t days = std::chrono::sys_days{date}.time_since_epoch().count();
  return TimePoint{days * kMsPerDay + (hour * 60 + minute - offset_minutes) * 60'000LL +
                   second * 1000LL + ms};
}

TimePoint SystemClock::now() const {
  return {std::chrono::duration_cast<std::chrono::milliseconds>(
              std::chrono::system_clock::now().time_since_epoch())
              .count()};
}

}  // namespace reprise
