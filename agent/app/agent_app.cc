#include "agent/app/agent_app.h"

#include <cstdlib>
#include <memory>
#include <utility>

#include "agent/app/agent_metrics.h"
#include "agent/app/metrics_server.h"
#include "agent/control/agent.h"
#include "agent/control/memory_shelf.h"
#include "agent/host/allow_list.h"
#include "agent/host/host_facts.h"
#include "agent/host/loop_load.h"
#include "agent/uplink/grpc_coordinator_link.h"
#include "common/base/real_clock.h"
#include "common/base/rng.h"
#include "common/base/version.h"
#include "common/chat/http_call_transport.h"
#include "common/chat/target.h"
#include "common/http/curl_transport.h"
#include "common/loop/event_loop.h"
#include "common/loop/logging.h"
#include "common/loop/signals.h"
#include "common/rpc/endpoint.h"

namespace plimsoll {
namespace {

constexpr int kExitOk = 0;
constexpr int kExitCouldNotRun = 4;
constexpr int kExitStopped = 5;
constexpr int kExitUsage = 64;

// Differs between processes and restarts, never 0; it names an incarnation, so it need not be
// secret.
std::uint64_t DrawIncarnation(const Hello& hello) {
  const RealClock clock;
  return MixKey(HashBytes(hello.name),
                static_cast<std::uint64_t>(clock.MonoNow().time_since_epoch().count()),
                static_cast<std::uint64_t>(clock.WallNow().time_since_epoch().count())) |
         1;
}

// Stands between the link and the agent to see the link's end: the last words are written before
// the process goes.
class AgentApp final : public CoordinatorLinkEvents {
 public:
  explicit AgentApp(const AgentOptions& options)
      : allow_(options.allow), load_(loop_), http_(loop_) {
    Hello hello = DescribeHost();
    if (!options.name.empty()) hello.name = options.name;
    hello.build = kVersion;
    hello.incarnation = DrawIncarnation(hello);
    const std::uint64_t incarnation = hello.incarnation;
    agent_ = std::make_unique<Agent>(
        AgentDeps{.scheduler = loop_,
                  .self_load = load_,
                  .shelf = shelf_,
                  .make_transport = [this](const RunPlan& plan) { return MakeTransport(plan); },
                  .finished = [this](const Status& status) { Finish(status); }},
        std::move(hello));
    link_ = std::make_unique<GrpcCoordinatorLink>(
        GrpcCoordinatorLinkOptions{.coordinator = options.coordinator,
                                   .incarnation = incarnation,
                                   .seed = incarnation,
                                   .patience = options.patience},
        loop_, *this);
    agent_->Attach(*link_);
  }

  // Before Run().
  Status ServeMetrics(const std::string& listen) {
    ASSIGN_OR_RETURN(metrics_, MetricsServer::Listen(loop_, listen, [this] { return Page(); }));
    LogInfo("metrics on http://{}/metrics", metrics_->address());
    return absl::OkStatus();
  }

  int Run() {
    Signals signals(loop_, [this](int count, int) {
      if (count >= 3) std::_Exit(kExitStopped);
      agent_->Shutdown(count == 1 ? StopKind::kDrain : StopKind::kAbort);
    });
    loop_.Run();
    return exit_;
  }

 private:
  void OnMessage(CoordinatorMessage message) override { agent_->OnMessage(std::move(message)); }
  void OnAck(std::uint64_t sequence) override { agent_->OnAck(sequence); }
  void OnClosed(const Status& reason) override {
    closed_ = true;
    if (!finished_) return agent_->OnClosed(reason);
    if (!reason.ok()) LogError("{}", MessageOf(reason));
    loop_.Stop();
  }

  std::string Page() const {
    const LoopLag lag = loop_.lag();
    return MetricsPage(AgentMetrics(agent_->Now(), {.loop_lag_last_second = lag.last_second,
                                                    .loop_lag_max = lag.max,
                                                    .cpu_share_max = load_.cpu_share_max()}));
  }

  StatusOr<std::unique_ptr<CallTransport>> MakeTransport(const RunPlan& plan) {
    RETURN_IF_ERROR(allow_.Check(plan.target.url));
    ASSIGN_OR_RETURN(HttpCallOptions options, ReadTargetSecrets(plan.target));
    return std::unique_ptr<CallTransport>(
        std::make_unique<HttpCallTransport>(http_, loop_, plan.target, std::move(options)));
  }

  void Finish(const Status& status) {
    if (!status.ok()) {
      exit_ = status.code() == absl::StatusCode::kCancelled ? kExitStopped : kExitCouldNotRun;
      LogError("{}", MessageOf(status));
    }
    finished_ = true;
    closed_ ? loop_.Stop() : link_->Close();
  }

  EventLoop loop_;
  AllowList allow_;
  LoopLoad load_;
  CurlTransport http_;
  MemoryShelf shelf_;
  std::unique_ptr<Agent> agent_;
  std::unique_ptr<GrpcCoordinatorLink> link_;  // After agent_: it reports to it, so it goes first.
  std::unique_ptr<MetricsServer> metrics_;
  int exit_ = kExitOk;
  bool finished_ = false;  // The agent is done, and the link is ending if it had not.
  bool closed_ = false;
};

}  // namespace

int RunAgent(const AgentOptions& options) {
  RaiseDescriptorLimit();
  if (const auto endpoint = ParseEndpoint(options.coordinator); !endpoint.ok()) {
    LogError("--coordinator: {}", MessageOf(endpoint.status()));
    return kExitUsage;
  }
  AgentApp app(options);
  if (!options.metrics.empty()) {
    if (const Status status = app.ServeMetrics(options.metrics); !status.ok()) {
      LogError("{}", MessageOf(status));
      return absl::IsInvalidArgument(status) ? kExitUsage : kExitCouldNotRun;
    }
  }
  return app.Run();
}

}  // namespace plimsoll
