// What both ends share of gRPC: options of connections and its status as ours. Includes gRPC, so it
// is included by the files that fence it only.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>

#include <grpcpp/impl/codegen/status.h>
#include <grpcpp/support/channel_arguments.h>

#include "common/base/status.h"

namespace plimsoll::rpc {

// Options of one client's channel: a connection of its own, no proxy, keepalive, message bounds.
grpc::ChannelArguments ClientArguments();

// Same code numbers on both sides.
Status FromGrpc(const grpc::Status& status);
// The words are cut to kReasonBytesMax.
grpc::Status ToGrpc(const Status& status);

// Counts streams that gRPC may still call, so that an owner can wait for the last one. Shared by
// the owner and each stream: the last Down() may return after the owner has gone.
class StreamCount {
 public:
  void Up() {
    const std::scoped_lock lock(mutex_);
    ++count_;
  }
  void Down() {
    const std::scoped_lock lock(mutex_);
    if (--count_ == 0) zero_.notify_all();
  }
  void WaitForZero() {
    std::unique_lock lock(mutex_);
    zero_.wait(lock, [this] { return count_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable zero_;
  std::size_t count_ = 0;
};

}  // namespace plimsoll::rpc
