# Every foreign library, in one place. All come from Debian 12; scripts/setup installs them.
find_package(Threads REQUIRED)
find_package(Protobuf REQUIRED)  # Module mode, before gRPC: gives protobuf::protoc.
find_package(gRPC CONFIG REQUIRED)
find_program(GRPC_CPP_PLUGIN grpc_cpp_plugin REQUIRED)
find_package(absl CONFIG REQUIRED)
find_package(Boost 1.81 REQUIRED)
find_package(CURL REQUIRED)
find_package(RocksDB CONFIG REQUIRED)
find_package(fmt CONFIG REQUIRED)
find_package(spdlog CONFIG REQUIRED)
find_package(yaml-cpp CONFIG REQUIRED)
find_package(simdjson CONFIG REQUIRED)
find_package(nlohmann_json CONFIG REQUIRED)
find_package(CLI11 CONFIG REQUIRED)
find_package(prometheus-cpp CONFIG REQUIRED)
find_package(valijson CONFIG REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)
if(PLIMSOLL_TESTS OR PLIMSOLL_BENCH OR PLIMSOLL_FUZZ)  # The simulator reports through it.
  find_package(GTest CONFIG REQUIRED)
endif()
if(PLIMSOLL_BENCH)
  find_package(benchmark CONFIG REQUIRED)
endif()

# Asio and Beast compile once, in common/loop, instead of in every file that includes them.
add_library(plimsoll_boost INTERFACE)
target_link_libraries(plimsoll_boost INTERFACE Boost::headers Threads::Threads)
target_compile_definitions(plimsoll_boost INTERFACE
  BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION
  BOOST_ASIO_NO_DEPRECATED BOOST_ALLOW_DEPRECATED_HEADERS)
