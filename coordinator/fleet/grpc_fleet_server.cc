#include "coordinator/fleet/grpc_fleet_server.h"

#include <algorithm>
#include <map>
#include <utility>

#include <grpc/support/time.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include "common/base/limits.h"
#include "common/rpc/endpoint.h"
#include "common/rpc/grpc_fence.h"
#include "common/rpc/rpc_limits.h"
#include "common/wire/message_codec.h"
#include "common/wire/record_codec.h"
#include "coordinator/fleet/grpc_fleet_services.h"
#include "fmt/format.h"

namespace plimsoll {
class GrpcFleetServer::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(GrpcFleetServerOptions options, Scheduler& scheduler, AgentLinkEvents& events)
      : options_(std::move(options)), scheduler_(scheduler), events_(events) {}

  Status Listen();
  void Shutdown();
  std::string address() const { return ToText(endpoint_); }
  void Send(LinkId link, const CoordinatorMessage& message);
  void Ack(LinkId link, std::uint64_t sequence);
  void Close(LinkId link);

 private:
  // A handler's body that runs only while the server lives.
  template <typename Method, typename... Bound>
  auto Bind(Method method, Bound... bound) {
    return [weak = this->weak_from_this(), method, bound...](const auto&... arguments) {
      const std::shared_ptr<Impl> self = weak.lock();
      if (self != nullptr && !self->stopped_) ((*self).*method)(bound..., arguments...);
    };
  }
  AttachedAgent* Find(LinkId id) {
    const auto it = links_.find(id);
    return it == links_.end() ? nullptr : &it->second;
  }

  void AdoptControl(const std::shared_ptr<ControlStream>& stream);
  void OnControlMessage(LinkId id, const v1::AgentMessage& message);
  Status AdmitHello(LinkId id, const AgentMessage& message);
  void OnControlEnd(LinkId id);
  void OnControlDone(LinkId id, bool cut);

  void AdoptRecords(const std::shared_ptr<RecordsStream>& stream);
  void OnSetup(std::uint64_t upload, const v1::UploadMessage& message);
  void OnUploadGone(std::uint64_t upload);
  void OnBatch(LinkId id, const v1::UploadMessage& message);
  void OnRecordsEnd(LinkId id);
  void OnRecordsDone(LinkId id, bool cut);

  void End(LinkId id, const Status& reason, const Status& answer);
  void CutStreams(LinkId id);
  void CloseWhenDone(LinkId id);

  const GrpcFleetServerOptions options_;
  Scheduler& scheduler_;
  AgentLinkEvents& events_;
  const std::shared_ptr<rpc::StreamCount> streams_ = std::make_shared<rpc::StreamCount>();
  Endpoint endpoint_;
  std::unique_ptr<ControlService> control_service_;
  std::unique_ptr<RecordsService> records_service_;
  std::unique_ptr<grpc::Server> server_;

  bool stopped_ = false;
  std::uint64_t next_id_ = 1;
  std::map<LinkId, AttachedAgent> links_;
  // Records streams that have not named their agent yet.
  struct Upload {
    std::shared_ptr<RecordsStream> stream;
    Timer limit;
  };
  std::map<std::uint64_t, Upload> uploads_;
};

Status GrpcFleetServer::Impl::Listen() {
  ASSIGN_OR_RETURN(endpoint_, ParseEndpoint(options_.listen));
  if (!IsLoopback(endpoint_) && !options_.allow_plaintext) {
    return absl::InvalidArgumentError(
        fmt::format("listen address '{}': without TLS only a loopback address, such as "
                    "127.0.0.1:{}, is listened on, unless plain text is allowed explicitly",
                    options_.listen, endpoint_.port));
  }
  control_service_ =
      std::make_unique<ControlService>(scheduler_, streams_, Bind(&Impl::AdoptControl));
  records_service_ =
      std::make_unique<RecordsService>(scheduler_, streams_, Bind(&Impl::AdoptRecords));
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(ToText(endpoint_), grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(control_service_.get());
  builder.RegisterService(records_service_.get());
  builder.SetMaxReceiveMessageSize(static_cast<int>(rpc::kMessageBytesMax));
  builder.SetMaxSendMessageSize(static_cast<int>(rpc::kMessageBytesMax));
  // Otherwise a second coordinator could share the port, and agents would reach either.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, rpc::kKeepaliveTimeMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, rpc::kKeepaliveTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  // Agents ping every kKeepaliveTimeMs; gRPC would take more than one in five minutes for abuse.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             rpc::kKeepaliveTimeMs / 5);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0);
  server_ = builder.BuildAndStart();
  if (server_ == nullptr || port == 0) {
    return absl::UnavailableError(fmt::format(
        "listen address '{}': cannot be bound (in use, or not of this host)", options_.listen));
  }
  endpoint_.port = static_cast<std::uint16_t>(port);
  return absl::OkStatus();
}

void GrpcFleetServer::Impl::Shutdown() {
  stopped_ = true;
  if (server_ == nullptr) return;
  const Status ended = absl::UnavailableError("the coordinator has ended");
  for (auto& [id, link] : links_) {
    if (link.control) link.control->Detach();
    if (link.control) link.control->Finish(ended);
    if (link.records) link.records->Detach();
    if (link.records) link.records->Finish(ended);
  }
  for (auto& [id, upload] : uploads_) upload.stream->Finish(ended);
  uploads_.clear();
  // Cuts at the deadline whatever is left, streams that no loop task has adopted among them.
  server_->Shutdown(
      gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                   gpr_time_from_nanos(options_.shutdown_wait.count(), GPR_TIMESPAN)));
  streams_->WaitForZero();
  server_ = nullptr;
  links_.clear();
}

void GrpcFleetServer::Impl::AdoptControl(const std::shared_ptr<ControlStream>& stream) {
  const LinkId id = next_id_++;
  AttachedAgent& link = links_[id];
  link.control = stream;
  stream->SetHandlers({.on_message = Bind(&Impl::OnControlMessage, id),
                       .on_end = Bind(&Impl::OnControlEnd, id),
                       .on_done = Bind(&Impl::OnControlDone, id)});
  if (links_.size() > limits::kAgentsMax) {
    return End(id, absl::OkStatus(), absl::ResourceExhaustedError("the fleet is full"));
  }
  link.limit = scheduler_.After(rpc::kFirstMessageWait, [this, id] {
    End(id, absl::OkStatus(), absl::DeadlineExceededError("no Hello came within 10 s"));
  });
  stream->ReadNext();
}

Status GrpcFleetServer::Impl::AdmitHello(LinkId id, const AgentMessage& message) {
  const Hello* hello = std::get_if<Hello>(&message);
  if (hello == nullptr) {
    return absl::InvalidArgumentError("the first message of a link must be Hello");
  }
  for (const auto& [other, link] : links_) {
    if (other != id && link.incarnation == hello->incarnation) {
      return absl::AlreadyExistsError(
          fmt::format("agent '{}': its incarnation is attached already", hello->name));
    }
  }
  AttachedAgent* link = Find(id);
  link->incarnation = hello->incarnation;
  link->limit.Cancel();
  return absl::OkStatus();
}

void GrpcFleetServer::Impl::OnControlMessage(LinkId id, const v1::AgentMessage& message) {
  AttachedAgent* link = Find(id);
  if (link == nullptr || (link->ending && link->incarnation == 0)) return;
  StatusOr<AgentMessage> read = FromProto(message);
  Status refusal = read.status();
  if (refusal.ok() && link->incarnation == 0) {
    refusal = AdmitHello(id, *read);
  } else if (refusal.ok() && std::holds_alternative<Hello>(*read)) {
    refusal = absl::InvalidArgumentError("a link has one Hello, and this is the second");
  }
  if (!refusal.ok()) return End(id, refusal, refusal);
  events_.OnMessage(id, *std::move(read));
  if (stopped_) return;
  link = Find(id);
  if (link != nullptr && link->control) link->control->ReadNext();
}

void GrpcFleetServer::Impl::OnControlEnd(LinkId id) {
  // In order, or broken: that is known when the stream is done.
  End(id, absl::OkStatus(), absl::OkStatus());
  if (AttachedAgent* link = Find(id)) link->ended_by_agent = true;
}

void GrpcFleetServer::Impl::OnControlDone(LinkId id, bool cut) {
  AttachedAgent* link = Find(id);
  if (link == nullptr) return;
  link->control = nullptr;
  const Status broke = absl::UnavailableError("the control stream broke");
  End(id, broke, broke);
  if (cut && link->ended_by_agent && link->reason.ok()) link->reason = broke;
  CloseWhenDone(id);
}

void GrpcFleetServer::Impl::AdoptRecords(const std::shared_ptr<RecordsStream>& stream) {
  const std::uint64_t upload = next_id_++;
  stream->SetHandlers({.on_message = Bind(&Impl::OnSetup, upload),
                       .on_end = Bind(&Impl::OnUploadGone, upload),
                       .on_done = [gone = Bind(&Impl::OnUploadGone, upload)](bool) { gone(); }});
  Timer limit = scheduler_.After(rpc::kFirstMessageWait, [this, upload] {
    const auto it = uploads_.find(upload);
    it->second.stream->Finish(absl::DeadlineExceededError("no set-up came within 10 s"));
    uploads_.erase(it);
  });
  uploads_[upload] = Upload{.stream = stream, .limit = std::move(limit)};
  stream->ReadNext();
}

void GrpcFleetServer::Impl::OnSetup(std::uint64_t upload, const v1::UploadMessage& message) {
  const auto it = uploads_.find(upload);
  if (it == uploads_.end()) return;
  const std::shared_ptr<RecordsStream> stream = it->second.stream;
  uploads_.erase(it);
  if (!message.has_setup() || message.setup().incarnation() == 0) {
    return stream->Finish(absl::InvalidArgumentError(
        "the first message of an upload must be a set-up with an incarnation"));
  }
  const std::uint64_t incarnation = message.setup().incarnation();
  const auto owner = std::find_if(links_.begin(), links_.end(), [incarnation](const auto& entry) {
    return entry.second.incarnation == incarnation && entry.second.reason.ok();
  });
  if (owner == links_.end()) {
    return stream->Finish(absl::NotFoundError("no agent of this incarnation is attached"));
  }
  const LinkId id = owner->first;
  if (owner->second.records) {
    return stream->Finish(absl::AlreadyExistsError("this incarnation uploads already"));
  }
  owner->second.records = stream;
  stream->SetHandlers({.on_message = Bind(&Impl::OnBatch, id),
                       .on_end = Bind(&Impl::OnRecordsEnd, id),
                       .on_done = Bind(&Impl::OnRecordsDone, id)});
  stream->ReadNext();
}

void GrpcFleetServer::Impl::OnUploadGone(std::uint64_t upload) {
  const auto it = uploads_.find(upload);
  if (it == uploads_.end()) return;
  it->second.stream->Finish(absl::OkStatus());
  uploads_.erase(it);
}

void GrpcFleetServer::Impl::OnBatch(LinkId id, const v1::UploadMessage& message) {
  AttachedAgent* link = Find(id);
  if (link == nullptr) return;
  StatusOr<RecordBatch> read = message.has_batch()
                                   ? FromProto(message.batch())
                                   : absl::InvalidArgumentError("an upload has one set-up");
  Status refusal = read.status();
  if (refusal.ok() && read->incarnation != link->incarnation) {
    refusal = absl::InvalidArgumentError("a batch of another incarnation than the set-up's");
  }
  if (!refusal.ok()) {
    if (link->records) link->records->Finish(refusal);
    return End(id, refusal, refusal);
  }
  link->unacked.push_back(read->sequence);
  events_.OnBatch(id, *std::move(read));
  if (stopped_) return;
  link = Find(id);
  if (link == nullptr || !link->records) return;
  // An agent that is gone sends no more than what has arrived: that is read to its end.
  if (link->ending || link->unacked.size() < limits::kBatchWindow) {
    link->records->ReadNext();
  } else {
    link->read_paused = true;
  }
}

void GrpcFleetServer::Impl::OnRecordsEnd(LinkId id) {
  AttachedAgent* link = Find(id);
  if (link != nullptr && link->records) link->records->Finish(absl::OkStatus());
}

void GrpcFleetServer::Impl::OnRecordsDone(LinkId id, bool cut) {
  AttachedAgent* link = Find(id);
  if (link == nullptr) return;
  link->records = nullptr;
  const Status broke = absl::UnavailableError("the records stream broke");
  if (cut) End(id, broke, broke);
  CloseWhenDone(id);
}

void GrpcFleetServer::Impl::Send(LinkId id, const CoordinatorMessage& message) {
  AttachedAgent* link = Find(id);
  if (link == nullptr || !link->control || link->ending) return;
  v1::CoordinatorMessage proto;
  ToProto(message, &proto);
  const std::size_t bytes = proto.ByteSizeLong();
  if (bytes <= rpc::kMessageBytesMax && link->control->Write(std::move(proto))) return;
  const Status reason = absl::ResourceExhaustedError(
      fmt::format("a message of {} bytes is over the limit, or too many wait to be sent", bytes));
  End(id, reason, reason);
}

void GrpcFleetServer::Impl::Ack(LinkId id, std::uint64_t sequence) {
  AttachedAgent* link = Find(id);
  if (link == nullptr) return;
  std::erase_if(link->unacked, [sequence](std::uint64_t one) { return one <= sequence; });
  if (!link->records) return;
  v1::RecordAck ack;
  ack.set_sequence(sequence);
  if (!link->records->Write(std::move(ack))) {
    const Status reason = absl::ResourceExhaustedError("the agent does not read its acks");
    return End(id, reason, reason);
  }
  if (link->read_paused && link->unacked.size() < limits::kBatchWindow) {
    link->read_paused = false;
    link->records->ReadNext();
  }
}

void GrpcFleetServer::Impl::Close(LinkId id) {
  // The agent answers by ending its records stream, which is read to its end.
  End(id, absl::OkStatus(), absl::OkStatus());
}

// The link ends for `reason`; the agent is answered with `answer` after what was sent to it. Once
// both streams are gone OnClosed follows.
void GrpcFleetServer::Impl::End(LinkId id, const Status& reason, const Status& answer) {
  AttachedAgent* link = Find(id);
  if (link == nullptr || link->ending) return;
  link->ending = true;
  link->reason = reason;
  if (link->control) link->control->Finish(answer);
  if (link->records && std::exchange(link->read_paused, false)) link->records->ReadNext();
  // An agent that is gone leaves its records stream to end by itself; one that hangs is cut.
  link->limit = scheduler_.After(link->control ? options_.linger : rpc::kDrainWait,
                                 [this, id] { CutStreams(id); });
}

void GrpcFleetServer::Impl::CutStreams(LinkId id) {
  AttachedAgent* link = Find(id);
  if (link != nullptr && link->control) link->control->Cancel();
  if (link != nullptr && link->records) link->records->Cancel();
}

void GrpcFleetServer::Impl::CloseWhenDone(LinkId id) {
  AttachedAgent* link = Find(id);
  if (link == nullptr || !link->ending || link->control || link->records) return;
  const AttachedAgent last = std::move(*link);
  links_.erase(id);
  if (last.incarnation != 0) events_.OnClosed(id, last.reason);
}

GrpcFleetServer::GrpcFleetServer(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

StatusOr<std::unique_ptr<GrpcFleetServer>> GrpcFleetServer::Listen(GrpcFleetServerOptions options,
                                                                   Scheduler& scheduler,
                                                                   AgentLinkEvents& events) {
  auto impl = std::make_shared<Impl>(std::move(options), scheduler, events);
  RETURN_IF_ERROR(impl->Listen());
  return std::unique_ptr<GrpcFleetServer>(new GrpcFleetServer(std::move(impl)));
}
GrpcFleetServer::~GrpcFleetServer() {
  impl_->Shutdown();
}
std::string GrpcFleetServer::address() const {
  return impl_->address();
}
void GrpcFleetServer::Send(LinkId link, CoordinatorMessage message) {
  impl_->Send(link, message);
}
void GrpcFleetServer::Ack(LinkId link, std::uint64_t sequence) {
  impl_->Ack(link, sequence);
}
void GrpcFleetServer::Close(LinkId link) {
  impl_->Close(link);
}

}  // namespace plimsoll
