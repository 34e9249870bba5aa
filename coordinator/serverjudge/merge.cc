#include "coordinator/serverjudge/merge.h"

#include <utility>

#include "fmt/format.h"

namespace plimsoll {
namespace {

bool IsDecided(Verdict verdict) {
  return verdict == Verdict::kPass || verdict == Verdict::kFail;
}

bool Contradict(const PartVerdict& a, const PartVerdict& b) {
  return IsDecided(a.verdict) && IsDecided(b.verdict) && a.verdict != b.verdict;
}

PartVerdict Named(std::string_view who, PartVerdict part) {
  part.reason = fmt::format("{}: {}", who, part.reason);
  return part;
}

// Too close, with both said; the numbers are `shown`'s.
PartVerdict Disagreeing(PartVerdict shown, std::string_view who, std::string_view other,
                        const PartVerdict& against) {
  shown.reason =
      fmt::format("{} and {} contradict each other: {}: {} ({}); {}: {} ({})", who, other, who,
                  Name(shown.verdict), shown.reason, other, Name(against.verdict), against.reason);
  shown.verdict = Verdict::kTooClose;
  shown.lean = Lean::kFail;  // Whoever is right, this is no reason for more load.
  return shown;
}

}  // namespace

ServerPart MergeServers(const Limit& limit, const std::optional<ServerPart>& engines,
                        const std::optional<ServerPart>& gateway) {
  const bool engines_say = engines && engines->verdict.verdict != Verdict::kNoData;
  const bool gateway_says = gateway && gateway->verdict.verdict != Verdict::kNoData;
  if (engines_say && gateway_says) {
    if (Contradict(engines->verdict, gateway->verdict)) {
      return {.verdict = Disagreeing(gateway->verdict, "gateway", "engines", engines->verdict),
              .comparable = false};
    }
    const bool fails = engines->verdict.verdict == Verdict::kFail;
    const ServerPart& chosen = fails ? *engines : *gateway;
    return {Named(fails ? "engines" : "gateway", chosen.verdict), chosen.comparable};
  }
  if (gateway_says) return {Named("gateway", gateway->verdict), gateway->comparable};
  if (engines_say) return {Named("engines", engines->verdict), engines->comparable};
  std::string why;
  const auto add = [&](std::string_view who, const std::optional<ServerPart>& part) {
    if (!part) return;
    why += fmt::format("{}{}: {}", why.empty() ? "" : "; ", who, part->verdict.reason);
  };
  add("engines", engines);
  add("gateway", gateway);
  if (why.empty()) why = "no server is asked";
  return NoServerData(limit, std::move(why));
}

PartVerdict MergePart(JudgeMode mode, const PartVerdict& client, const ServerPart& server) {
  if (mode == JudgeMode::kServer) return server.verdict;
  if (mode == JudgeMode::kClient || !server.comparable) return client;
  if (!Contradict(client, server.verdict)) return client;
  PartVerdict both = Disagreeing(client, "client", "server", server.verdict);
  if (client.limit.metric == Metric::kTtft) {
    both.reason += "; an engine's time leaves out what lies before it: look at the gateway's queue";
  }
  return both;
}

}  // namespace plimsoll
