// The server's end of calls that are answered from a loop: one message, or a stream of them. gRPC's
// callbacks only note what they must and post to the Scheduler. Includes gRPC: for the files that
// fence it.
#pragma once

#include <functional>
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

// A call that is answered with a stream. Owned by its user and, from Accept() until gRPC's last
// callback, by itself. Every public method but the constructor and Accept() is called on the
// scheduler's thread.
template <typename Out>
class ServerWriteStream final : public grpc::ServerWriteReactor<Out>,
                                public std::enable_shared_from_this<ServerWriteStream<Out>> {
 public:
  ServerWriteStream(grpc::CallbackServerContext* context, Scheduler& scheduler,
                    std::shared_ptr<StreamCount> count, WriteQueue<Out> queue)
      : scheduler_(scheduler),
        count_(std::move(count)),
        context_(context),
        queue_(std::move(queue)) {}

  // On gRPC's thread, in the method: takes the call and posts `adopt(stream)`.
  template <typename Adopt>
  void Accept(Adopt adopt) {
    self_ = this->shared_from_this();
    count_->Up();
    this->StartSendInitialMetadata();
    scheduler_.Post([self = self_, adopt] { adopt(self); });
  }

  // `done` is called once, when gRPC is done with the stream.
  void OnEnd(std::function<void()> done) { done_ = std::move(done); }

  // In order. False: the queue is full, and the message dropped.
  bool Write(Out message) {
    const std::scoped_lock lock(mutex_);
    if (finished_ || finish_) return true;  // Its end is on its way.
    if (!queue_.Push(std::move(message))) return false;
    WriteNext();
    return true;
  }

  // Something that was written has not left yet.
  bool waiting() const {
    const std::scoped_lock lock(mutex_);
    return !finished_ && !queue_.empty();
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
  void OnCancel() override {
    const std::scoped_lock lock(mutex_);
    if (!std::exchange(finished_, true)) {
      grpc::ServerWriteReactor<Out>::Finish(
          grpc::Status(grpc::StatusCode::CANCELLED, "the stream was cut"));
    }
  }
  void OnDone() override {
    const std::shared_ptr<StreamCount> count = count_;
    scheduler_.Post([self = std::move(self_)] {
      if (const auto done = std::exchange(self->done_, nullptr)) done();
    });
    count->Down();
  }

 private:
  // With the lock.
  void WriteNext() {
    if (writing_ || finished_) return;
    if (!queue_.empty() && !broken_) {
      writing_ = true;
      this->StartWrite(queue_.front());
    } else if (finish_) {
      finished_ = true;
      grpc::ServerWriteReactor<Out>::Finish(ToGrpc(*finish_));
    }
  }

  Scheduler& scheduler_;
  const std::shared_ptr<StreamCount> count_;
  grpc::CallbackServerContext* const context_;  // gRPC's; valid until Finish().
  std::shared_ptr<ServerWriteStream> self_;     // From Accept() to OnDone().
  std::function<void()> done_;                  // The scheduler's thread only.

  mutable std::mutex mutex_;  // Guards what follows.
  WriteQueue<Out> queue_;
  std::optional<Status> finish_;  // Asked for, and waiting for the queue.
  bool writing_ = false;
  bool broken_ = false;
  bool finished_ = false;
};

}  // namespace plimsoll::rpc
