#include "stream/log/producer.h"

#include "base/bytes.h"

namespace reprise::stream {

ProducerVerdict judge(const std::optional<ProducerState>& known, const ProducerClaim& claim) {
  using Kind = ProducerVerdict::Kind;
  if (!known) {
    if (claim.seq == 0) return {.kind = Kind::kAccept};
    return {.kind = Kind::kGap, .current = claim.epoch, .expected = 0};
  }
  if (claim.epoch < known->epoch) return {.kind = Kind::kStaleEpoch, .current = known->epoch};
  if (claim.epoch > known->epoch)
    return {.kind = claim.seq == 0 ? Kind::kAccept : Kind::kBadStart, .current = known->epoch};
  if (claim.seq <= known->last_seq) return {.kind = Kind::kDuplicate, .current = known->epoch};
  if (claim.seq == known->last_seq + 1) return {.kind = Kind::kAccept, .current = known->epoch};
  return {.kind = Kind::kGap, .current = known->epoch, .expected = known->last_seq + 1};
}

std::string encode_producer(const ProducerState& state) {
  std::string bytes;
  put_varint(bytes, state.epoch);
  put_varint(bytes, state.last_seq);
  return bytes;
}

Result<ProducerState> decode_producer(std::string_view bytes) {
  ByteReader reader(bytes);
  ProducerState state;
  if (!reader.varint(state.epoch) || !reader.varint(state.last_seq) || !reader.at_end())
    return fail(Code::kCorrupt, "a producer's record does not decode");
  return state;
}

}  // namespace reprise::stream
