// The agent's end of one bidirectional gRPC stream. gRPC's callbacks only note what they must and
// post to the Scheduler; handlers run there. Includes gRPC: for the files that fence it.
//
// One message is read at a time: the next read starts when the handler has returned, so nothing
// piles up between gRPC and the loop.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include <grpcpp/client_context.h>
#include <grpcpp/support/client_callback.h>

#include "common/base/scheduler.h"
#include "common/rpc/grpc_fence.h"
#include "common/rpc/write_queue.h"

namespace plimsoll::rpc {

// Owned by its user and, from Start() until gRPC's last callback, by itself. Every public method
// but the constructor is called on the scheduler's thread.
template <typename Out, typename In>
class ClientStream final : public grpc::ClientBidiReactor<Out, In>,
                           public std::enable_shared_from_this<ClientStream<Out, In>> {
 public:
  struct Handlers {
    std::function<void()> on_open;  // The server sent its headers: it is there.
    std::function<void(const In&)> on_message;
    std::function<void(const Status&)> on_done;  // Last.
  };

  ClientStream(Scheduler& scheduler, std::shared_ptr<StreamCount> count, WriteQueue<Out> queue,
               Handlers handlers)
      : scheduler_(scheduler),
        count_(std::move(count)),
        handlers_(std::make_shared<const Handlers>(std::move(handlers))),
        queue_(std::move(queue)) {}

  // `dial(context, reactor)` calls the stub's method. Once.
  template <typename Dial>
  void Start(Dial dial) {
    self_ = this->shared_from_this();
    count_->Up();
    dial(&context_, this);
    this->AddHold();  // So that reads and writes may start outside of gRPC's callbacks.
    this->StartCall();
  }

  // In order. False: the queue is full, and the message dropped.
  bool Write(Out message) {
    const std::scoped_lock lock(mutex_);
    if (ended_) return true;  // on_done is on its way.
    if (!queue_.Push(std::move(message))) return false;
    WriteNext();
    return true;
  }

  // Ends our half once the queue is written; the server's end follows.
  void EndWrites() {
    const std::scoped_lock lock(mutex_);
    end_writes_ = true;
    WriteNext();
  }

  // Cuts the stream; on_done follows.
  void Cancel() {
    context_.TryCancel();
    Release();
  }

  // No handler runs from now on.
  void Detach() { handlers_.reset(); }

  // gRPC's callbacks, on its threads.
  void OnReadInitialMetadataDone(bool ok) override {
    if (!ok) return Release();
    Post([](ClientStream& self) {
      if (const auto handlers = self.handlers_) handlers->on_open();
    });
    const std::scoped_lock lock(mutex_);
    if (ended_) return;
    open_ = true;
    WriteNext();
    this->StartRead(&in_);
  }
  void OnReadDone(bool ok) override {
    if (!ok) return Release();
    Post([](ClientStream& self) {
      if (const auto handlers = self.handlers_) handlers->on_message(self.in_);
      self.ReadNext();
    });
  }
  void OnWriteDone(bool ok) override {
    const std::scoped_lock lock(mutex_);
    writing_ = false;
    queue_.PopFront();
    broken_ = broken_ || !ok;  // The read fails too, and says why.
    WriteNext();
  }
  // The task takes our last reference along: it holds the channel, and gRPC 1.51 joins its polling
  // threads when the last channel goes, which must not happen on one of them.
  void OnDone(const grpc::Status& status) override {
    const std::shared_ptr<StreamCount> count = count_;
    scheduler_.Post([self = std::move(self_), ours = FromGrpc(status)] {
      if (const auto handlers = std::exchange(self->handlers_, nullptr)) handlers->on_done(ours);
    });
    count->Down();
  }

 private:
  template <typename Task>
  void Post(Task task) {
    scheduler_.Post([keep = this->shared_from_this(), task] { task(*keep); });
  }

  void ReadNext() {
    const std::scoped_lock lock(mutex_);
    if (ended_) return;
    in_.Clear();
    this->StartRead(&in_);
  }

  // With the lock. The hold is kept while !ended_, so starting an operation is allowed.
  void WriteNext() {
    if (!open_ || writing_ || broken_ || ended_) return;
    if (!queue_.empty()) {
      writing_ = true;
      this->StartWrite(queue_.front());
    } else if (end_writes_ && !std::exchange(ended_writes_, true)) {
      this->StartWritesDone();
    }
  }

  // Nothing is started any more; lets gRPC call OnDone once what was started has ended.
  void Release() {
    bool held = false;
    {
      const std::scoped_lock lock(mutex_);
      held = !std::exchange(ended_, true);
    }
    if (held) this->RemoveHold();
  }

  Scheduler& scheduler_;
  const std::shared_ptr<StreamCount> count_;
  grpc::ClientContext context_;
  std::shared_ptr<ClientStream> self_;  // From Start() to OnDone().
  // The scheduler's thread only. A running handler shares it, so that it may Detach().
  std::shared_ptr<const Handlers> handlers_;
  In in_;  // gRPC's while a read is open, else the scheduler's thread's.

  std::mutex mutex_;  // Guards what follows.
  WriteQueue<Out> queue_;
  bool open_ = false;
  bool writing_ = false;
  bool broken_ = false;
  bool end_writes_ = false;
  bool ended_writes_ = false;
  bool ended_ = false;
};

}  // namespace plimsoll::rpc
