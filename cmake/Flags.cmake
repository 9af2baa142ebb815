# One interface target, reprise_flags, carries every flag of our own code.
add_library(reprise_flags INTERFACE)
target_include_directories(reprise_flags INTERFACE "${CMAKE_SOURCE_DIR}/src")
target_compile_options(reprise_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror
  $<$<COMPILE_LANGUAGE:CXX>:-Wno-missing-designated-field-initializers>)

if(REPRISE_SANITIZE)
  # Line tables are all a sanitizer's report needs, and half the time of full debug information.
  set(CMAKE_CXX_FLAGS_DEBUG "-gline-tables-only")
  set(CMAKE_C_FLAGS_DEBUG "-gline-tables-only")
  add_compile_options(-fsanitize=${REPRISE_SANITIZE} -fno-omit-frame-pointer -O1)
  add_link_options(-fsanitize=${REPRISE_SANITIZE})
  if(REPRISE_SANITIZE MATCHES undefined)
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
  if(REPRISE_FUZZERS)
    add_compile_options(-fsanitize=fuzzer-no-link)
  endif()
elseif(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
  # -O2 with line tables only: backtraces stay readable and the build stays quick. DWARF 4, because
  # valgrind 3.19 cannot read clang-19's DWARF 5.
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -gdwarf-4 -gline-tables-only")
  set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -gdwarf-4 -gline-tables-only")
  add_compile_options(-D_FORTIFY_SOURCE=2 -fstack-protector-strong -D_GLIBCXX_ASSERTIONS)
  add_link_options(-Wl,-z,relro,-z,now)
endif()
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
add_link_options(-fuse-ld=lld-19)
if(NOT REPRISE_SANITIZE)
  add_link_options($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-pie>)
endif()
