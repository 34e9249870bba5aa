#include "coordinator/api/api_server.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "common/http/server/http_server.h"
#include "common/rpc/endpoint.h"
#include "coordinator/api/coordinator_metrics.h"
#include "coordinator/api/grpc_results_server.h"
#include "coordinator/api/http_api.h"
#include "coordinator/api/watch_hub.h"

namespace plimsoll {
namespace {

constexpr Duration kFinishPoll = 5ms;
// Runs are counted for /metrics at most this often: a store of a thousand takes some milliseconds.
constexpr Duration kCountAgain = 10s;

StatusOr<Endpoint> PlainEndpoint(const char* flag, const std::string& listen) {
  auto endpoint = ParseEndpoint(listen);
  if (!endpoint.ok()) return Annotate(endpoint.status(), flag);
  if (IsLoopback(*endpoint)) return *endpoint;
  return absl::InvalidArgumentError(fmt::format(
      "{} {}: the API speaks plain text, so it is listened to on loopback only, such as "
      "127.0.0.1:{}; to reach it from elsewhere put a proxy with TLS before it, or tunnel",
      flag, listen, endpoint->port));
}

HttpServerOptions OptionsFor(const Endpoint& endpoint) {
  HttpServerOptions options;
  options.host = endpoint.host;
  options.port = endpoint.port;
  options.head_max = std::size_t{16} << 10;
  options.body_max = std::size_t{64} << 10;  // Nothing here reads one.
  options.connections_max = 256;
  // A reader that lags may owe the whole run twice: a scenario has at most 1 MiB, its steps and log
  // hardly more.
  options.unsent_max = std::size_t{8} << 20;
  return options;
}

}  // namespace

class ApiServer::Impl {
 public:
  Impl(EventLoop& loop, ResultsDeps results)
      : loop_(loop),
        results_(std::move(results)),
        hub_(loop, results_),
        pages_(results_, hub_, [this] { return Metrics(); }) {}

  Status Listen(const ApiListen& listen) {
    if (!listen.http.empty()) {
      ASSIGN_OR_RETURN(http_endpoint_, PlainEndpoint("--http", listen.http));
      auto server =
          HttpServer::Listen(loop_, OptionsFor(http_endpoint_),
                             [this](const HttpServerRequest& request, HttpResponder responder) {
                               pages_.Handle(request, std::move(responder));
                             });
      if (!server.ok()) return Annotate(server.status(), "--http " + listen.http);
      http_ = *std::move(server);
      http_endpoint_.port = http_->port();
    }
    if (!listen.grpc.empty()) {
      RETURN_IF_ERROR(PlainEndpoint("--grpc", listen.grpc).status());
      ASSIGN_OR_RETURN(grpc_, GrpcResultsServer::Listen(listen.grpc, loop_, results_, hub_));
    }
    return absl::OkStatus();
  }

  std::string http_address() const { return http_ ? ToText(http_endpoint_) : ""; }
  std::string grpc_address() const { return grpc_ ? grpc_->address() : ""; }
  void Look() { hub_.Look(); }

  void Finish(const Status& status, std::function<void()> done) {
    hub_.EndAll(status);
    Drain(loop_.Now() + kFinishWait, std::move(done));
  }

 private:
  void Drain(MonoTime limit, std::function<void()> done) {
    finish_ = loop_.After(kFinishPoll, [this, limit, done = std::move(done)]() mutable {
      // gRPC's streams are written out by its server's own end.
      if (http_ == nullptr || http_->unsent() == 0 || loop_.Now() >= limit) {
        // Moved out first: rearming would destroy this task, and `done` may end the server.
        const auto last = std::move(done);
        return last();
      }
      Drain(limit, std::move(done));
    });
  }

  std::string Metrics() {
    if (!counted_.has_value() || loop_.Now() - *counted_ >= kCountAgain) {
      const auto runs = results_.List(kRunsLimitMax);
      if (runs.ok()) counts_ = CountRuns(*runs);
      counted_ = loop_.Now();
    }
    return MetricsPage(CoordinatorMetrics(counts_, results_.Live()));
  }

  EventLoop& loop_;
  Results results_;
  WatchHub hub_;
  HttpApi pages_;
  RunCounts counts_{};
  std::optional<MonoTime> counted_;
  Endpoint http_endpoint_;
  std::unique_ptr<HttpServer> http_;
  std::unique_ptr<GrpcResultsServer> grpc_;
  Timer finish_;
};

Status CheckApiListen(const ApiListen& listen) {
  if (!listen.http.empty()) RETURN_IF_ERROR(PlainEndpoint("--http", listen.http).status());
  if (!listen.grpc.empty()) RETURN_IF_ERROR(PlainEndpoint("--grpc", listen.grpc).status());
  return absl::OkStatus();
}

ApiServer::ApiServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ApiServer::~ApiServer() = default;

StatusOr<std::unique_ptr<ApiServer>> ApiServer::Listen(EventLoop& loop, ResultsDeps results,
                                                       const ApiListen& listen) {
  auto impl = std::make_unique<Impl>(loop, std::move(results));
  RETURN_IF_ERROR(impl->Listen(listen));
  return std::unique_ptr<ApiServer>(new ApiServer(std::move(impl)));
}

std::string ApiServer::http_address() const {
  return impl_->http_address();
}

std::string ApiServer::grpc_address() const {
  return impl_->grpc_address();
}

void ApiServer::Look() {
  impl_->Look();
}

void ApiServer::Finish(const Status& status, std::function<void()> done) {
  impl_->Finish(status, std::move(done));
}

}  // namespace plimsoll
