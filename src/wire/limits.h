// The limits of this layer: how much of what a stranger sends is read before it is refused.
//
// Limits that a caller chooses (header and body sizes) are parameters: ParserLimits in wire/http.h.
#pragma once

#include <cstddef>

namespace reprise::wire {

// JSON. Deeper nesting than this is an attack or a bug; a caller that recurses over a document may
// rely on it. The largest document is far above the largest body, and keeps offsets in 32 bits.
inline constexpr std::size_t kMaxJsonDepth = 512;
inline constexpr std::size_t kMaxJsonBytes = 64 * 1024 * 1024;
// simdjson needs about 14 bytes of its own per byte of text. A thread keeps its parser for
// documents up to this size; a larger one gets a parser of its own, freed with the call.
inline constexpr std::size_t kKeptJsonBytes = 64 * 1024;

// JSON Schema. What checking one value may cost, and how much is told of what is wrong with it.
inline constexpr std::size_t kMaxSchemaSteps = 50'000;
inline constexpr std::size_t kMaxSchemaDepth = 256;
inline constexpr std::size_t kMaxSchemaErrors = 16;
inline constexpr std::size_t kMaxSchemaPatterns = 32;
inline constexpr int kMaxPatternMemory = 1 << 20;

// JSON-RPC. What a message may be called by, and what it may be about.
inline constexpr std::size_t kMaxRpcIdBytes = 256;  // with its quotes
inline constexpr std::size_t kMaxRpcMethodBytes = 128;

// HTTP. A method, two spaces, "HTTP/1.1" and CRLF: what a request line holds besides its target.
inline constexpr std::size_t kMaxMethodBytes = 32;
inline constexpr std::size_t kMaxRequestLineExtraBytes = kMaxMethodBytes + 12;
// RFC 9112 section 2.2: a server should ignore at least one empty line before a request.
inline constexpr std::size_t kMaxLeadingEmptyLines = 1;
// One chunk's size with its extensions, and the extensions of all chunks of a body together.
inline constexpr std::size_t kMaxChunkLineBytes = 256;
inline constexpr std::size_t kMaxChunkExtensionBytes = 16 * 1024;
inline constexpr std::size_t kMaxTrailerBytes = 8 * 1024;
// A body of known length gets its whole buffer at once up to this; a longer one grows as it
// arrives, so that announcing a length costs a stranger as much as sending it.
inline constexpr std::size_t kMaxBodyReserve = 64 * 1024;
// An idle connection's line buffer is freed when it has grown beyond this.
inline constexpr std::size_t kKeptLineBytes = 1024;
// The head of a response, for clients, and how many interim ones may come before it.
inline constexpr std::size_t kMaxInterimResponses = 16;
inline constexpr std::size_t kMaxResponseHeadBytes = 64 * 1024;
inline constexpr std::size_t kMaxResponseHeaders = 200;

// WebSocket. RFC 6455 section 5.5: what a control frame may carry; two bytes of a close are its
// code.
inline constexpr std::size_t kMaxControlBytes = 125;
inline constexpr std::size_t kMaxCloseReasonBytes = kMaxControlBytes - 2;
// The room that the first bytes of a long frame get; more follows as they come: announcing a long
// frame must not cost a stranger less than it costs us.
inline constexpr std::size_t kMaxFrameReserve = 64 * 1024;
// Subprotocols one request may offer.
inline constexpr std::size_t kMaxSubprotocols = 32;
// DevTools. Screenshots and accessibility trees reach tens of megabytes; what is beyond this is a
// browser that has gone wrong.
inline constexpr std::size_t kMaxCdpMessageBytes = 64 * 1024 * 1024;
// From here on only the ends of the browser's messages are read; below, reading all of it is as
// quick.
inline constexpr std::size_t kLongCdpBytes = 512;

}  // namespace reprise::wire
