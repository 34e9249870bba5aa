// The rehearsal gateway: OpenAI's chat completions in front of the engine model, with faults on
// demand. One object answers everything that an HttpServer receives, on the loop's thread.
//
// POST {prefix}/chat/completions, GET {prefix}/models, GET /health, GET /metrics.
#pragma once

#include <functional>
#include <memory>

#include "common/base/clock.h"
#include "common/base/scheduler.h"
#include "common/http/server/http_server.h"
#include "gateway/engine/engine.h"
#include "gateway/server/gateway_config.h"

namespace plimsoll {

class Gateway {
 public:
  // `crash` ends the process abruptly; tests look instead. Time of faults runs from now.
  // `scheduler` and `clock` outlive the gateway.
  Gateway(Scheduler& scheduler, const Clock& clock, const GatewayConfig& config,
          std::function<void()> crash);
  // Answers under way are aborted.
  ~Gateway();
  Gateway(const Gateway&) = delete;
  Gateway& operator=(const Gateway&) = delete;

  void OnRequest(HttpServerRequest request, HttpResponder responder);
  const Engine& engine() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace plimsoll
