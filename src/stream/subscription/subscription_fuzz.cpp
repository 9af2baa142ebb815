// What is read from the store and from strangers about subscriptions, on arbitrary bytes: records,
// links, tokens and patterns.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "stream/subscription/glob.h"
#include "stream/subscription/links.h"
#include "stream/subscription/signing.h"
#include "stream/subscription/subscription.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reprise;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto one = stream::decode_subscription(bytes)) {
    // A number has several spellings; what was decoded has one.
    const std::string again = stream::encode_subscription(*one);
    REPRISE_ASSERT(*stream::decode_subscription(again) == *one);
  } else {
    REPRISE_ASSERT(one.error().code == Code::kCorrupt);
  }
  if (const auto link = stream::decode_link(bytes))
    REPRISE_ASSERT(*stream::decode_link(stream::encode_link(*link)) == *link);
  // Nobody guesses a token.
  static const auto keys =
      stream::SubscriptionKeys::from(std::string(stream::SubscriptionKeys::kSecretBytes, 'k'));
  REPRISE_ASSERT(!keys->read_token(bytes));
  // A pattern never matches what does not begin like it.
  const std::size_t middle = std::min(bytes.find('\n'), bytes.size());
  const std::string_view pattern = bytes.substr(0, middle);
  const std::string_view path = bytes.substr(std::min(middle + 1, bytes.size()));
  if (stream::matches_glob(pattern, path))
    REPRISE_ASSERT(path.starts_with(stream::literal_prefix(pattern)));
  return 0;
}
