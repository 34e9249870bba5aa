// The io_context behind an EventLoop, for the fenced files that speak Asio themselves: the curl
// transport, the HTTP server, signals and children. Never included by a header.
#pragma once

#include <boost/asio/io_context.hpp>

#include "common/loop/event_loop.h"

namespace plimsoll {

class EventLoopIo {
 public:
  // Lives as long as the loop. Handlers run on the loop's thread, in its turns.
  static boost::asio::io_context& Of(EventLoop& loop);
};

}  // namespace plimsoll
