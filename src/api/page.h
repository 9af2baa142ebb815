// The devtools page: `/` and what it loads, embedded at build time from web/ (web/build.mjs).
//
// The page is open to everybody and says nothing by itself: all it shows it asks for as anybody
// would. Each file is there twice, as it is and as gzip. Those below /assets/ have the hash of
// their content in their names and are kept by browsers for good; the page itself is asked for
// again with its ETag.
#pragma once

#include <span>
#include <string_view>

#include "http/router.h"

namespace reprise::api {

struct PageFile {
  std::string_view path;  // "/" or "/assets/…"
  std::string_view content_type;
  std::string_view hash;  // of the content, in hexadecimal digits
  std::string_view plain;
  std::string_view gzip;
};

std::span<const PageFile> page_files();

void add_page_routes(http::Router& router);

}  // namespace reprise::api
