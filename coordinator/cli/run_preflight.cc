#include "coordinator/cli/run_preflight.h"

#include <utility>

#include "common/base/rng.h"
#include "common/corpus/prompt.h"
#include "coordinator/cli/local_findings.h"
#include "coordinator/killswitch/kill_switch.h"
#include "coordinator/planning/dry_plan.h"
#include "coordinator/planning/planner.h"

namespace plimsoll {

RunPreflight::RunPreflight(Deps deps, std::function<void(PreflightReport)> done)
    : deps_(std::move(deps)),
      done_(std::move(done)),
      key_(MixKey(deps_.plan.nonce, HashBytes("preflight"))) {
  const LoadedScenario& loaded = deps_.loaded;
  const DryPlan dry = MakeDryPlan(loaded.scenario, deps_.plan, *loaded.corpus);
  for (Finding& finding :
       LocalFindings(loaded.scenario, dry, deps_.store, ReadLocalRoom(deps_.store))) {
    Add(std::move(finding));
  }
  if (!report_.status.ok()) {
    later_ = deps_.scheduler.After(Duration{0}, [this] { End(); });
    return;
  }
  const FirstPrompt first =
      LongestFirstPrompt(deps_.plan, *loaded.corpus, loaded.scenario.sweep.sessions.front());
  Prompt prompt;
  // Salted apart from every lane, so that it warms no cache for them.
  PromptIndex(loaded.corpus->sessions[first.session])
      .Build(first.call, {.play = key_, .run = key_}, &prompt);
  system_first_ = !prompt.messages.empty() && prompt.messages.front().role == Role::kSystem;
  calls_ = std::make_unique<Preflight>(
      PreflightDeps{.http = deps_.http,
                    .calls = deps_.calls,
                    .scheduler = deps_.scheduler,
                    .target = deps_.plan.target,
                    .secrets = deps_.secrets},
      PreflightSetup{.model = deps_.plan.target.model, .output_mode = deps_.plan.output_mode},
      std::move(prompt), key_, [this](PreflightReport found) { AfterCalls(std::move(found)); });
}

RunPreflight::~RunPreflight() = default;

void RunPreflight::Add(Finding finding) {
  if (finding.level == FindingLevel::kBlocking && report_.status.ok()) {
    report_.status = absl::FailedPreconditionError(finding.text);
  }
  report_.summary.findings.push_back(std::move(finding));
}

void RunPreflight::AfterCalls(PreflightReport report) {
  // What this machine showed stands first.
  std::vector<Finding>& findings = report.summary.findings;
  findings.insert(findings.begin(), report_.summary.findings.begin(),
                  report_.summary.findings.end());
  report_ = std::move(report);
  if (deps_.signals == nullptr) {
    if (report_.status.ok()) Add(CancellationUnseen());
    return End();
  }
  deps_.signals->AddFindings(std::move(report_),
                             [this](PreflightReport more) { AfterPages(std::move(more)); });
}

void RunPreflight::AfterPages(PreflightReport report) {
  report_ = std::move(report);
  const Scenario& scenario = deps_.loaded.scenario;
  if (scenario.kill_switch) {
    const SignalHistory pages = deps_.signals->History();
    for (Finding& finding : KillSwitchFindings(*scenario.kill_switch, pages)) {
      Add(std::move(finding));
    }
  }
  if (!report_.status.ok()) return End();
  probe_ = std::make_unique<CancelProbe>(
      deps_.scheduler, deps_.calls, deps_.signals->feed(),
      CancelProbeSetup{.key = key_,
                       .tokens_per_s = report_.tokens_per_s,
                       .min_tokens = report_.summary.min_tokens,
                       .ignore_eos = report_.summary.ignore_eos,
                       .system_first = system_first_,
                       .may_be_lost = scenario.cancellation_may_be_lost},
      [this](Finding finding) {
        Add(std::move(finding));
        End();
      });
}

void RunPreflight::End() {
  if (const auto done = std::exchange(done_, nullptr)) done(std::move(report_));
}

}  // namespace plimsoll
