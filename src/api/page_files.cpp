#include <array>
#include <cstddef>

#include "api/page.h"

// web/build.mjs lists the files in page_files.inc, one REPRISE_PAGE_FILE(number, path, type, hash)
// each, and puts their contents beside it as <number> and <number>.gz. The linker takes them as
// they are; CMake says where they stand and runs web/build.mjs when something in web/ has changed.
#define REPRISE_PAGE_FILE(number, path, type, hash) \
  ".global reprise_page_" #number                   \
  "\n"                                              \
  ".global reprise_page_" #number                   \
  "_gzip\n"                                         \
  ".global reprise_page_" #number                   \
  "_end\n"                                          \
  "reprise_page_" #number                           \
  ":\n"                                             \
  ".incbin \"" REPRISE_WEB_FOLDER "/" #number       \
  "\"\n"                                            \
  "reprise_page_" #number                           \
  "_gzip:\n"                                        \
  ".incbin \"" REPRISE_WEB_FOLDER "/" #number       \
  ".gz\"\n"                                         \
  "reprise_page_" #number "_end:\n"
__asm__(
    ".section .rodata\n"
#include <page_files.inc>
    ".byte 0\n"
    ".previous\n");
#undef REPRISE_PAGE_FILE

#define REPRISE_PAGE_FILE(number, path, type, hash) \
  extern const char reprise_page_##number[];        \
  extern const char reprise_page_##number##_gzip[]; \
  extern const char reprise_page_##number##_end[];
extern "C" {
#include <page_files.inc>
}
#undef REPRISE_PAGE_FILE

namespace reprise::api {
namespace {

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

std::span<const PageFile> page_files() {
#define REPRISE_PAGE_FILE(number, path, type, hash)                                        \
  PageFile{path, type, hash, between(reprise_page_##number, reprise_page_##number##_gzip), \
           between(reprise_page_##number##_gzip, reprise_page_##number##_end)},
  static const auto files = std::to_array<PageFile>({
#include <page_files.inc>
  });
#undef REPRISE_PAGE_FILE
  return files;
}

}  // namespace reprise::api
