// One multi handle of libcurl on the loop: its sockets watched by Asio, its timer armed by Asio,
// and neither ever re-entered from curl's own callbacks. Internal to common/http.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "common/http/write_turns.h"
#include "common/loop/event_loop.h"

namespace plimsoll {

class CurlMulti {
 public:
  // `on_done(easy, code)` is called outside of curl, after the handle was taken out of the multi;
  // code is a CURLcode. It may add and remove handles.
  // `turns` is shared by the multis of a loop and outlives them.
  CurlMulti(EventLoop& loop, WriteTurns& turns, std::function<void(void* easy, int code)> on_done);
  // Every handle was removed before.
  ~CurlMulti();
  CurlMulti(const CurlMulti&) = delete;
  CurlMulti& operator=(const CurlMulti&) = delete;

  // Never calls back from inside. False: curl refused (out of memory).
  bool Add(void* easy);
  // Hangs up on an unfinished transfer. Not from inside curl's callbacks: see in_curl().
  void Remove(void* easy);
  bool in_curl() const;  // One of curl's callbacks is on the stack.
  std::size_t active() const;
  // Counts how often curl was entered. A socket is read once a time (TLS: while it has more ready),
  // so what a transfer receives in one turn arrived together.
  std::uint64_t turn() const;

  // Idle connections to a host, as far as is known from transfers that ended well.
  std::unordered_map<std::string, std::size_t> idle;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace plimsoll
