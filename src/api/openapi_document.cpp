#include "api/system.h"

// The linker takes the file as it is; CMake says where it stands and rebuilds when it changes.
__asm__(
    ".section .rodata\n"
    ".global reprise_openapi_begin\n"
    ".global reprise_openapi_end\n"
    "reprise_openapi_begin:\n"
    ".incbin \"" REPRISE_OPENAPI_FILE
    "\"\n"
    "reprise_openapi_end:\n"
    ".byte 0\n"
    ".previous\n");

extern "C" {
extern const char reprise_openapi_begin[];
extern const char reprise_openapi_end[];
}

namespace reprise::api {

std::string_view openapi_document() {
  return {reprise_openapi_begin,
          static_cast<std::size_t>(reprise_openapi_end - reprise_openapi_begin)};
}

}  // namespace reprise::api
