// What a responder drives: the connection's side of one exchange. Internal to this folder.
#pragma once

#include <functional>
#include <string_view>

#include "common/http/server/http_server.h"

namespace plimsoll {

// As HttpResponder's methods; the one that finishes the answer is the last one called.
class HttpResponder::Exchange {
 public:
  virtual ~Exchange() = default;
  virtual void Send(int status, const HttpHeaders& headers, std::string_view body) = 0;
  virtual void StartStream(int status, const HttpHeaders& headers) = 0;
  virtual void Write(std::string_view piece) = 0;
  virtual void End() = 0;
  virtual void Abort() = 0;
  virtual void Reset() = 0;
  virtual void OnHangUp(std::function<void()> hung_up) = 0;
  virtual bool open() const = 0;
  virtual std::size_t unsent() const = 0;
};

}  // namespace plimsoll
