// The server's end of calls that are answered from a loop: one message, or a stream of them. gRPC's
// callbacks only note what they must and post to the Scheduler. Includes gRPC: for the files that
// fence it.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include <grpcpp/support/server_callback.h>

#include "common/base/scheduler.h"
#include "common/rpc/grpc_fence.h"
#include "common/rpc/server_write_half.h"

namespace plimsoll::rpc {

// A call with one answer. Owns itself from Accept() until gRPC's last callback.
class UnaryCall final : public grpc::ServerUnaryReactor,
                        public std::enable_shared_from_this<UnaryCall> {
 public:
  explicit UnaryCall(std::shared_ptr<StreamCount> count) : count_(std::move(count)) {}

  // On gRPC's thread, in the method: `answer` fills the response on the loop, at most once, and
  // never after the call was cancelled.
  void Accept(Scheduler& scheduler, std::function<Status()> answer) {
    self_ = shared_from_this();
    count_->Up();
    scheduler.Post([self = self_, answer = std::move(answer)] { self->Run(answer); });
  }

  void OnCancel() override {
    const std::scoped_lock lock(mutex_);
    if (!std::exchange(finished_, true)) {
      Finish(grpc::Status(grpc::StatusCode::CANCELLED, "the call was cut"));
    }
  }
  void OnDone() override {
    const std::shared_ptr<StreamCount> count = count_;
    const std::shared_ptr<UnaryCall> self = std::move(self_);
    count->Down();
  }

 private:
  void Run(const std::function<Status()>& answer) {
    const std::scoped_lock lock(mutex_);
    if (!std::exchange(finished_, true)) Finish(ToGrpc(answer()));
  }

  const std::shared_ptr<StreamCount> count_;
  std::shared_ptr<UnaryCall> self_;  // From Accept() to OnDone().
  std::mutex mutex_;                 // Guards what follows, and the response while it is filled.
  bool finished_ = false;
};

// A call that is answered with a stream.
template <typename Out>
class ServerWriteStream final
    : public ServerWriteHalf<ServerWriteStream<Out>, grpc::ServerWriteReactor<Out>, Out> {
  using Base = ServerWriteHalf<ServerWriteStream<Out>, grpc::ServerWriteReactor<Out>, Out>;

 public:
  ServerWriteStream(grpc::CallbackServerContext* context, Scheduler& scheduler,
                    std::shared_ptr<StreamCount> count, WriteQueue<Out> queue)
      : Base(context, scheduler, std::move(count), std::move(queue)) {}

  // `done` is called once, when gRPC is done with the stream.
  void OnEnd(std::function<void()> done) { done_ = std::move(done); }

  // Something that was written has not left yet.
  bool waiting() const {
    const std::scoped_lock lock(this->mutex_);
    return !this->finished_ && this->WritesWait();
  }

  void OnDone() override {
    const std::shared_ptr<StreamCount> count = this->count_;
    this->scheduler_.Post([self = std::move(this->self_)] {
      if (const auto done = std::exchange(self->done_, nullptr)) done();
    });
    count->Down();
  }

 private:
  std::function<void()> done_;  // The scheduler's thread only.
};

}  // namespace plimsoll::rpc
