// The writing half of the server's end of a gRPC stream, whichever way its messages go: a bounded
// queue, one write at a time, one end. gRPC's callbacks only note what they must; what the stream's
// user hears of them is posted to the Scheduler. Includes gRPC: for the files that fence it.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include "common/base/scheduler.h"
#include "common/rpc/grpc_fence.h"
#include "common/rpc/write_queue.h"

namespace plimsoll::rpc {

// Base of the stream `Self`, a `Reactor` that writes `Out`. Owned by its user and, from Accept()
// until gRPC's last callback, by itself: OnDone() of `Self` lets go of self_ and counts down. Every
// public method but the constructor and Accept() is called on the scheduler's thread.
template <typename Self, typename Reactor, typename Out>
class ServerWriteHalf : public Reactor, public std::enable_shared_from_this<Self> {
 public:
  // On gRPC's thread, in the method: takes the call, tells the peer so, and posts `adopt(stream)`.
  template <typename Adopt>
  void Accept(Adopt adopt) {
    self_ = this->shared_from_this();
    count_->Up();
    this->StartSendInitialMetadata();
    scheduler_.Post([self = self_, adopt] { adopt(self); });
  }

  // In order. False: the queue is full, and the message dropped.
  bool Write(Out message) {
    const std::scoped_lock lock(mutex_);
    if (finished_ || finish_) return true;  // Its end is on its way.
    if (!queue_.Push(std::move(message))) return false;
    WriteNext();
    return true;
  }

  // Ends the stream with `status` once the queue is written. First call wins.
  void Finish(const Status& status) {
    const std::scoped_lock lock(mutex_);
    if (finished_ || finish_) return;
    finish_ = status;
    WriteNext();
  }

  // Cuts the stream.
  void Cancel() {
    const std::scoped_lock lock(mutex_);
    // After Finish() the context may be gone at any time, and the end is on its way.
    if (!finished_) context_->TryCancel();
  }

  // gRPC's callbacks, on its threads.
  void OnWriteDone(bool ok) override {
    const std::scoped_lock lock(mutex_);
    writing_ = false;
    queue_.PopFront();
    broken_ = broken_ || !ok;
    WriteNext();
  }
  // Here and not on the loop, which may be waiting for this stream to end.
  void OnCancel() override {
    const std::scoped_lock lock(mutex_);
    cut_ = true;
    if (!std::exchange(finished_, true)) {
      Reactor::Finish(grpc::Status(grpc::StatusCode::CANCELLED, "the stream was cut"));
    }
  }

 protected:
  ServerWriteHalf(grpc::CallbackServerContext* context, Scheduler& scheduler,
                  std::shared_ptr<StreamCount> count, WriteQueue<Out> queue)
      : scheduler_(scheduler),
        count_(std::move(count)),
        context_(context),
        queue_(std::move(queue)) {}
  ~ServerWriteHalf() override = default;

  Scheduler& scheduler_;
  const std::shared_ptr<StreamCount> count_;
  std::shared_ptr<Self> self_;  // From Accept() to OnDone().
  mutable std::mutex mutex_;    // Guards what follows.
  bool finished_ = false;
  bool cut_ = false;
  // With the lock.
  bool WritesWait() const { return !queue_.empty(); }

 private:
  // With the lock.
  void WriteNext() {
    if (writing_ || finished_) return;
    if (!queue_.empty() && !broken_) {
      writing_ = true;
      this->StartWrite(queue_.front());
    } else if (finish_) {
      finished_ = true;
      Reactor::Finish(ToGrpc(*finish_));
    }
  }

  grpc::CallbackServerContext* const context_;  // gRPC's; valid until Finish().
  // Guarded by mutex_.
  WriteQueue<Out> queue_;
  std::optional<Status> finish_;  // Asked for, and waiting for the queue.
  bool writing_ = false;
  bool broken_ = false;
};

}  // namespace plimsoll::rpc
