#include "coordinator/cli/run_api.h"

#include <utility>

#include <fmt/format.h>

namespace plimsoll {
namespace {

constexpr Duration kLiveAge = 250ms;

}  // namespace

RunApi::RunApi(EventLoop& loop, std::string run_id, std::function<std::optional<LiveStatus>()> live)
    : loop_(loop), run_id_(std::move(run_id)), live_(std::move(live)) {}

StatusOr<std::unique_ptr<RunApi>> RunApi::Listen(EventLoop& loop, RunRepo& repo,
                                                 const ApiListen& listen,
                                                 const std::string& store_folder,
                                                 const std::string& run_id,
                                                 std::function<std::optional<LiveStatus>()> live) {
  auto api = std::make_unique<RunApi>(loop, run_id, std::move(live));
  RunApi* const self = api.get();
  ASSIGN_OR_RETURN(api->server_, ApiServer::Listen(loop,
                                                   {.repo = [&repo](Freshness) { return &repo; },
                                                    .live = [self] { return self->Live(); }},
                                                   listen));
  auto file = EndpointFile::Write(store_folder, {.run_id = run_id,
                                                 .http = api->server_->http_address(),
                                                 .grpc = api->server_->grpc_address()});
  if (!file.ok()) return file.status();
  api->file_.emplace(*std::move(file));
  return api;
}

std::optional<LiveRun> RunApi::Live() {
  if (!status_.has_value() || loop_.Now() - status_at_ >= kLiveAge) {
    status_ = live_();
    status_at_ = loop_.Now();
  }
  if (!status_.has_value()) return std::nullopt;
  return LiveRun{.run_id = run_id_, .status = status_, .coordinator_http = ""};
}

std::string RunApi::Words() const {
  const std::string http = server_->http_address();
  const std::string grpc = server_->grpc_address();
  return fmt::format("results API on {}{}{}{}", http.empty() ? "" : "http://", http,
                     !http.empty() && !grpc.empty() ? " and " : "",
                     grpc.empty() ? "" : "gRPC " + grpc);
}

void RunApi::Changed() {
  status_.reset();
  server_->Look();
}

void RunApi::End() {
  status_.reset();
  server_->Finish(absl::UnavailableError("the coordinator has ended"), [this] { loop_.Stop(); });
  loop_.Run();
  file_.reset();
  server_.reset();
}

}  // namespace plimsoll
