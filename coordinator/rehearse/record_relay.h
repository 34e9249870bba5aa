// A relay on loopback between an agent and its coordinator that can lose records: from Drop() on,
// what the agent sends on connections that carry records goes nowhere, while control goes on. On a
// thread of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "common/base/status.h"

namespace plimsoll::rehearse {

class RecordRelay {
 public:
  // To 127.0.0.1:`port`, from a free port.
  static StatusOr<std::unique_ptr<RecordRelay>> Start(std::uint16_t port);
  // Closes every connection.
  ~RecordRelay();
  RecordRelay(const RecordRelay&) = delete;
  RecordRelay& operator=(const RecordRelay&) = delete;

  const std::string& address() const { return address_; }  // "127.0.0.1:40123"
  void Drop() { drop_ = true; }

 private:
  RecordRelay(int listener, std::uint16_t from, std::uint16_t to);
  void Run();

  const int listener_;
  const std::uint16_t to_;
  const std::string address_;
  std::atomic<bool> drop_{false};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace plimsoll::rehearse
