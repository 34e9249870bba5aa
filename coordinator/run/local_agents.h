// AgentSpawner over child processes: `fleet: {local: N}`.
#pragma once

#include <map>
#include <memory>
#include <string>

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
