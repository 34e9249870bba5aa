// Turns a connection's bytes into requests, behind Beast's parser. No I/O.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "common/http/server/http_server.h"

namespace plimsoll {

class RequestReader {
 public:
  enum class State { kMore, kDone, kBad };

  RequestReader(std::size_t head_max, std::size_t body_max);
  ~RequestReader();
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  // Reads as far as one request goes; returns the bytes used up. The others are offered again, with
  // more behind them. After kDone or kBad nothing more is used until Take().
  std::size_t Feed(std::string_view bytes);
  State state() const;
  // The head is whole and asks for "100 Continue" before the body. True once a request.
  bool TakeExpectContinue();
  // Of kDone: whether the connection may be used again, and whether the peer knows chunks.
  bool keep_alive() const;
  bool http_1_1() const;
  // Of kBad: the answer's status and what was wrong.
  int bad_status() const;
  const std::string& bad_reason() const;
  // Of kDone: the request; the next one may be fed.
  HttpServerRequest Take();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace plimsoll
