#include "agent/uplink/grpc_coordinator_link.h"

#include <algorithm>
#include <deque>
#include <utility>

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include "agent/uplink/dial_failure.h"
#include "common/base/limits.h"
#include "common/base/rng.h"
#include "common/rpc/client_stream.h"
#include "common/rpc/endpoint.h"
#include "common/rpc/grpc_fence.h"
#include "common/rpc/rpc_limits.h"
#include "common/wire/message_codec.h"
#include "common/wire/record_codec.h"
#include "fmt/format.h"
#include "plimsoll/v1/control.grpc.pb.h"

namespace plimsoll {
namespace {

using ControlStream = rpc::ClientStream<v1::AgentMessage, v1::CoordinatorMessage>;
using RecordsStream = rpc::ClientStream<v1::UploadMessage, v1::RecordAck>;

// The upper half of a doubled back-off, so that agents started together do not dial together.
Duration BackOff(const GrpcCoordinatorLinkOptions& options, std::uint32_t failures, Rng* rng) {
  Duration wait = options.back_off_min;
  for (std::uint32_t i = 1; i < failures && wait < options.back_off_max; ++i) wait *= 2;
  wait = std::min(wait, options.back_off_max);
  return Duration(
      static_cast<Duration::rep>(static_cast<double>(wait.count()) * (0.5 + 0.5 * rng->Uniform())));
}

}  // namespace

// States: connecting (control_ may be null between attempts) → open → ending (in order: what was
// sent is being written) → cutting (a fault, or too late) → closed (OnClosed was called). Any may
// be skipped.
//
// An end in order is serial, so that the coordinator cannot take the link for ended while batches
// are on their way: the records stream begins if it has not, is written and ended; the coordinator
// answers its end only when it has read it all; then control is ended.
class GrpcCoordinatorLink::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(GrpcCoordinatorLinkOptions options, Scheduler& scheduler, CoordinatorLinkEvents& events)
      : options_(std::move(options)), scheduler_(scheduler), events_(events), rng_(options_.seed) {}

  void Start();
  void Shutdown();
  void Send(const AgentMessage& message);
  void SendBatch(const RecordBatch& batch);
  void Close();

 private:
  enum class State { kConnecting, kOpen, kEnding, kCutting, kClosed };

  // A handler's body that runs only while the link lives.
  template <typename Method>
  auto Bind(Method method) {
    return [weak = this->weak_from_this(), method](const auto&... arguments) {
      if (const std::shared_ptr<Impl> self = weak.lock()) ((*self).*method)(arguments...);
    };
  }

  void Dial();
  void OnControlOpen();
  void OnControlMessage(const v1::CoordinatorMessage& message);
  void OnControlDone(const Status& status);
  void OnAttemptFailed(const Status& status);
  void OpenRecords();
  void OnAck(const v1::RecordAck& ack);
  void OnRecordsDone(const Status& status);
  void Queue(v1::AgentMessage message);
  void Queue(v1::UploadMessage message);
  bool Ended() const { return state_ != State::kConnecting && state_ != State::kOpen; }
  void StartEnding();
  void EndInOrder();
  void EndNext();
  bool BatchesTaken() const { return records_read_ || last_ack_ >= last_batch_; }
  Status WhatWasNotTaken() const;
  void Fail(const Status& reason);
  void CutStreams();
  void CloseWhenDone();

  const GrpcCoordinatorLinkOptions options_;
  Scheduler& scheduler_;
  CoordinatorLinkEvents& events_;
  Rng rng_;
  const std::shared_ptr<rpc::StreamCount> streams_ = std::make_shared<rpc::StreamCount>();

  State state_ = State::kConnecting;
  Status reason_ = absl::OkStatus();  // Why the link is cut; OK while it ends in order.
  std::uint32_t failures_ = 0;        // Attempts to connect so far, all failed.
  Status last_failure_ = absl::UnavailableError("no answer");
  Timer patience_;
  Timer retry_;
  Timer linger_;
  // Null: not begun, or ended.
  std::shared_ptr<ControlStream> control_;
  std::shared_ptr<RecordsStream> records_;
  bool records_begun_ = false;
  // Sent before their stream stood.
  std::deque<v1::AgentMessage> early_messages_;
  std::deque<v1::UploadMessage> early_batches_;
  // Highest sequences: given to SendBatch, acked. The coordinator has all if it read to the end.
  std::uint64_t last_batch_ = 0;
  std::uint64_t last_ack_ = 0;
  bool records_read_ = false;
};

void GrpcCoordinatorLink::Impl::Start() {
  const StatusOr<Endpoint> endpoint = ParseEndpoint(options_.coordinator);
  if (!endpoint.ok()) return Fail(Annotate(endpoint.status(), "coordinator"));
  patience_ = scheduler_.After(options_.patience, [this] {
    if (state_ != State::kConnecting) return;
    early_messages_.clear();  // That nothing was sent goes without saying.
    Fail(absl::UnavailableError(fmt::format(
        "no connection within {:.1f} s, {} attempts; check --coordinator "
        "and that `plimsoll run` listens there; last: {}",
        ToSeconds(options_.patience), failures_ + 1, DialFailure(MessageOf(last_failure_)))));
  });
  Dial();
}

void GrpcCoordinatorLink::Impl::Shutdown() {
  state_ = State::kClosed;
  patience_.Cancel();
  retry_.Cancel();
  linger_.Cancel();
  if (control_) control_->Detach();
  if (records_) records_->Detach();
  CutStreams();
  streams_->WaitForZero();
}

void GrpcCoordinatorLink::Impl::Dial() {
  // A channel of its own each time: gRPC would otherwise apply a back-off of its own, unseeded.
  const auto channel = grpc::CreateCustomChannel(
      options_.coordinator, grpc::InsecureChannelCredentials(), rpc::ClientArguments());
  control_ = std::make_shared<ControlStream>(
      scheduler_, streams_,
      rpc::WriteQueue<v1::AgentMessage>(rpc::kControlQueueMax, rpc::kControlQueueBytesMax),
      ControlStream::Handlers{.on_open = Bind(&Impl::OnControlOpen),
                              .on_message = Bind(&Impl::OnControlMessage),
                              .on_done = Bind(&Impl::OnControlDone)});
  control_->Start([&](grpc::ClientContext* context, auto* reactor) {
    v1::Control::Stub(channel).async()->Attach(context, reactor);
  });
}

void GrpcCoordinatorLink::Impl::OnControlOpen() {
  if (state_ != State::kConnecting) return;
  state_ = State::kOpen;
  patience_.Cancel();
  std::deque<v1::AgentMessage> early = std::exchange(early_messages_, {});
  for (v1::AgentMessage& message : early) Queue(std::move(message));
}

void GrpcCoordinatorLink::Impl::OnControlMessage(const v1::CoordinatorMessage& message) {
  if (state_ == State::kClosed) return;
  StatusOr<CoordinatorMessage> read = FromProto(message);
  if (!read.ok()) return Fail(Annotate(read.status(), "a message of the coordinator"));
  if (state_ == State::kOpen && !records_begun_) OpenRecords();
  if (state_ == State::kEnding && !records_begun_ && !early_batches_.empty()) {
    OpenRecords();
    EndNext();
  }
  events_.OnMessage(*std::move(read));
}

void GrpcCoordinatorLink::Impl::OnControlDone(const Status& status) {
  control_ = nullptr;
  if (state_ == State::kConnecting) return OnAttemptFailed(status);
  if (!status.ok()) Fail(status);
  // The coordinator ended it in order. It still reads the records stream to its end.
  if (state_ == State::kOpen) return EndInOrder();
  CloseWhenDone();
}

void GrpcCoordinatorLink::Impl::OnAttemptFailed(const Status& status) {
  ++failures_;
  last_failure_ = status;
  // Anything else is an answer: something else listens there, or another version.
  if (status.code() != absl::StatusCode::kUnavailable) {
    return Fail(status.ok() ? absl::UnavailableError("ended without a word") : status);
  }
  retry_ = scheduler_.After(BackOff(options_, failures_, &rng_), [this] { Dial(); });
}

void GrpcCoordinatorLink::Impl::OpenRecords() {
  records_begun_ = true;
  const auto channel = grpc::CreateCustomChannel(
      options_.coordinator, grpc::InsecureChannelCredentials(), rpc::ClientArguments());
  records_ = std::make_shared<RecordsStream>(
      scheduler_, streams_,
      rpc::WriteQueue<v1::UploadMessage>(limits::kBatchesKeptMax + 1, rpc::kControlQueueBytesMax),
      RecordsStream::Handlers{.on_open = [] {},
                              .on_message = Bind(&Impl::OnAck),
                              .on_done = Bind(&Impl::OnRecordsDone)});
  records_->Start([&](grpc::ClientContext* context, auto* reactor) {
    v1::Records::Stub(channel).async()->Upload(context, reactor);
  });
  v1::UploadMessage setup;
  setup.mutable_setup()->set_incarnation(options_.incarnation);
  Queue(std::move(setup));
  std::deque<v1::UploadMessage> early = std::exchange(early_batches_, {});
  for (v1::UploadMessage& batch : early) Queue(std::move(batch));
}

void GrpcCoordinatorLink::Impl::OnAck(const v1::RecordAck& ack) {
  if (state_ == State::kClosed) return;
  last_ack_ = std::max(last_ack_, ack.sequence());
  events_.OnAck(ack.sequence());
}

void GrpcCoordinatorLink::Impl::OnRecordsDone(const Status& status) {
  records_ = nullptr;
  records_read_ = status.ok() && state_ == State::kEnding;
  if (records_read_ || (state_ == State::kEnding && BatchesTaken())) {
    EndNext();
  } else if (state_ == State::kOpen && status.code() == absl::StatusCode::kNotFound) {
    // The coordinator has ended this link; why, control is about to say.
    StartEnding();
  } else {
    Fail(Annotate(status.ok() ? absl::UnavailableError("ended early") : status, "records"));
  }
  CloseWhenDone();
}

void GrpcCoordinatorLink::Impl::Queue(v1::AgentMessage message) {
  if (control_ && !control_->Write(std::move(message))) {
    Fail(absl::ResourceExhaustedError("too many control messages wait to be sent"));
  }
}

void GrpcCoordinatorLink::Impl::Queue(v1::UploadMessage message) {
  if (records_ && !records_->Write(std::move(message))) {
    Fail(absl::ResourceExhaustedError("too many batches wait to be sent"));
  }
}

void GrpcCoordinatorLink::Impl::Send(const AgentMessage& message) {
  if (Ended()) return;
  v1::AgentMessage proto;
  ToProto(message, &proto);
  if (proto.ByteSizeLong() > rpc::kMessageBytesMax) {
    return Fail(
        absl::ResourceExhaustedError(fmt::format("a message of {} bytes is over the limit of {}",
                                                 proto.ByteSizeLong(), rpc::kMessageBytesMax)));
  }
  if (state_ == State::kOpen) return Queue(std::move(proto));
  if (early_messages_.size() >= rpc::kControlQueueMax) {
    return Fail(absl::ResourceExhaustedError("too many control messages wait to be sent"));
  }
  early_messages_.push_back(std::move(proto));
}

void GrpcCoordinatorLink::Impl::SendBatch(const RecordBatch& batch) {
  if (Ended()) return;
  v1::UploadMessage message;
  ToProto(batch, message.mutable_batch());
  last_batch_ = std::max(last_batch_, batch.sequence);
  if (records_begun_) return Queue(std::move(message));
  if (early_batches_.size() >= limits::kBatchesKeptMax) {
    return Fail(absl::ResourceExhaustedError("too many batches wait to be sent"));
  }
  early_batches_.push_back(std::move(message));
}

void GrpcCoordinatorLink::Impl::Close() {
  if (Ended()) return;
  if (state_ == State::kOpen) return EndInOrder();
  // Nobody is there to be written to.
  state_ = State::kEnding;
  patience_.Cancel();
  retry_.Cancel();
  if (control_) {
    control_->Detach();
    control_->Cancel();
    control_ = nullptr;
  }
  scheduler_.Post(Bind(&Impl::CloseWhenDone));
}

void GrpcCoordinatorLink::Impl::StartEnding() {
  state_ = State::kEnding;
  linger_ = scheduler_.After(options_.linger, [this] {
    Fail(absl::DeadlineExceededError(
        fmt::format("the link did not end within {:.1f} s", ToSeconds(options_.linger))));
  });
}

void GrpcCoordinatorLink::Impl::EndInOrder() {
  StartEnding();
  EndNext();
  // OnClosed never runs from inside a method, even if no stream is open.
  scheduler_.Post(Bind(&Impl::CloseWhenDone));
}

// Ends the stream whose turn it is.
void GrpcCoordinatorLink::Impl::EndNext() {
  if (records_) return records_->EndWrites();
  // Batches that no stream could take yet: the coordinator's first message will open it.
  if (!records_begun_ && !early_batches_.empty()) return;
  if (control_) control_->EndWrites();
}

// After an end in order: OK if the coordinator took all that was sent, else what it did not, in
// words.
Status GrpcCoordinatorLink::Impl::WhatWasNotTaken() const {
  if (reason_.ok() && BatchesTaken() && early_messages_.empty()) return absl::OkStatus();
  std::string words = reason_.ok() ? fmt::format("coordinator {}: closed", options_.coordinator)
                                   : std::string(MessageOf(reason_));
  if (!early_messages_.empty()) {
    words += early_messages_.size() == 1
                 ? "; one message was not sent"
                 : fmt::format("; {} messages were not sent", early_messages_.size());
  }
  if (!BatchesTaken()) {
    words += fmt::format("; batches {} to {} may be lost", last_ack_ + 1, last_batch_);
  }
  return Status(reason_.ok() ? absl::StatusCode::kUnavailable : reason_.code(), words);
}

// The link ends for `reason`: streams are cut, and OnClosed follows once they are gone.
void GrpcCoordinatorLink::Impl::Fail(const Status& reason) {
  if (state_ == State::kCutting || state_ == State::kClosed) return;
  state_ = State::kCutting;
  // A stream that the coordinator cut is not one that we gave up.
  const auto code = absl::IsCancelled(reason) ? absl::StatusCode::kUnavailable : reason.code();
  reason_ =
      Status(code, fmt::format("coordinator {}: {}", options_.coordinator, MessageOf(reason)));
  patience_.Cancel();
  retry_.Cancel();
  CutStreams();
  scheduler_.Post(Bind(&Impl::CloseWhenDone));
}

void GrpcCoordinatorLink::Impl::CutStreams() {
  if (control_) control_->Cancel();
  if (records_) records_->Cancel();
}

void GrpcCoordinatorLink::Impl::CloseWhenDone() {
  if ((state_ != State::kEnding && state_ != State::kCutting) || control_ || records_) return;
  state_ = State::kClosed;
  linger_.Cancel();
  events_.OnClosed(WhatWasNotTaken());
}

GrpcCoordinatorLink::GrpcCoordinatorLink(GrpcCoordinatorLinkOptions options, Scheduler& scheduler,
                                         CoordinatorLinkEvents& events)
    : impl_(std::make_shared<Impl>(std::move(options), scheduler, events)) {
  impl_->Start();
}
GrpcCoordinatorLink::~GrpcCoordinatorLink() {
  impl_->Shutdown();
}
void GrpcCoordinatorLink::Send(AgentMessage message) {
  impl_->Send(message);
}
void GrpcCoordinatorLink::SendBatch(const RecordBatch& batch) {
  impl_->SendBatch(batch);
}
void GrpcCoordinatorLink::Close() {
  impl_->Close();
}

}  // namespace plimsoll
