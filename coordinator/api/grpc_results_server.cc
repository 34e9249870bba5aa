#include "coordinator/api/grpc_results_server.h"

#include <utility>

#include <fmt/format.h>
#include <grpc/support/time.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include "common/rpc/endpoint.h"
#include "common/rpc/grpc_fence.h"
#include "common/rpc/rpc_limits.h"
#include "common/rpc/server_write_stream.h"
#include "coordinator/api/api_messages.h"
#include "coordinator/api/http_routes.h"
#include "plimsoll/v1/api.grpc.pb.h"

namespace plimsoll {
namespace {

using EventStream = rpc::ServerWriteStream<v1::RunEvent>;

// A request is an id and a number; more is no request.
constexpr int kRequestBytesMax = 64 << 10;
// A step takes some kilobytes and there are few of them; live statuses are held back.
constexpr std::size_t kEventsMax = 1024;
constexpr std::size_t kEventBytesMax = std::size_t{16} << 20;

class StreamSink final : public WatchSink {
 public:
  explicit StreamSink(std::shared_ptr<EventStream> stream) : stream_(std::move(stream)) {}
  void Send(const v1::RunEvent& event) override {
    if (!stream_->Write(event)) stream_->Cancel();
  }
  void KeepAlive() override {}  // HTTP/2 has its own.
  bool lagging() const override { return stream_->waiting(); }
  void End(const Status& status) override { stream_->Finish(status); }
  void Cut() override { stream_->Cancel(); }

 private:
  std::shared_ptr<EventStream> stream_;  // Shared with gRPC.
};

}  // namespace

class GrpcResultsServer::Impl final : public v1::Results::CallbackService {
 public:
  Impl(Scheduler& scheduler, const Results& results, WatchHub& hub)
      : scheduler_(scheduler), results_(results), hub_(hub) {}

  Status Listen(const std::string& listen);
  void Shutdown();
  std::string address() const { return ToText(endpoint_); }

  grpc::ServerUnaryReactor* ListRuns(grpc::CallbackServerContext*,
                                     const v1::ListRunsRequest* request,
                                     v1::ListRunsResponse* response) override {
    return Answer([this, asked = request->limit(), response] {
      ASSIGN_OR_RETURN(const std::size_t limit, RunsLimit(asked));
      const auto live = results_.Live();
      ASSIGN_OR_RETURN(const std::vector<RunInfo> runs, results_.List(limit));
      ToApi(runs, live ? live->run_id : "", response);
      return absl::OkStatus();
    });
  }
  grpc::ServerUnaryReactor* GetRun(grpc::CallbackServerContext*, const v1::GetRunRequest* request,
                                   v1::Run* response) override {
    return Answer([this, id = request->id(), response] {
      ASSIGN_OR_RETURN(const RunView view, results_.Get(id));
      ToApi(view, response);
      return absl::OkStatus();
    });
  }
  grpc::ServerUnaryReactor* ListAgents(grpc::CallbackServerContext*, const v1::ListAgentsRequest*,
                                       v1::ListAgentsResponse* response) override {
    return Answer([this, response] {
      ToApi(results_.Live(), response);
      return absl::OkStatus();
    });
  }
  grpc::ServerWriteReactor<v1::RunEvent>* WatchRun(grpc::CallbackServerContext* context,
                                                   const v1::WatchRunRequest* request) override {
    const auto stream = std::make_shared<EventStream>(
        context, scheduler_, calls_, rpc::WriteQueue<v1::RunEvent>(kEventsMax, kEventBytesMax));
    stream->Accept([this, alive = alive_, id = request->id()](const auto& accepted) {
      if (*alive) Watch(id, accepted);
    });
    return stream.get();  // It owns itself until gRPC's last callback.
  }

 private:
  // On gRPC's thread; `answer` runs on the loop.
  template <typename Fill>
  grpc::ServerUnaryReactor* Answer(Fill answer) {
    const auto call = std::make_shared<rpc::UnaryCall>(calls_);
    call->Accept(scheduler_, [alive = alive_, answer]() -> Status {
      return *alive ? answer() : absl::UnavailableError("the server has ended");
    });
    return call.get();  // It owns itself until gRPC's last callback.
  }

  void Watch(const std::string& run, const std::shared_ptr<EventStream>& stream) {
    const auto id = hub_.Add(run, std::make_shared<StreamSink>(stream));
    if (!id.ok()) return stream->Finish(id.status());
    stream->OnEnd([this, alive = alive_, gone = *id] {
      if (*alive) hub_.Remove(gone);
    });
  }

  Scheduler& scheduler_;
  const Results& results_;
  WatchHub& hub_;
  const std::shared_ptr<rpc::StreamCount> calls_ = std::make_shared<rpc::StreamCount>();
  // Shared with tasks that are posted and may run after the server has gone; the loop's thread.
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  Endpoint endpoint_;
  std::unique_ptr<grpc::Server> server_;
};

Status GrpcResultsServer::Impl::Listen(const std::string& listen) {
  ASSIGN_OR_RETURN(endpoint_, ParseEndpoint(listen));
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(ToText(endpoint_), grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(this);
  builder.SetMaxReceiveMessageSize(kRequestBytesMax);
  builder.SetMaxSendMessageSize(static_cast<int>(rpc::kMessageBytesMax));
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, rpc::kKeepaliveTimeMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, rpc::kKeepaliveTimeoutMs);
  server_ = builder.BuildAndStart();
  if (server_ == nullptr || port == 0) {
    return absl::UnavailableError(fmt::format(
        "--grpc {}: cannot be bound (in use, or not of this host); port 0 takes any free one",
        listen));
  }
  endpoint_.port = static_cast<std::uint16_t>(port);
  return absl::OkStatus();
}

void GrpcResultsServer::Impl::Shutdown() {
  *alive_ = false;
  if (server_ == nullptr) return;
  // Cuts at the deadline whatever is left, calls that the loop has not answered among them.
  server_->Shutdown(
      gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                   gpr_time_from_nanos(Duration(kShutdownWait).count(), GPR_TIMESPAN)));
  calls_->WaitForZero();
  server_ = nullptr;
}

GrpcResultsServer::GrpcResultsServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

GrpcResultsServer::~GrpcResultsServer() {
  impl_->Shutdown();
}

StatusOr<std::unique_ptr<GrpcResultsServer>> GrpcResultsServer::Listen(const std::string& listen,
                                                                       Scheduler& scheduler,
                                                                       const Results& results,
                                                                       WatchHub& hub) {
  auto impl = std::make_unique<Impl>(scheduler, results, hub);
  RETURN_IF_ERROR(impl->Listen(listen));
  return std::unique_ptr<GrpcResultsServer>(new GrpcResultsServer(std::move(impl)));
}

std::string GrpcResultsServer::address() const {
  return impl_->address();
}

}  // namespace plimsoll
