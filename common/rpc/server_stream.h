// The coordinator's end of one bidirectional gRPC stream. gRPC's callbacks only note what they must
// and post to the Scheduler; handlers run there. Includes gRPC: for the files that fence it.
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

// on_done follows every end: Finish(), Cancel(), or the peer's.
template <typename In, typename Out>
class ServerStream final
    : public ServerWriteHalf<ServerStream<In, Out>, grpc::ServerBidiReactor<In, Out>, Out> {
  using Base = ServerWriteHalf<ServerStream<In, Out>, grpc::ServerBidiReactor<In, Out>, Out>;

 public:
  struct Handlers {
    std::function<void(const In&)> on_message;  // One per ReadNext().
    std::function<void()> on_end;               // The peer ended its half, or broke.
    std::function<void(bool cut)> on_done;      // Last. `cut`: it broke, or was cancelled.
  };

  // What Accept() hands the stream to gives it handlers.
  ServerStream(grpc::CallbackServerContext* context, Scheduler& scheduler,
               std::shared_ptr<StreamCount> count, WriteQueue<Out> queue)
      : Base(context, scheduler, std::move(count), std::move(queue)) {}

  // Once, before the first ReadNext(). A stream that has ended by then gets its on_end and on_done.
  void SetHandlers(Handlers handlers) {
    handlers_ = std::make_shared<const Handlers>(std::move(handlers));
  }

  // Asks for the next message; call it again only after on_message.
  void ReadNext() {
    const std::scoped_lock lock(this->mutex_);
    if (this->finished_) return;
    in_.Clear();
    this->StartRead(&in_);
  }

  // No handler runs from now on.
  void Detach() { handlers_.reset(); }

  // gRPC's callbacks, on its threads.
  void OnReadDone(bool ok) override {
    this->scheduler_.Post([self = this->shared_from_this(), ok] {
      const auto handlers = self->handlers_;
      if (handlers == nullptr) return;
      ok ? handlers->on_message(self->in_) : handlers->on_end();
    });
  }
  void OnDone() override {
    const std::shared_ptr<StreamCount> count = this->count_;
    // gRPC has returned from OnCancel, if it called it.
    this->scheduler_.Post([self = std::move(this->self_), cut = WasCut()] {
      if (const auto handlers = std::exchange(self->handlers_, nullptr)) handlers->on_done(cut);
    });
    count->Down();
  }

 private:
  bool WasCut() {
    const std::scoped_lock lock(this->mutex_);
    return this->cut_;
  }

  // The scheduler's thread only. A running handler shares it, so that it may Detach().
  std::shared_ptr<const Handlers> handlers_;
  In in_;  // gRPC's while a read is open, else the scheduler's thread's.
};

}  // namespace plimsoll::rpc
