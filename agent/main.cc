// plimsoll-agent: replays its share of a coordinator's plan against the target.
#include <string>

#include <CLI/CLI.hpp>

#include "agent/app/agent_app.h"
#include "common/base/version.h"
#include "common/cli/command_line.h"
#include "common/loop/logging.h"

namespace {

std::string WrongName(const std::string& text) {
  return text.empty() ? "takes a name; leave the flag out for host:pid" : "";
}

// What is allowed is compared with the host alone.
std::string WrongHost(const std::string& text) {
  if (text.empty()) return "takes a host, such as gateway.example; '*' is any";
  if (text.find('/') != std::string::npos) {
    return "takes a host without scheme, port and path, such as gateway.example";
  }
  return "";
}

}  // namespace

int main(int argc, char** argv) {
  plimsoll::SetUpLogging("plimsoll-agent");
  plimsoll::AgentOptions options;
  double patience_s = 60;
  CLI::App app(
      "plimsoll-agent: replays recorded sessions against a deployment, as a coordinator plans.\n"
      "It dials the coordinator, runs one run, and exits.");
  app.add_option("--coordinator", options.coordinator, "HOST:PORT of `plimsoll run`")->required();
  app.add_option("--name", options.name, "Its name in reports (host:pid)")->check(WrongName);
  app.add_option("--allow", options.allow,
                 "A host it may send load to, besides loopback; repeatable; '*': any")
      ->check(WrongHost);
  app.add_option("--wait", patience_s, "Seconds to look for the coordinator (60)")
      ->check(CLI::Range(0.0, 86'400.0));
  app.add_option("--metrics", options.metrics,
                 "HOST:PORT of a /metrics page for Prometheus, on loopback (off)");
  app.set_version_flag("--version", std::string("plimsoll-agent ") + plimsoll::kVersion);
  app.footer("Exit codes: 0 orderly end, 4 could not take part, 5 stopped by a signal, 64 usage.");
  if (const auto code =
          plimsoll::ParseCommandLine(app, {argv + 1, argv + argc}, "plimsoll-agent")) {
    return *code;
  }
  options.patience = plimsoll::FromSeconds(patience_s);
  return plimsoll::RunAgent(options);
}
