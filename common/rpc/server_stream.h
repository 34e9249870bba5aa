// The coordinator's end of one bidirectional gRPC stream. gRPC's callbacks only note what they must
// and post to the Scheduler; handlers run there. Includes gRPC: for the files that fence it.
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

// Owned by its user and, from Accept() until gRPC's last callback, by itself. Every public method
// but the constructor and Accept() is called on the scheduler's thread.
template <typename In, typename Out>
class ServerStream final : public grpc::ServerBidiReactor<In, Out>,
                           public std::enable_shared_from_this<ServerStream<In, Out>> {
 public:
  struct Handlers {
    std::function<void(const In&)> on_message;  // One per ReadNext().
    std::function<void()> on_end;               // The peer ended its half, or broke.
    std::function<void(bool cut)> on_done;      // Last. `cut`: it broke, or was cancelled.
  };

  ServerStream(grpc::CallbackServerContext* context, Scheduler& scheduler,
               std::shared_ptr<StreamCount> count, WriteQueue<Out> queue)
      : scheduler_(scheduler),
        count_(std::move(count)),
        context_(context),
        queue_(std::move(queue)) {}

  // On gRPC's thread, in the method: takes the call, tells the peer so, and posts `adopt(stream)`,
  // which gives it handlers.
  template <typename Adopt>
  void Accept(Adopt adopt) {
    self_ = this->shared_from_this();
    count_->Up();
    this->StartSendInitialMetadata();
    scheduler_.Post([self = self_, adopt] { adopt(self); });
  }

  // Once, before the first ReadNext(). A stream that has ended by then gets its on_end and on_done.
  void SetHandlers(Handlers handlers) {
    handlers_ = std::make_shared<const Handlers>(std::move(handlers));
  }

  // Asks for the next message; call it again only after on_message.
  void ReadNext() {
    const std::scoped_lock lock(mutex_);
    if (finished_) return;
    in_.Clear();
    this->StartRead(&in_);
  }

  // In order. False: the queue is full, and the message dropped.
  bool Write(Out message) {
    const std::scoped_lock lock(mutex_);
    if (finished_ || finish_) return true;  // on_done is on its way.
    if (!queue_.Push(std::move(message))) return false;
    WriteNext();
    return true;
  }

  // Ends the stream with `status` once the queue is written; on_done follows. First call wins.
  void Finish(const Status& status) {
    const std::scoped_lock lock(mutex_);
    if (finished_ || finish_) return;
    finish_ = status;
    WriteNext();
  }

  // Cuts the stream; on_done follows.
  void Cancel() {
    const std::scoped_lock lock(mutex_);
    // After Finish() the context may be gone at any time, and the end is on its way.
    if (!finished_) context_->TryCancel();
  }

  // No handler runs from now on.
  void Detach() { handlers_.reset(); }

  // gRPC's callbacks, on its threads.
  void OnReadDone(bool ok) override {
    Post([ok](ServerStream& self) {
      const auto handlers = self.handlers_;
      if (handlers == nullptr) return;
      ok ? handlers->on_message(self.in_) : handlers->on_end();
    });
  }
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
      grpc::ServerBidiReactor<In, Out>::Finish(
          grpc::Status(grpc::StatusCode::CANCELLED, "the stream was cut"));
    }
  }
  void OnDone() override {
    const std::shared_ptr<StreamCount> count = count_;
    // gRPC has returned from OnCancel, if it called it.
    scheduler_.Post([self = std::move(self_), cut = WasCut()] {
      if (const auto handlers = std::exchange(self->handlers_, nullptr)) handlers->on_done(cut);
    });
    count->Down();
  }

 private:
  template <typename Task>
  void Post(Task task) {
    scheduler_.Post([keep = this->shared_from_this(), task] { task(*keep); });
  }

  bool WasCut() {
    const std::scoped_lock lock(mutex_);
    return cut_;
  }

  // With the lock.
  void WriteNext() {
    if (writing_ || finished_) return;
    if (!queue_.empty() && !broken_) {
      writing_ = true;
      this->StartWrite(queue_.front());
    } else if (finish_) {
      finished_ = true;
      grpc::ServerBidiReactor<In, Out>::Finish(ToGrpc(*finish_));
    }
  }

  Scheduler& scheduler_;
  const std::shared_ptr<StreamCount> count_;
  grpc::CallbackServerContext* const context_;  // gRPC's; valid until Finish().
  std::shared_ptr<ServerStream> self_;          // From Accept() to OnDone().
  // The scheduler's thread only. A running handler shares it, so that it may Detach().
  std::shared_ptr<const Handlers> handlers_;
  In in_;  // gRPC's while a read is open, else the scheduler's thread's.

  std::mutex mutex_;  // Guards what follows.
  WriteQueue<Out> queue_;
  std::optional<Status> finish_;  // Asked for, and waiting for the queue.
  bool writing_ = false;
  bool broken_ = false;
  bool finished_ = false;
  bool cut_ = false;
};

}  // namespace plimsoll::rpc
