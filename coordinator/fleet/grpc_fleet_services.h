// The two services that agents dial: each call becomes a stream that the loop adopts. Includes
// gRPC: for grpc_fleet_server.cc only.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <utility>

#include "common/base/scheduler.h"
#include "common/base/status.h"
#include "common/rpc/rpc_limits.h"
#include "common/rpc/server_stream.h"
#include "plimsoll/v1/control.grpc.pb.h"

namespace plimsoll {

using ControlStream = rpc::ServerStream<v1::AgentMessage, v1::CoordinatorMessage>;
using RecordsStream = rpc::ServerStream<v1::UploadMessage, v1::RecordAck>;

// The methods, called on gRPC's threads: each makes its stream and has the loop adopt it.
template <typename Stream>
using Adopt = std::function<void(const std::shared_ptr<Stream>&)>;

class ControlService final : public v1::Control::CallbackService {
 public:
  ControlService(Scheduler& scheduler, std::shared_ptr<rpc::StreamCount> count,
                 Adopt<ControlStream> adopt)
      : scheduler_(scheduler), count_(std::move(count)), adopt_(std::move(adopt)) {}
  grpc::ServerBidiReactor<v1::AgentMessage, v1::CoordinatorMessage>* Attach(
      grpc::CallbackServerContext* context) override {
    const auto stream = std::make_shared<ControlStream>(
        context, scheduler_, count_,
        rpc::WriteQueue<v1::CoordinatorMessage>(rpc::kControlQueueMax, rpc::kControlQueueBytesMax));
    stream->Accept(adopt_);
    return stream.get();  // It owns itself until gRPC's last callback.
  }

 private:
  Scheduler& scheduler_;
  const std::shared_ptr<rpc::StreamCount> count_;
  const Adopt<ControlStream> adopt_;
};

class RecordsService final : public v1::Records::CallbackService {
 public:
  RecordsService(Scheduler& scheduler, std::shared_ptr<rpc::StreamCount> count,
                 Adopt<RecordsStream> adopt)
      : scheduler_(scheduler), count_(std::move(count)), adopt_(std::move(adopt)) {}
  grpc::ServerBidiReactor<v1::UploadMessage, v1::RecordAck>* Upload(
      grpc::CallbackServerContext* context) override {
    const auto stream = std::make_shared<RecordsStream>(
        context, scheduler_, count_,
        rpc::WriteQueue<v1::RecordAck>(rpc::kControlQueueMax, rpc::kControlQueueBytesMax));
    stream->Accept(adopt_);
    return stream.get();  // It owns itself until gRPC's last callback.
  }

 private:
  Scheduler& scheduler_;
  const std::shared_ptr<rpc::StreamCount> count_;
  const Adopt<RecordsStream> adopt_;
};

// One agent. Begins with its control stream; the records stream comes later, or never.
struct AttachedAgent {
  std::shared_ptr<ControlStream> control;  // Null: ended.
  std::shared_ptr<RecordsStream> records;  // Null: not begun, or ended.
  std::uint64_t incarnation = 0;           // 0: no Hello yet, nothing is reported.
  std::deque<std::uint64_t> unacked;       // Sequences delivered; at most the window.
  bool read_paused = false;                // The window is full.
  bool ending = false;
  bool ended_by_agent = false;
  Status reason = absl::OkStatus();  // Why it is ending.
  Timer limit;                       // First message, then the end.
};

}  // namespace plimsoll
