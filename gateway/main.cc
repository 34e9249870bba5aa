// plimsoll-gateway: the rehearsal gateway as a process.
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "common/base/real_clock.h"
#include "common/cli/command_line.h"
#include "common/loop/event_loop.h"
#include "common/loop/logging.h"
#include "common/loop/signals.h"
#include "gateway/server/gateway.h"

namespace plimsoll {
namespace {

constexpr int kExitCannotRun = 4;
constexpr int kExitUsage = 64;
constexpr int kExitCrash = 70;  // Of the crash on demand.

struct Flags {
  std::string config;
  std::optional<std::string> host;
  std::optional<std::uint16_t> port;
  std::optional<std::uint64_t> seed;
};

// An exit code when the command line alone decides.
std::optional<int> ParseFlags(int argc, char** argv, Flags* flags) {
  CLI::App app(
      "plimsoll-gateway: an OpenAI-compatible gateway with a model of an engine behind it, for\n"
      "rehearsals. Its latency and capacity follow from the configured rates and noise.");
  app.add_option("--config", flags->config, "YAML file; without it, defaults");
  app.add_option("--host", flags->host, "Address to listen on (127.0.0.1)");
  app.add_option("--port", flags->port, "Port to listen on (8000); 0: any free one");
  app.add_option("--seed", flags->seed, "Seed of drift, noise and faults (1)")->check(NotWhole);
  app.footer(
      "Prints \"plimsoll-gateway: listening on URL\" and serves until SIGTERM or SIGINT.\n"
      "Paths: /v1/chat/completions, /v1/models, /health, /metrics, /metrics/engine/0, ….\n"
      "Exit codes: 0 stopped, 4 cannot listen, 64 usage or configuration.");
  return ParseCommandLine(app, {argv + 1, argv + argc}, "plimsoll-gateway");
}

int Fail(int code, std::string_view message) {
  fmt::print(stderr, "plimsoll-gateway: {}\n", message);
  return code;
}

int Serve(const GatewayConfig& config) {
  EventLoop loop;
  const RealClock clock;
  Gateway gateway(loop, clock, config, [] { ::_exit(kExitCrash); });
  HttpServerOptions options;
  options.host = config.host;
  options.port = config.port;
  auto server = HttpServer::Listen(loop, options,
                                   [&gateway](HttpServerRequest request, HttpResponder responder) {
                                     gateway.OnRequest(std::move(request), std::move(responder));
                                   });
  if (!server.ok()) return Fail(kExitCannotRun, MessageOf(server.status()));
  const Signals signals(loop, [&loop](int, int) { loop.Stop(); });
  const bool v6 = config.host.find(':') != std::string::npos;
  fmt::print("plimsoll-gateway: listening on http://{}{}{}:{}{}\n", v6 ? "[" : "", config.host,
             v6 ? "]" : "", (*server)->port(), config.prefix);
  std::fflush(stdout);
  loop.Run();
  return 0;
}

int Main(int argc, char** argv) {
  SetUpLogging("plimsoll-gateway");
  Flags flags;
  if (const auto code = ParseFlags(argc, argv, &flags)) return *code;
  GatewayConfig config;
  if (!flags.config.empty()) {
    auto loaded = LoadGatewayConfig(flags.config);
    if (!loaded.ok()) return Fail(kExitUsage, MessageOf(loaded.status()));
    config = *std::move(loaded);
  }
  if (flags.host) config.host = *flags.host;
  if (flags.port) config.port = *flags.port;
  if (flags.seed) config.seed = *flags.seed;
  return Serve(config);
}

}  // namespace
}  // namespace plimsoll

int main(int argc, char** argv) {
  return plimsoll::Main(argc, argv);
}
