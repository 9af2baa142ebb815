# reprise_precompiled(target [TESTS]): compiles the target through a launcher that brings ccache and the precompiled
# header (cmake/compile.in).
find_program(REPRISE_CCACHE ccache REQUIRED)
set(REPRISE_COMPILERS "${CMAKE_BINARY_DIR}/compilers")
set(CMAKE_C_COMPILER_LAUNCHER "${REPRISE_CCACHE}")
# A precompiled header that holds no times is the same whenever it is made.
add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")

# The launcher for a header whose text, after preprocessing, is what everything compiled with it depends on.
function(reprise_make_launcher name header)
  set_property(DIRECTORY "${CMAKE_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${header}")
  execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -std=c++23 -E -P -x c++-header "${header}"
                  OUTPUT_VARIABLE text RESULT_VARIABLE failed ERROR_VARIABLE why)
  if(failed)
    message(FATAL_ERROR "${header} cannot be preprocessed:\n${why}")
  endif()
  string(SHA256 header_hash "${text}")
  configure_file("${CMAKE_SOURCE_DIR}/cmake/compile.in" "${REPRISE_COMPILERS}/${name}" @ONLY
                 FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE)
endfunction()

# One header each: what clang includes from a precompiled header stands where the header was made.
file(READ "${CMAKE_SOURCE_DIR}/cmake/precompiled.h" REPRISE_COMMON)
file(READ "${CMAKE_SOURCE_DIR}/cmake/precompiled_test.h" REPRISE_TEST)
string(REPLACE "#include \"precompiled.h\"" "${REPRISE_COMMON}" REPRISE_TEST "${REPRISE_TEST}")
file(CONFIGURE OUTPUT "${REPRISE_COMPILERS}/library.h" CONTENT "${REPRISE_COMMON}" @ONLY)
file(CONFIGURE OUTPUT "${REPRISE_COMPILERS}/test.h" CONTENT "${REPRISE_TEST}" @ONLY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  "${CMAKE_SOURCE_DIR}/cmake/precompiled.h" "${CMAKE_SOURCE_DIR}/cmake/precompiled_test.h")
reprise_make_launcher(library "${REPRISE_COMPILERS}/library.h")
if(REPRISE_TESTS)
  reprise_make_launcher(test "${REPRISE_COMPILERS}/test.h")
endif()

function(reprise_precompiled target)
  cmake_parse_arguments(use "TESTS" "" "" ${ARGN})
  set(launcher library)
  if(use_TESTS)
    set(launcher test)
  endif()
  set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "${REPRISE_COMPILERS}/${launcher}")
endfunction()
