// What it costs to judge a step of ten million calls: 9,000 lanes, ten blocks, three parts. Ten
// million records go into StepIngest, as they do in a run; then the step is closed (cells summed
// into evidence), judged and summarised. The goal of that is a second of CPU and 200 MB of its own;
// what ingest holds of the calls by then is printed apart. 1: the goal is missed.
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <malloc.h>
#include <sys/resource.h>

#include "common/base/rng.h"
#include "common/plan/lanes.h"
#include "coordinator/ingest/step_ingest.h"
#include "coordinator/judge/judge_step.h"
#include "coordinator/judge/step_summary.h"

namespace plimsoll {
namespace {

constexpr std::uint32_t kLanes = 9'000;
constexpr std::uint32_t kBlocks = 10;
constexpr std::uint64_t kCalls = 10'000'000;
constexpr double kSecondsMax = 1;
constexpr double kMegabytesMax = 200;

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Of /proc/self/status, in MB: "VmRSS" is what is held now, "VmHWM" the most since the last
// ForgetPeak().
double Megabytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(name + ":", 0) == 0) return std::stod(line.substr(name.size() + 1)) / 1024;
  }
  return 0;
}

// What was freed is given back first, or it would hide what is taken next.
void ForgetPeak() {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";
}

Bar TheBar() {
  Bar bar;
  bar.limits = {{.metric = Metric::kTtft, .quantile = 0.9, .value = 5},
                {.metric = Metric::kInteractivity, .quantile = 0.9, .value = 10},
                {.metric = Metric::kErrors, .value = 0.02}};
  return bar;
}

StepPlan TheStep() {
  return {.step = 1, .sessions = kLanes, .warm_up = 60s, .measure = 600s, .block = 60s};
}

// Records in the order of their releases, one lane after the other, and what their agent tells of
// them at the end.
class Calls {
 public:
  Calls() : tally_{.step = 1, .lanes = std::vector<LaneTally>(kLanes)} {
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      tally_.lanes[lane].lane = lane;
      tally_.lanes[lane].state_ns[0] = Duration(600s).count();
    }
  }

  CallRecord Next() {
    const auto nanos = [this](double seconds) {
      return FromSeconds(seconds * rng_.Lognormal(0.5)).count();
    };
    CallRecord r;
    r.step = 1;
    r.lane = static_cast<std::uint32_t>(made_ % kLanes);
    r.play = static_cast<std::uint32_t>(made_ / kLanes / 40);
    const double share = static_cast<double>(made_) / static_cast<double>(kCalls);
    r.first_released = r.released = (Duration(60s) + FromSeconds(600 * share)).count();
    r.sent = r.released + nanos(0.0002);
    r.outcome = rng_.Chance(0.01) ? Outcome::kRefused : Outcome::kOk;
    r.http_status = r.outcome == Outcome::kOk ? 200 : 429;
    r.flags = kLastAttempt;
    r.end = r.sent;
    if (r.outcome == Outcome::kOk) {
      r.first_token = r.first_chunk = r.sent + nanos(2);
      r.last_token = r.first_token + nanos(8);
      r.end = r.last_token;
      r.tokens_out = r.chunks = static_cast<std::uint32_t>(1 + 400 * rng_.Lognormal(0.8));
    }
    Tell(r);
    ++made_;
    return r;
  }
  const StepTally& tally() const { return tally_; }

 private:
  void Tell(const CallRecord& r) {
    ++tally_.attempts_released;
    ++tally_.outcomes[static_cast<std::size_t>(r.outcome)];
    tally_.in_flight_request_ns += r.end - r.released;
    PlaySums& plays = tally_.lanes[r.lane].plays;
    ++plays.calls_total;
    ++plays.calls_released;
    plays.mixed += MixedPlay(r.lane, r.play);
  }

  Rng rng_{1};
  std::uint64_t made_ = 0;
  StepTally tally_;
};

StepIngest Empty(const Bar& bar) {
  const std::vector<std::uint32_t> slots = {0};
  const std::vector<TierPlan> tiers = {{.name = "heavy", .tier = Tier::kHeavy, .share = 1}};
  return {TheStep(), AssignLanes(tiers, kLanes, slots), {"heavy"}, {30s}, bar};
}

int Main() {
  const Bar bar = TheBar();
  const double empty = Megabytes("VmRSS");
  StepIngest ingest = Empty(bar);
  Calls calls;
  for (std::uint64_t i = 0; i < kCalls; ++i) ingest.Add(calls.Next());
  ingest.Add(calls.tally());
  ForgetPeak();
  const double ingested = Megabytes("VmRSS");

  const double begin = CpuSeconds();
  const StepEvidence evidence =
      ingest.Close({{.name = "bench", .lanes = kLanes, .attempts = kCalls}});
  const double closed = CpuSeconds();
  const StepVerdict verdict = JudgeStep(evidence, bar);
  const double judged = CpuSeconds();
  const StepSummary summary = Summarize(evidence, verdict);
  const double seconds = CpuSeconds() - begin;
  const double megabytes = Megabytes("VmHWM") - ingested;

  std::uint64_t n = 0;
  for (const PartVerdict& part : verdict.parts) n = std::max(n, part.n);
  std::printf(
      "%llu calls in %zu cells, %zu parts: closed in %.3f s of CPU, judged in %.3f s, summarised "
      "in %.3f s\n",
      static_cast<unsigned long long>(n), evidence.cells.size(), verdict.parts.size(),
      closed - begin, judged - closed, seconds - (judged - begin));
  std::printf("memory of ingest %.0f MB, %.0f bytes a call\n", ingested - empty,
              (ingested - empty) * 1048576 / static_cast<double>(kCalls));
  const bool met = seconds <= kSecondsMax && megabytes <= kMegabytesMax;
  std::printf(
      "judging 10 million calls: %.3f s of CPU, %.0f MB beside ingest's; goal %g s and %g MB: %s\n",
      seconds, megabytes, kSecondsMax, kMegabytesMax, met ? "met" : "NOT met");
  if (verdict.is_void || n != kCalls || summary.plan.sessions != kLanes) {
    std::printf("judging 10 million calls: NOT met, the step was not judged: %s\n",
                verdict.reasons.empty() ? "too few calls" : verdict.reasons.front().c_str());
    return 1;
  }
  return met ? 0 : 1;
}

}  // namespace
}  // namespace plimsoll

int main() {
  return plimsoll::Main();
}
