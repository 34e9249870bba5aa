#include "coordinator/cli/serve_command.h"

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "common/loop/event_loop.h"
#include "common/loop/signals.h"
#include "coordinator/api/api_server.h"
#include "coordinator/api/store_view.h"
#include "coordinator/cli/endpoint_file.h"
#include "coordinator/cli/parse_words.h"
#include "coordinator/cli/window_runner.h"
#include "coordinator/run/run_machine.h"

namespace plimsoll {
namespace {

int Fail(ExitCode code, const Status& status) {
  std::fprintf(stderr, "plimsoll: %s\n", std::string(MessageOf(status)).c_str());
  return static_cast<int>(code);
}

// The run that another process is at, as its endpoint file says.
std::optional<LiveRun> RunElsewhere(const std::string& store) {
  const auto endpoint = FindCoordinator(store);
  if (!endpoint.has_value()) return std::nullopt;
  return LiveRun{.run_id = endpoint->run_id,
                 .status = std::nullopt,
                 .coordinator_http = endpoint->here ? endpoint->http : ""};
}

// The first drains, the second aborts, the third leaves, which a run does within a moment.
constexpr int kSignalsMax = 3;

int Serve(const std::string& store, const ApiListen& listen, bool queue) {
  EventLoop loop;
  StoreView view(store, loop);
  // Found now: a server of a store that is not there answers nothing but errors.
  if (const auto repo = view.Repo(Freshness::kNow); !repo.ok()) {
    return Fail(ExitCode::kUsage, repo.status());
  }
  auto api =
      ApiServer::Listen(loop,
                        {.repo = [&view](Freshness freshness) { return view.Repo(freshness); },
                         .live = [&store] { return RunElsewhere(store); }},
                        listen);
  if (!api.ok()) {
    const bool usage = absl::IsInvalidArgument(api.status());
    return Fail(usage ? ExitCode::kUsage : ExitCode::kCouldNotRun, api.status());
  }
  if (!listen.http.empty()) {
    std::printf("serving %s on http://%s\n", store.c_str(), (*api)->http_address().c_str());
  }
  if (!listen.grpc.empty()) {
    std::printf("serving %s on gRPC %s\n", store.c_str(), (*api)->grpc_address().c_str());
  }
  std::fflush(stdout);
  std::optional<WindowRunner> windows;
  if (queue) windows.emplace(loop, store).Start();
  const auto finish = [&] {
    (*api)->Finish(absl::UnavailableError("the server has ended"), [&loop] { loop.Stop(); });
  };
  // A run of the queue is stopped by the same protocol, and waited for: it has to roll back.
  const Signals signals(loop, [&](int count, int) {
    const bool waits = windows && windows->running();
    if (count > (waits ? kSignalsMax : 1)) std::_Exit(0);
    if (!windows) return finish();
    windows->Stop(finish);
  });
  loop.Run();
  return 0;
}

}  // namespace

int ServeMain(int argc, const char* const* argv) {
  CLI::App app(
      "Serves what a store keeps, read only, while other processes may be writing it: a run shows "
      "about a\nsecond after it is stored. Any number of servers may serve one store; one of them "
      "runs its "
      "queue of\nwindows (plimsoll window).",
      "serve");
  std::string store = "plimsoll-store";
  ApiListen listen{.http = "127.0.0.1:7420", .grpc = ""};
  app.add_option("--store", store, "Folder that keeps runs (./plimsoll-store)");
  app.add_option("--http", listen.http,
                 "HOST:PORT of pages and JSON (127.0.0.1:7420); port 0: any free one; 'off'");
  app.add_option("--grpc", listen.grpc, "HOST:PORT of the same over gRPC (off)");
  bool no_windows = false;
  app.add_flag("--no-windows", no_windows, "Leave the queue of windows to another server");
  app.footer(
      "Runs until a signal; a run of a window is stopped and waited for. docs/api.md describes the "
      "pages.");
  if (const auto code = ParseWords(app, argc, argv)) return *code;
  if (listen.http == "off") listen.http.clear();
  if (listen.grpc == "off") listen.grpc.clear();
  if (listen.http.empty() && listen.grpc.empty()) {
    return Fail(ExitCode::kUsage,
                absl::InvalidArgumentError("there is nothing to serve on: give --http or --grpc"));
  }
  return Serve(store, listen, !no_windows);
}

}  // namespace plimsoll
