#include "coordinator/cli/run_signals.h"

#include <utility>

#include <fmt/format.h>

#include "coordinator/cli/signal_files.h"
#include "coordinator/scrape/source_findings.h"

namespace plimsoll {
namespace {

constexpr Duration kPoll = 20ms;
// Beyond an exchange's own limit: for the threads to hear of it.
constexpr Duration kGrace = 1s;
// For the last read: all but a target that hangs answer in a fraction of it.
constexpr Duration kLastRead = 2s;

PageKeeper::Sink SinkTo(PageRepo& pages, const std::string& run) {
  return {.put_target =
              [&pages, run](std::uint32_t target, const KeptPageTarget& what) {
                return pages.PutTarget({.run = run, .target = target}, what);
              },
          .put_pages =
              [&pages, run](std::uint32_t target, std::uint64_t bundle, std::string bytes) {
                return pages.PutPages({.run = run, .target = target, .bundle = bundle},
                                      std::move(bytes));
              }};
}

}  // namespace

StatusOr<std::unique_ptr<RunSignals>> RunSignals::Start(const Scenario& scenario, ScrapePlan plan,
                                                        Store& store, const std::string& run_id,
                                                        const Clock& clock, Scheduler& scheduler) {
  RETURN_IF_ERROR(ReadSignalTokens(*scenario.signals, &plan));
  return std::make_unique<RunSignals>(scenario, std::move(plan), store, run_id, clock, scheduler);
}

RunSignals::RunSignals(const Scenario& scenario, ScrapePlan plan, Store& store,
                       const std::string& run_id, const Clock& clock, Scheduler& scheduler)
    : scheduler_(scheduler),
      bar_(scenario.bar),
      judge_(scenario.signals->judge),
      // A Prometheus server is asked for its clock, then source by source.
      patience_(plan.timeout + kGrace + (plan.prometheus.has_value() ? plan.timeout : Duration{0})),
      pages_(store),
      begun_(scheduler.Now()),
      thread_(std::make_unique<ScrapeThread>(std::move(plan), clock, SinkTo(pages_, run_id))) {}

RunSignals::~RunSignals() = default;

void RunSignals::WhenAsked(MonoTime at, MonoTime limit, std::function<void()> then) {
  if (thread_->AskedSince(at) || scheduler_.Now() >= limit) return then();
  poll_ = scheduler_.After(kPoll, [this, at, limit, then = std::move(then)] {
    const auto again = then;  // This task dies as the timer is armed anew.
    WhenAsked(at, limit, again);
  });
}

void RunSignals::AddFindings(PreflightReport report, std::function<void(PreflightReport)> done) {
  auto add = [this, report = std::move(report), done = std::move(done)]() mutable {
    const SignalHistory history = thread_->Between(begun_, scheduler_.Now());
    for (Finding& finding : SourceFindings(history, bar_, judge_)) {
      if (finding.level == FindingLevel::kBlocking && report.status.ok()) {
        report.status = absl::FailedPreconditionError(finding.text);
      }
      report.summary.findings.push_back(std::move(finding));
    }
    for (std::string& note : thread_->Notes()) {
      report.summary.findings.push_back({FindingLevel::kWarning, std::move(note)});
    }
    done(std::move(report));
  };
  WhenAsked(begun_, begun_ + patience_, std::move(add));
}

SignalHistory RunSignals::History() const {
  return thread_->Between(begun_, scheduler_.Now());
}

void RunSignals::Stop(std::function<void()> done) {
  thread_->AskNow();
  const MonoTime now = scheduler_.Now();
  WhenAsked(now, now + kLastRead, [this, done = std::move(done)] {
    thread_->Stop();
    done();
  });
}

std::string RunSignals::KeptWords() const {
  const ScrapeThread::Kept kept = thread_->kept();
  std::string words =
      fmt::format("{} page{} of metrics kept, {:.1f} MB", kept.pages, kept.pages == 1 ? "" : "s",
                  static_cast<double>(kept.bytes) / 1e6);
  if (kept.left_out > 0) {
    words += fmt::format(", {} not kept, since the run has reached its share of the store",
                         kept.left_out);
  }
  if (!kept.status.ok()) words += fmt::format("; then: {}", MessageOf(kept.status));
  return words;
}

ServerRules RulesOf(const Scenario& scenario) {
  if (!scenario.signals) return {};
  const SignalsSpec& signals = *scenario.signals;
  return {.mode = signals.judge,
          .kv_full = {.threshold = signals.kv_full, .time = signals.kv_full_for},
          .drain = {.shared_share = signals.drain_tolerance}};
}

}  // namespace plimsoll
