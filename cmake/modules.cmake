# plimsoll_library(NAME SOURCES a.cc ... [DEPS other libraries] [PRIVATE fenced libraries])
# One static library a folder, named after its path (common/base -> common_base). The link graph is
# the first lock on the direction of includes: an edge that is not listed does not link.
function(plimsoll_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;PRIVATE" ${ARGN})
  if(ARG_SOURCES)
    add_library(${name} STATIC ${ARG_SOURCES})
    target_link_libraries(${name} PUBLIC plimsoll_options ${ARG_DEPS} PRIVATE ${ARG_PRIVATE})
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE plimsoll_options ${ARG_DEPS})
  endif()
endfunction()

# plimsoll_binary(NAME SOURCES main.cc DEPS ...)
function(plimsoll_binary name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE plimsoll_options ${ARG_DEPS})
endfunction()

# What every test includes, read once: a third of the time of compiling tests went into it.
function(plimsoll_test_header)
  if(TARGET test_header)
    return()
  endif()
  file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/generated/test_header.cc CONTENT "")
  add_library(test_header OBJECT ${CMAKE_BINARY_DIR}/generated/test_header.cc)
  target_link_libraries(test_header PRIVATE plimsoll_options GTest::gmock)
  # As gRPC's users have it, or it is refused.
  target_compile_options(test_header PRIVATE -pthread $<$<CONFIG:Debug>:-fno-sanitize=undefined>)
  target_precompile_headers(test_header PRIVATE
    <gmock/gmock.h> <gtest/gtest.h> <map> <memory> <string> <vector>)
endfunction()

# plimsoll_test(NAME SOURCES ... DEPS ... [LABELS concurrent|integration] [TIMEOUT seconds])
# One program a folder; ctest runs it whole.
function(plimsoll_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;DEPS;LABELS" ${ARGN})
  if(NOT PLIMSOLL_TESTS)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE plimsoll_options ${ARG_DEPS} GTest::gmock_main)
  plimsoll_test_header()
  # What tests are made of need not be watched for undefined behaviour, only what they test: a fifth
  # of the time of compiling them.
  target_compile_options(${name} PRIVATE -pthread $<$<CONFIG:Debug>:-fno-sanitize=undefined>)
  target_precompile_headers(${name} REUSE_FROM test_header)
  target_compile_definitions(${name} PRIVATE
    PLIMSOLL_SOURCE_DIR="${CMAKE_SOURCE_DIR}" PLIMSOLL_SHARED_DIR="${PLIMSOLL_SHARED_DIR}"
    PLIMSOLL_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  add_test(NAME ${name} COMMAND ${name})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  # The long ones start first, so that a clean build does not end waiting for one of them.
  set_tests_properties(${name} PROPERTIES
    TIMEOUT ${ARG_TIMEOUT} COST ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
endfunction()

# plimsoll_fuzz(NAME SOURCE target.cc CORPUS folder DEPS ...)
# With the fuzz preset a libFuzzer program; in the suite the same target replays its corpus.
function(plimsoll_fuzz name)
  cmake_parse_arguments(ARG "" "SOURCE;CORPUS" "DEPS" ${ARGN})
  if(PLIMSOLL_FUZZ)
    add_executable(${name} ${ARG_SOURCE})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    add_test(NAME ${name} COMMAND ${name} -runs=0 ${ARG_CORPUS})
    set_tests_properties(${name} PROPERTIES TIMEOUT 120 LABELS fuzz)
  elseif(PLIMSOLL_TESTS)
    add_executable(${name} ${ARG_SOURCE} ${CMAKE_SOURCE_DIR}/tests/fuzz/replay_main.cc)
    add_test(NAME ${name} COMMAND ${name} ${ARG_CORPUS})
    set_tests_properties(${name} PROPERTIES TIMEOUT 120 LABELS fuzz)
  else()
    return()
  endif()
  target_link_libraries(${name} PRIVATE plimsoll_options ${ARG_DEPS})
endfunction()

# plimsoll_bench(NAME SOURCES ... DEPS ...)
function(plimsoll_bench name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  if(NOT PLIMSOLL_BENCH)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE plimsoll_options ${ARG_DEPS} benchmark::benchmark)
endfunction()

# plimsoll_hot(LIBRARY…): simulations and replays spend their time in these, so that a little
# optimisation of the Debug build comes back in the suite several times over.
function(plimsoll_hot)
  foreach(name ${ARGN})
    target_compile_options(${name} PRIVATE $<$<CONFIG:Debug>:-O1>)
  endforeach()
endfunction()
