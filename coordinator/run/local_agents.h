// AgentSpawner over child processes: `fleet: {local: N}`.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/loop/child_process.h"
#include "coordinator/run/agent_spawner.h"

namespace plimsoll {

class LocalAgents final : public AgentSpawner {
 public:
  // `program` is plimsoll-agent; `coordinator` the address it dials; `allow_host` the target's
  // host.
  LocalAgents(EventLoop& loop, std::string program, std::string coordinator,
              std::string allow_host);
  ~LocalAgents() override;

  Status Start(std::uint32_t index) override;
  void EndAll() override;
  // Kills what still runs. What its agents wrote until then is said.
  void Close();
  // What an agent writes, by lines with its name before them: its log, and what a crash leaves. Set
  // before the first Start().
  std::function<void(const std::vector<std::string>& lines)> on_lines;
  // Process ids, for people and tests.
  std::map<std::uint32_t, int> pids() const;

 private:
  EventLoop& loop_;
  const std::string program_;
  const std::string coordinator_;
  const std::string allow_host_;
  std::uint32_t started_ = 0;
  std::map<std::uint32_t, std::unique_ptr<ChildProcess>> children_;
};

}  // namespace plimsoll
