#include "browser/page/page_script.h"

#include <cstddef>

// The parts in their order, inside one function; the linker takes the files as they are, and CMake
// says where they stand and rebuilds when one changes. Each part is plain statements, so that any
// tool reads it by itself. tests/page/script.mjs puts the same text together from this list.
#define REPRISE_PAGE_PART(name) ".incbin \"" REPRISE_PAGE_FOLDER "/" name "\"\n"

__asm__(
    ".section .rodata\n"
    ".global reprise_page_script_begin\n"
    ".global reprise_page_script_end\n"
    "reprise_page_script_begin:\n"
    ".ascii \"(() => {\\n'use strict';\\n\"\n"  //
    REPRISE_PAGE_PART("limits.js")              //
    REPRISE_PAGE_PART("dom.js")                 //
    REPRISE_PAGE_PART("roles.js")               //
    REPRISE_PAGE_PART("looks.js")               //
    REPRISE_PAGE_PART("names.js")               //
    REPRISE_PAGE_PART("refs.js")                //
    REPRISE_PAGE_PART("walk.js")                //
    REPRISE_PAGE_PART("distill.js")             //
    REPRISE_PAGE_PART("render.js")              //
    REPRISE_PAGE_PART("geometry.js")            //
    REPRISE_PAGE_PART("resolve.js")             //
    REPRISE_PAGE_PART("describe.js")            //
    REPRISE_PAGE_PART("prepare.js")             //
    REPRISE_PAGE_PART("fields.js")              //
    REPRISE_PAGE_PART("stirring.js")            //
    REPRISE_PAGE_PART("secrets.js")             //
    REPRISE_PAGE_PART("mark.js")                //
    REPRISE_PAGE_PART("live.js")                //
    REPRISE_PAGE_PART("api.js")                 //
    ".ascii \"return api;\\n})()\\n\"\n"
    "reprise_page_script_end:\n"
    ".byte 0\n"
    ".previous\n");

extern "C" {
extern const char reprise_page_script_begin[];
extern const char reprise_page_script_end[];
}

namespace reprise::browser {

std::string_view page_script() {
  return {reprise_page_script_begin,
          static_cast<std::size_t>(reprise_page_script_end - reprise_page_script_begin)};
}

}  // namespace reprise::browser
