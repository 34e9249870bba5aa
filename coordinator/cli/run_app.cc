#include "coordinator/cli/run_app.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "common/base/real_clock.h"
#include "common/base/rng.h"
#include "common/base/text.h"
#include "common/base/url.h"
#include "common/base/version.h"
#include "common/chat/http_call_transport.h"
#include "common/chat/target.h"
#include "common/http/curl_transport.h"
#include "common/loop/event_loop.h"
#include "common/loop/signals.h"
#include "coordinator/cli/baselines.h"
#include "coordinator/cli/corpus_files.h"
#include "coordinator/cli/late_events.h"
#include "coordinator/cli/new_run.h"
#include "coordinator/cli/program_beside.h"
#include "coordinator/cli/recipe_files.h"
#include "coordinator/cli/run_api.h"
#include "coordinator/cli/run_hooks.h"
#include "coordinator/cli/run_preflight.h"
#include "coordinator/cli/run_signals.h"
#include "coordinator/cli/run_stops.h"
#include "coordinator/cli/run_store.h"
#include "coordinator/fleet/grpc_fleet_server.h"
#include "coordinator/rehearse/moved_clock.h"
#include "coordinator/report/json_report.h"
#include "coordinator/report/run_report.h"
#include "coordinator/run/local_agents.h"
#include "coordinator/run/run_driver.h"
#include "coordinator/run/store_journal.h"

namespace plimsoll {
namespace {

int Code(ExitCode code) {
  return static_cast<int>(code);
}

int Fail(ExitCode code, const Status& status) {
  std::fprintf(stderr, "plimsoll: %s\n", std::string(MessageOf(status)).c_str());
  return Code(code);
}

ApiListen ListenOf(const RunFlags& flags) {
  return {.http = flags.http == "off" ? "" : flags.http,
          .grpc = flags.grpc == "off" ? "" : flags.grpc};
}

class RunApp {
 public:
  RunApp(LoadedScenario loaded, const RunFlags& flags, std::unique_ptr<Store> store)
      : loaded_(std::move(loaded)),
        flags_(flags),
        store_(std::move(store)),
        repo_(*store_),
        clock_(flags.rehearsal),
        http_(loop_),
        progress_(loop_, ProgressFor(STDERR_FILENO, flags.colour), loaded_.scenario.bar,
                  [this] { return driver_->Live(); }) {
    progress_.on_line = [this](const std::string& line) { progress_.Say(Stamped(line)); };
  }

  int Run();

 private:
  Status SetUp();
  Status StartSignals();
  Status StartHooks();
  Status StartLinks();
  Status StartApi();
  void EndSignals();
  void StartPreflight(std::function<void(PreflightReport)> done);
  void OnPreflight(const PreflightReport& report);
  void OnFound(Finding finding);
  RunStops::Deps StopDeps();
  std::string Stamped(const std::string& line) const;
  void Say(const std::string& line);
  void OnStep(const RunStep& step);
  void OnHook(const HookOutcome& outcome);
  int Conclude();

  LoadedScenario loaded_;
  const RunFlags flags_;
  std::unique_ptr<Store> store_;
  RunRepo repo_;
  MovedClock clock_;
  EventLoop loop_;
  CurlTransport http_;
  RunInfo info_;
  RunPlan plan_;
  HttpCallOptions secrets_;
  LateEvents link_events_;
  std::unique_ptr<GrpcFleetServer> links_;
  std::unique_ptr<LocalAgents> local_;
  std::unique_ptr<HttpCallTransport> target_;
  std::unique_ptr<RunSignals> signals_;  // Null: no server is asked.
  std::unique_ptr<RunPreflight> preflight_;
  std::unique_ptr<StoreJournal> journal_;
  std::unique_ptr<KeptHooks> hooks_;  // Null: the scenario has none.
  std::unique_ptr<RunDriver> driver_;
  std::unique_ptr<RunAudience> audience_;
  std::unique_ptr<RunApi> api_;  // Null: it listens nowhere.
  Progress progress_;            // After driver_, which it looks at.
  MonoTime begun_{};
  std::optional<RunResult> result_;
};

Status RunApp::SetUp() {
  info_ = NewRun(loaded_, flags_.nonce, clock_, repo_);
  ASSIGN_OR_RETURN(plan_, MakeRunPlan(loaded_.scenario, *loaded_.corpus,
                                      {.run_id = info_.id,
                                       .nonce = info_.nonce,
                                       .corpus_digest = loaded_.corpus_digest,
                                       .eval_set = loaded_.evals_text}));
  plan_.liveness_percent = flags_.rehearsal.liveness_percent;
  ASSIGN_OR_RETURN(secrets_, ReadTargetSecrets(plan_.target));
  ASSIGN_OR_RETURN(audience_, RunAudience::Make(loop_, http_, loaded_, flags_.files,
                                                [this](const std::string& line) { Say(line); }));
  target_ = std::make_unique<HttpCallTransport>(http_, loop_, plan_.target, secrets_);
  RETURN_IF_ERROR(StartSignals());
  RETURN_IF_ERROR(StartLinks());
  RETURN_IF_ERROR(StartApi());
  RETURN_IF_ERROR(repo_.PutRun(info_));  // Late: a run that could not be set up was none.
  if (!loaded_.recipe.empty()) RETURN_IF_ERROR(repo_.PutRecipe(info_.id, loaded_.recipe));
  return StartHooks();
}

// Last of all: from here on a rollback is owed.
Status RunApp::StartHooks() {
  if (loaded_.scenario.hooks.rollback.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(
      hooks_, KeptHooks::Start(loop_, clock_, repo_, ProgramBeside("plimsoll"), flags_.store,
                               info_.id, loaded_, [this](const std::string& line) { Say(line); }));
  driver_->UseHooks(hooks_->port());
  return absl::OkStatus();
}

Status RunApp::StartSignals() {
  if (!loaded_.scrape.has_value()) return absl::OkStatus();
  ASSIGN_OR_RETURN(signals_, RunSignals::Start(loaded_.scenario, *loaded_.scrape, *store_, info_.id,
                                               clock_, loop_));
  return absl::OkStatus();
}

Status RunApp::StartLinks() {
  const FleetSpec& fleet = loaded_.scenario.fleet;
  ASSIGN_OR_RETURN(links_, GrpcFleetServer::Listen({.listen = fleet.listen}, loop_, link_events_));
  if (fleet.local > 0) {
    local_ = std::make_unique<LocalAgents>(loop_, ProgramBeside("plimsoll-agent"),
                                           links_->address(), HostOfUrl(plan_.target.url));
    // Above the block, as all that is said: two writers on one terminal would break it.
    local_->on_lines = [this](std::vector<std::string> lines) {
      for (std::string& line : lines) line = Stamped(line);
      progress_.Say(lines);
    };
  } else {
    Say(fmt::format("waiting for {} agents: plimsoll-agent --coordinator {} --allow {}",
                    fleet.agents, links_->address(), HostOfUrl(plan_.target.url)));
  }
  journal_ = std::make_unique<StoreJournal>(repo_, info_.id);
  driver_ = std::make_unique<RunDriver>(
      RunSpec{.plan = plan_,
              .settings = AtLiveness(MakeRunSettings(loaded_.scenario, flags_.promote),
                                     plan_.liveness_percent),
              .bar = loaded_.scenario.bar,
              .corpus = loaded_.corpus,
              .corpus_bytes = loaded_.corpus_bytes,
              .build = kVersion,
              .evals = loaded_.evals,
              .servers = RulesOf(loaded_.scenario),
              .hooks = loaded_.scenario.hooks},
      RunDeps{.scheduler = loop_,
              .links = *links_,
              .journal = *journal_,
              .spawner = local_.get(),
              .signals = signals_ != nullptr && loaded_.scenario.signals->AsksCandidate()
                             ? &signals_->feed()
                             : nullptr,
              .clock = &clock_,
              .preflight =
                  [this](std::function<void(PreflightReport)> done) {
                    StartPreflight(std::move(done));
                  },
              .found = [this](Finding finding) { OnFound(std::move(finding)); },
              .say = [this](const std::string& line) { Say(line); },
              .step_judged = [this](const RunStep& step) { OnStep(step); },
              .hook_ended = [this](const HookOutcome& outcome) { OnHook(outcome); },
              .finished =
                  [this](RunResult result) {
                    result_ = std::move(result);
                    loop_.Stop();
                  }});
  link_events_.Bind(driver_->link_events());
  return absl::OkStatus();
}

Status RunApp::StartApi() {
  const ApiListen listen = ListenOf(flags_);
  if (listen.http.empty() && listen.grpc.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(api_, RunApi::Listen(loop_, repo_, listen, flags_.store, info_.id,
                                        [this]() -> std::optional<LiveStatus> {
                                          if (driver_ == nullptr || result_) return std::nullopt;
                                          return driver_->Live();
                                        }));
  return absl::OkStatus();
}

// Read until all has drained, and once more then.
void RunApp::EndSignals() {
  if (signals_ == nullptr) return;
  signals_->Stop([this] { loop_.Stop(); });
  loop_.Run();
  Say(signals_->KeptWords());
}

void RunApp::StartPreflight(std::function<void(PreflightReport)> done) {
  preflight_ =
      std::make_unique<RunPreflight>(RunPreflight::Deps{.http = http_,
                                                        .calls = *target_,
                                                        .scheduler = loop_,
                                                        .loaded = loaded_,
                                                        .plan = plan_,
                                                        .secrets = secrets_,
                                                        .signals = signals_.get(),
                                                        .store = flags_.store},
                                     [this, done = std::move(done)](PreflightReport report) {
                                       OnPreflight(report);
                                       done(std::move(report));
                                     });
}

RunStops::Deps RunApp::StopDeps() {
  return {.scheduler = loop_,
          .feed = signals_ == nullptr ? nullptr : &signals_->feed(),
          .store = flags_.store,
          .run_id = info_.id,
          .load_began = [this] { return driver_->state().steps_made > 0; },
          .say = [this](const std::string& line) { Say(line); },
          .stop = [this](int count) { driver_->RequestStop(count); },
          .trip =
              [this](const std::string& reason) {
                if (!result_.has_value()) driver_->Trip(reason);
              }};
}

// Of the fleet, after the others.
void RunApp::OnFound(Finding finding) {
  if (!info_.preflight) info_.preflight.emplace();
  Say(fmt::format("  {}{}", finding.level == FindingLevel::kOk ? "" : "warning: ", finding.text));
  info_.preflight->findings.push_back(std::move(finding));
  (void)repo_.PutRun(info_);
}

void RunApp::OnPreflight(const PreflightReport& report) {
  info_.preflight = report.summary;
  // At once, so that whoever looks at the run meanwhile sees it. A store that fails says so on the
  // next batch.
  (void)repo_.PutRun(info_);
  audience_->Changed(info_);
  for (const Finding& finding : report.summary.findings) {
    // A blocking one is said by the run's end.
    if (finding.level == FindingLevel::kBlocking) continue;
    Say(fmt::format("  {}{}", finding.level == FindingLevel::kOk ? "" : "warning: ", finding.text));
  }
}

std::string RunApp::Stamped(const std::string& line) const {
  const double s = begun_ == MonoTime{} ? 0.0 : ToSeconds(loop_.Now() - begun_);
  return fmt::format("{:6.1f} s  {}", s, Printable(line));
}

void RunApp::Say(const std::string& line) {
  progress_.Say(Stamped(line));
  // The log of a run is a help, not a result: a store that fails says so on the next batch.
  (void)repo_.PutEvent(info_.id, {.at = clock_.WallNow(), .text = line});
}

void RunApp::OnStep(const RunStep& step) {
  Say(StepLine(step.summary));
  if (api_ != nullptr) api_->Changed();
  audience_->StepJudged(info_, step);
}

void RunApp::OnHook(const HookOutcome& outcome) {
  hooks_->Keep(outcome);
  audience_->HookEnded(info_, outcome);
}

int RunApp::Run() {
  begun_ = loop_.Now();
  if (const Status status = SetUp(); !status.ok()) {
    progress_.Finish();
    return Fail(ExitCode::kCouldNotRun, status);
  }
  Say(fmt::format("run {} (seed {}, nonce {})", info_.id, info_.seed, info_.nonce));
  for (const std::string& warning : SecretsSaid(loaded_.recipe)) Say(warning);
  for (const std::string& doubt : loaded_.baseline_doubts) Say("warning: " + doubt);
  if (loaded_.evals != nullptr) Say(EvalsSaid(loaded_));
  if (api_ != nullptr) Say(api_->Words());
  audience_->Started(info_);
  {
    // The third leaves with what there is; one more, while that is written, ends the process: the
    // signals have their old meaning again by then.
    const Signals signals(loop_, [this](int count, int) { driver_->RequestStop(count); });
    const RunStops stops(StopDeps(), loaded_.scenario.kill_switch);
    driver_->Start();
    progress_.Start();
    loop_.Run();
    EndSignals();
    progress_.Stop();
  }
  const int code = Conclude();
  if (local_ != nullptr) local_->Close();  // Their last words need what is destroyed before them.
  return code;
}

int RunApp::Conclude() {
  if (!result_.has_value()) return Code(ExitCode::kInternal);
  info_.ended = clock_.WallNow();
  info_.exit_code = Code(result_->code);
  info_.message = result_->reason;
  info_.drain = result_->drain;
  if (hooks_ != nullptr) info_.rollback = hooks_->Rollback(result_->code);
  info_.state = result_->code == ExitCode::kStopped       ? RunState::kStopped
                : result_->code == ExitCode::kCouldNotRun ? RunState::kFailed
                                                          : RunState::kFinished;
  std::vector<StepRow> rows;
  for (const RunStep& step : result_->steps) {
    rows.push_back({.summary = step.summary, .notes = {}});
    if (!step.note.empty()) rows.back().notes.push_back(step.note);
  }
  ReportModel model =
      ModelOf(info_, loaded_.scenario, loaded_.recipe, std::move(rows), loaded_.corpus_label);
  if (hooks_ != nullptr) model.hooks = repo_.Hooks(info_.id).value_or(std::vector<HookOutcome>{});
  model.files_written.push_back(flags_.store + " (plimsoll runs show " + info_.id + ")");
  if (!flags_.json.empty()) model.files_written.push_back(flags_.json);
  if (!model.steps.empty()) info_.capacity = model.capacity;
  const Status kept = repo_.PutRun(info_);
  if (hooks_ != nullptr && kept.ok()) hooks_->Settle(result_->code);
  Status written = audience_->Ended(&model);
  if (!flags_.json.empty()) written.Update(WriteFileWhole(flags_.json, JsonReport(model)));
  if (api_ != nullptr) api_->End();
  // From here on nobody waits for this process but who reads it, and that may take its time.
  progress_.Finish();
  // Before any complaint: what was measured is on the terminal, whatever the disk says.
  std::fputs(EndText(info_, model).c_str(), stdout);
  if (std::fflush(stdout) != 0) {
    std::fprintf(stderr, "plimsoll: standard output takes no report; see plimsoll runs show %s\n",
                 info_.id.c_str());
  }
  if (!written.ok()) return Fail(ExitCode::kInternal, written);
  if (!kept.ok()) return Fail(ExitCode::kCouldNotRun, kept);
  return Code(result_->code);
}

}  // namespace

int RunScenario(LoadedScenario loaded, const RunFlags& flags) {
  if (const Status status = CheckApiListen(ListenOf(flags)); !status.ok()) {
    return Fail(ExitCode::kUsage, status);
  }
  // Found now, not after an hour of measuring.
  Status files = CheckRunFiles(flags.files);
  if (!flags.json.empty()) files.Update(CheckWritable(flags.json));
  if (!files.ok()) return Fail(ExitCode::kUsage, files);
  auto store = OpenRunStore(flags.store);
  if (!store.ok()) return Fail(ExitCode::kCouldNotRun, store.status());
  if (const Status owed = RecoverFirst(flags.store, **store); !owed.ok()) {
    return Fail(
        absl::IsFailedPrecondition(owed) ? ExitCode::kRollbackFailed : ExitCode::kCouldNotRun,
        owed);
  }
  if (const Status status = ReadBaselines(RunRepo(**store), &loaded); !status.ok()) {
    return Fail(ExitCode::kUsage, status);
  }
  return RunApp(std::move(loaded), flags, *std::move(store)).Run();
}

}  // namespace plimsoll
