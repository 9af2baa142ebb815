# Debian's libraries as targets. docs/dependencies.md says what each is for.
find_package(Threads REQUIRED)
find_package(OpenSSL 3 REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(spdlog REQUIRED)

add_library(reprise_boost INTERFACE)
target_compile_definitions(reprise_boost INTERFACE
  BOOST_ASIO_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_DISABLE_BOOST_COROUTINE)
target_link_libraries(reprise_boost INTERFACE Threads::Threads)

find_path(REPRISE_ROCKSDB_INCLUDE rocksdb/db.h REQUIRED)
find_library(REPRISE_ROCKSDB rocksdb REQUIRED)
add_library(reprise_rocksdb INTERFACE)
target_include_directories(reprise_rocksdb SYSTEM INTERFACE "${REPRISE_ROCKSDB_INCLUDE}")
target_link_libraries(reprise_rocksdb INTERFACE "${REPRISE_ROCKSDB}")

# Replaces malloc in the server. Sanitizers bring their own.
find_library(REPRISE_JEMALLOC jemalloc REQUIRED)
add_library(reprise_jemalloc INTERFACE)
if(NOT REPRISE_SANITIZE)
  target_link_libraries(reprise_jemalloc INTERFACE "${REPRISE_JEMALLOC}")
endif()

find_path(REPRISE_SIMDJSON_INCLUDE simdjson.h REQUIRED)
find_library(REPRISE_SIMDJSON simdjson REQUIRED)
add_library(reprise_simdjson INTERFACE)
target_include_directories(reprise_simdjson SYSTEM INTERFACE "${REPRISE_SIMDJSON_INCLUDE}")
target_link_libraries(reprise_simdjson INTERFACE "${REPRISE_SIMDJSON}")

find_path(REPRISE_RE2_INCLUDE re2/re2.h REQUIRED)
find_library(REPRISE_RE2 re2 REQUIRED)
add_library(reprise_re2 INTERFACE)
target_include_directories(reprise_re2 SYSTEM INTERFACE "${REPRISE_RE2_INCLUDE}")
target_link_libraries(reprise_re2 INTERFACE "${REPRISE_RE2}")

find_path(REPRISE_ARCHIVE_INCLUDE archive.h REQUIRED)
find_library(REPRISE_ARCHIVE archive REQUIRED)
add_library(reprise_libarchive INTERFACE)
target_include_directories(reprise_libarchive SYSTEM INTERFACE "${REPRISE_ARCHIVE_INCLUDE}")
target_link_libraries(reprise_libarchive INTERFACE "${REPRISE_ARCHIVE}")

find_path(REPRISE_CLI11_INCLUDE CLI/CLI.hpp REQUIRED)
add_library(reprise_cli11 INTERFACE)
target_include_directories(reprise_cli11 SYSTEM INTERFACE "${REPRISE_CLI11_INCLUDE}")

# llhttp is shipped by Debian as C sources only (package node-llhttp); they are compiled here.
find_path(REPRISE_LLHTTP_INCLUDE llhttp.h PATHS /usr/share/include/llhttp PATH_SUFFIXES llhttp REQUIRED)
find_path(REPRISE_LLHTTP_SOURCE llhttp.c PATHS /usr/share/llhttp REQUIRED)
add_library(reprise_llhttp STATIC
  "${REPRISE_LLHTTP_SOURCE}/api.c" "${REPRISE_LLHTTP_SOURCE}/http.c" "${REPRISE_LLHTTP_SOURCE}/llhttp.c")
target_include_directories(reprise_llhttp SYSTEM PUBLIC "${REPRISE_LLHTTP_INCLUDE}")
