// Headers: the header fields of a message, in order, as one text.
//
// Kept the way they go over the wire ("name: value\r\n" each, names in lower case), so that a
// response's head is one copy and a message costs two allocations, not two per field.
//
//     headers.add("Content-Type", "application/json");
//     for (const Header& header : headers) ... header.name ... header.value ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::wire {

struct Header {
  std::string_view name;  // lower case
  std::string_view value;
};

class Headers {
 public:
  // The first value of that name (given in lower case), without surrounding white space. It is
  // valid until the next change.
  std::optional<std::string_view> get(std::string_view lower_name) const;
  std::size_t count(std::string_view lower_name) const;
  // Lower-cases the name and trims the value.
  void add(std::string_view name, std::string_view value);
  // Forgets the fields and keeps the memory.
  void clear();
  // All fields as lines.
  const std::string& lines() const { return text_; }

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Header;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = Header;
    Header operator*() const { return headers_->at(index_); }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    friend class Headers;
    Iterator(const Headers& headers, std::size_t index) : headers_(&headers), index_(index) {}
    const Headers* headers_;
    std::size_t index_;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, places_.size()}; }

 private:
  struct Place {
    std::uint32_t start = 0;
    std::uint32_t name_size = 0;
    std::uint32_t value_size = 0;
  };
  Header at(std::size_t index) const;

  std::string text_;
  std::vector<Place> places_;
};

}  // namespace reprise::wire
