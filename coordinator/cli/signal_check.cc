#include "coordinator/cli/signal_check.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "common/base/real_clock.h"
#include "common/loop/event_loop.h"
#include "coordinator/cli/signal_files.h"
#include "coordinator/cli/signals_text.h"
#include "coordinator/killswitch/kill_switch.h"
#include "coordinator/scrape/scrape_thread.h"
#include "coordinator/scrape/source_findings.h"

namespace plimsoll {
namespace {

constexpr Duration kPoll = 20ms;

}  // namespace

FirstRead ReadSignalsOnce(const Scenario& scenario, ScrapePlan plan) {
  if (const Status status = ReadSignalTokens(*scenario.signals, &plan); !status.ok()) {
    return {FirstReadText({{FindingLevel::kWarning, std::string(MessageOf(status))}}, {})};
  }
  const RealClock clock;
  EventLoop loop;
  const MonoTime begin = loop.Now();
  // A Prometheus server is asked for its clock, then source by source.
  const MonoTime limit =
      begin + plan.timeout + 1s + (plan.prometheus.has_value() ? plan.timeout : Duration{0});
  ScrapeThread scrape(std::move(plan), clock, std::nullopt);
  Timer poll;
  const std::function<void()> look = [&] {
    if (scrape.AskedSince(begin) || loop.Now() >= limit) return loop.Stop();
    poll = loop.After(kPoll, [&look] { look(); });
  };
  look();
  loop.Run();
  scrape.Stop();
  const SignalHistory history = scrape.Between(begin, loop.Now());
  std::vector<Finding> findings = SourceFindings(history, scenario.bar, scenario.signals->judge);
  if (scenario.kill_switch) {
    for (Finding& finding : KillSwitchFindings(*scenario.kill_switch, history)) {
      findings.push_back(std::move(finding));
    }
  }
  for (std::string& note : scrape.Notes()) {
    findings.push_back({FindingLevel::kWarning, std::move(note)});
  }
  const bool blocks = std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.level == FindingLevel::kBlocking;
  });
  return {FirstReadText(findings, DecidabilityLines(history, scenario.bar)), blocks};
}

}  // namespace plimsoll
