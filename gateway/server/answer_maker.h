// What a chat request is answered with: how long the answer is, what it says, which faults strike
// it. Pure: a function of the configuration, the request, its number and the time.
#pragma once

#include <cstdint>
#include <optional>

#include "common/base/time.h"
#include "gateway/faults/faults.h"
#include "gateway/server/chat_request.h"
#include "gateway/server/chat_stream.h"
#include "gateway/server/gateway_config.h"

namespace plimsoll {

class AnswerMaker {
 public:
  // `config` outlives the maker.
  explicit AnswerMaker(const GatewayConfig& config) : config_(config) {}

  // All but `stuck` and `frozen`.
  ChatStreamOptions Make(const ChatRequest& chat, const FaultTarget& target,
                         const FaultMoment& moment, WallTime now) const;
  // Prompt and answer together, in tokens.
  std::uint64_t Limit() const;

 private:
  const FaultRule* Struck(FaultKind kind, const FaultTarget& target,
                          const FaultMoment& moment) const;
  std::optional<AnswerPlan> PlanOf(const ChatRequest& chat, const FaultTarget& target,
                                   const FaultMoment& moment, bool* asked) const;
  std::uint32_t PromptTokens(const ChatRequest& chat) const;
  bool Forces(const ChatRequest& chat) const;
  std::uint32_t NaturalLength(std::uint64_t number) const;
  std::uint32_t OutputOf(const ChatRequest& chat, std::uint64_t number) const;
  std::uint32_t RoomOf(const ChatRequest& chat) const;

  const GatewayConfig& config_;
};

}  // namespace plimsoll
