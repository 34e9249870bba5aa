#include "coordinator/run/local_agents.h"

#include <utility>

#include <fmt/format.h>
#include <signal.h>

namespace plimsoll {

LocalAgents::LocalAgents(EventLoop& loop, std::string program, std::string coordinator,
                         std::string allow_host)
    : loop_(loop),
      program_(std::move(program)),
      coordinator_(std::move(coordinator)),
      allow_host_(std::move(allow_host)) {}

LocalAgents::~LocalAgents() = default;

Status LocalAgents::Start(std::uint32_t index) {
  children_.erase(index);  // Whatever is left of the old one is ended, without a word.
  ChildOptions options;
  // Agents of equal size stand in the fleet by name, and a slot's agent is started again by its
  // slot: the names must sort as the indices do.
  const std::string name = fmt::format("local-{:02}.{}", index, ++started_);
  options.argv = {program_, "--coordinator", coordinator_, "--name", name, "--allow", allow_host_};
  if (on_lines) {
    options.on_lines = [this, name](std::vector<std::string> lines) {
      for (std::string& line : lines) line = fmt::format("{}: {}", name, line);
      on_lines(lines);
    };
  }
  auto child = ChildProcess::Start(loop_, options, [this, index](const ChildExit& exit) {
    const std::string how = exit.signal != 0 ? fmt::format("was killed by signal {}", exit.signal)
                                             : fmt::format("exited with code {}", exit.code);
    if (on_exit) on_exit(index, fmt::format("local agent {} {}", index, how));
  });
  if (!child.ok()) return Annotate(child.status(), "starting a local agent");
  children_[index] = *std::move(child);
  return absl::OkStatus();
}

void LocalAgents::EndAll() {
  // They exit by themselves when their link closes; what has not by the time this object goes is
  // killed.
  on_exit = nullptr;
}

void LocalAgents::Close() {
  on_exit = nullptr;
  children_.clear();
}

std::map<std::uint32_t, int> LocalAgents::pids() const {
  std::map<std::uint32_t, int> pids;
  for (const auto& [index, child] : children_) pids[index] = child->pid();
  return pids;
}

}  // namespace plimsoll
