# g++ 12.2, Debian 12's default, miscompiles coroutines: an aggregate temporary or a capturing lambda as an argument
# inside co_await, or ?: with co_await, is destroyed twice, at every optimisation level, without a warning
# (docs/decisions/001-clang-19.md). The canary runs those cases; a compiler that fails one is refused.
if(NOT REPRISE_CANARY_PASSED)
  message(STATUS "Coroutine canary")
  try_run(canary_exit canary_compiled
    "${CMAKE_BINARY_DIR}/canary" "${CMAKE_SOURCE_DIR}/cmake/canary.cpp"
    CMAKE_FLAGS -DCMAKE_CXX_STANDARD=23 -DCMAKE_CXX_STANDARD_REQUIRED=ON
    COMPILE_OUTPUT_VARIABLE canary_output
    CXX_STANDARD 23 CXX_STANDARD_REQUIRED ON)
  if(NOT canary_compiled)
    message(FATAL_ERROR "The coroutine canary does not compile with ${CMAKE_CXX_COMPILER}:\n${canary_output}")
  endif()
  if(NOT canary_exit EQUAL 0)
    message(FATAL_ERROR "${CMAKE_CXX_COMPILER} miscompiles coroutines (case ${canary_exit} of cmake/canary.cpp). "
                        "Use clang-19: cmake --preset release")
  endif()
  message(STATUS "Coroutine canary - passed")
  set(REPRISE_CANARY_PASSED TRUE CACHE INTERNAL "the compiler passed cmake/canary.cpp")
endif()
