# Warnings, sanitizers, and the helpers that make builds short where they are present.
add_library(plimsoll_options INTERFACE)
target_compile_options(plimsoll_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
  -Wold-style-cast -Wimplicit-fallthrough -Wno-missing-field-initializers
  $<$<CONFIG:Debug>:-Werror>)  # Who only wants the programs is not stopped by a compiler's doubt.
# GCC's optimisers report false positives of these.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(plimsoll_options INTERFACE -Wno-maybe-uninitialized -Wno-restrict)
endif()
target_include_directories(plimsoll_options INTERFACE ${CMAKE_SOURCE_DIR})

if(PLIMSOLL_SANITIZE)
  add_compile_options(-fsanitize=${PLIMSOLL_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${PLIMSOLL_SANITIZE})
  if(PLIMSOLL_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # A fifth of GCC's time and a third of its objects went into these two. AddressSanitizer stops at
    # a null access as well, and the fuzz preset, which is clang's, keeps both.
    if(PLIMSOLL_SANITIZE MATCHES "undefined")
      add_compile_options(-fno-sanitize=null,alignment)
    endif()
    # Asio's fences are invisible to ThreadSanitizer; its queues are ordered by mutexes as well.
    if(PLIMSOLL_SANITIZE MATCHES "thread")
      add_compile_options(-Wno-tsan)
    endif()
  endif()
endif()
if(PLIMSOLL_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # What it must not mind of precompiled headers.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
endif()
find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()
