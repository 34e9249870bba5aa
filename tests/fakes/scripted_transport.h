// ScriptedTransport: an HttpTransport whose answers a test writes down, each step at its time after
// the start, on any Scheduler. No sockets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/scheduler.h"
#include "common/http/transport.h"

namespace plimsoll {

// What happens to one transfer. Steps come in the order written; `at` counts from the start and
// does not fall.
class ScriptedAnswer {
 public:
  ScriptedAnswer& Connecting(Duration at);
  ScriptedAnswer& Sent(Duration at);
  ScriptedAnswer& UploadDone(Duration at);
  ScriptedAnswer& Headers(Duration at, std::uint16_t status,
                          std::vector<std::pair<std::string, std::string>> headers = {});
  ScriptedAnswer& Body(Duration at, std::string bytes);
  ScriptedAnswer& End(Duration at, TransferResult result = TransferResult::kOk,
                      bool new_connection = true);

 private:
  friend class ScriptedTransfer;
  struct Step {
    Duration at;
    std::function<void(TransferObserver&, MonoTime)> run;
  };
  std::vector<Step> steps_;
};

class ScriptedTransport final : public HttpTransport {
 public:
  explicit ScriptedTransport(Scheduler& scheduler) : scheduler_(scheduler) {}

  // The answer to the next start that has none; a start without an answer hears nothing, ever.
  void Add(ScriptedAnswer answer) { answers_.push_back(std::move(answer)); }

  struct Seen {
    HttpRequest request;  // Without its body,
    std::string body;     // which was read whole at the start.
  };
  const std::vector<Seen>& seen() const { return seen_; }
  std::size_t open() const { return *open_; }  // Transfers that exist.

  [[nodiscard]] std::unique_ptr<Transfer> Start(HttpRequest request,
                                                TransferObserver& observer) override;

 private:
  Scheduler& scheduler_;
  std::deque<ScriptedAnswer> answers_;
  std::vector<Seen> seen_;
  std::shared_ptr<std::size_t> open_ = std::make_shared<std::size_t>(0);
};

}  // namespace plimsoll
