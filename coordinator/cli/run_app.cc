#include "coordinator/cli/run_app.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include "common/base/rng.h"
#include "common/base/text.h"
#include "common/base/url.h"
#include "common/base/version.h"
#include "common/chat/http_call_transport.h"
#include "common/chat/target.h"
#include "common/corpus/prompt.h"
#include "common/http/curl_transport.h"
#include "common/loop/event_loop.h"
#include "common/loop/signals.h"
#include "common/plan/lanes.h"
#include "common/wire/corpus_codec.h"
#include "coordinator/api/api_server.h"
#include "coordinator/cli/baselines.h"
#include "coordinator/cli/corpus_files.h"
#include "coordinator/cli/endpoint_file.h"
#include "coordinator/cli/late_events.h"
#include "coordinator/cli/recipe_files.h"
#include "coordinator/cli/run_signals.h"
#include "coordinator/cli/run_store.h"
#include "coordinator/fleet/grpc_fleet_server.h"
#include "coordinator/rehearse/moved_clock.h"
#include "coordinator/report/json_report.h"
#include "coordinator/report/run_report.h"
#include "coordinator/run/local_agents.h"
#include "coordinator/run/preflight.h"
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

constexpr Duration kLiveAge = 250ms;

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
  Status StartLinks();
  Status StartApi();
  std::optional<LiveRun> Live();
  std::string ApiAddresses() const;
  void EndApi();
  void EndSignals();
  void StartPreflight(const RunPlan& plan, std::function<void(PreflightReport)> done);
  void OnPreflight(const PreflightReport& report);
  std::string Stamped(const std::string& line) const;
  void Say(const std::string& line);
  void OnStep(const RunStep& step);
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
  std::unique_ptr<Preflight> preflight_;
  std::unique_ptr<RunSignals> signals_;  // Null: no server is asked.
  std::unique_ptr<StoreJournal> journal_;
  std::unique_ptr<RunDriver> driver_;
  std::unique_ptr<ApiServer> api_;
  std::optional<EndpointFile> endpoint_file_;
  std::optional<LiveStatus> live_;  // As of live_at_.
  MonoTime live_at_{};
  Progress progress_;  // After driver_, which it looks at.
  MonoTime begun_{};
  std::optional<RunResult> result_;
};

std::string ProgramBeside(const char* name) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::string(name) : (self.parent_path() / name).string();
}

Status RunApp::SetUp() {
  const std::string id = MakeRunId(clock_.WallNow(), loaded_.scenario.name);
  info_.id = id;
  // Runs that preflight blocks take less than the second that tells ids apart.
  for (int n = 2; repo_.GetRun(info_.id).ok(); ++n) info_.id = fmt::format("{}-{}", id, n);
  info_.name = loaded_.scenario.name;
  info_.scenario_text = loaded_.text;
  info_.scenario_digest = Sha256Hex(loaded_.text);
  info_.seed = loaded_.scenario.seed;
  // Another one for each run, so that nothing hits a cache that real traffic would miss.
  info_.nonce = flags_.nonce.value_or(
      MixKey(static_cast<std::uint64_t>(clock_.WallNow().time_since_epoch().count()),
             static_cast<std::uint64_t>(getpid())));
  info_.corpus_digest = loaded_.corpus_digest;
  info_.started = clock_.WallNow();
  info_.bar = loaded_.scenario.bar;
  info_.cost = CostOf(loaded_.scenario);
  info_.plimsoll_version = kVersion;
  ASSIGN_OR_RETURN(plan_, MakeRunPlan(loaded_.scenario, *loaded_.corpus,
                                      {.run_id = info_.id,
                                       .nonce = info_.nonce,
                                       .corpus_digest = loaded_.corpus_digest,
                                       .eval_set = loaded_.evals_text}));
  plan_.liveness_percent = flags_.rehearsal.liveness_percent;
  ASSIGN_OR_RETURN(secrets_, ReadTargetSecrets(plan_.target));
  target_ = std::make_unique<HttpCallTransport>(http_, loop_, plan_.target, secrets_);
  RETURN_IF_ERROR(StartSignals());
  RETURN_IF_ERROR(StartLinks());
  RETURN_IF_ERROR(StartApi());
  RETURN_IF_ERROR(repo_.PutRun(info_));  // Last: a run that could not be set up was none.
  return loaded_.recipe.empty() ? absl::OkStatus() : repo_.PutRecipe(info_.id, loaded_.recipe);
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
              .settings = AtLiveness(MakeRunSettings(loaded_.scenario), plan_.liveness_percent),
              .bar = loaded_.scenario.bar,
              .corpus = loaded_.corpus,
              .corpus_bytes = loaded_.corpus_bytes,
              .build = kVersion,
              .evals = loaded_.evals,
              .servers = RulesOf(loaded_.scenario)},
      RunDeps{.scheduler = loop_,
              .links = *links_,
              .journal = *journal_,
              .spawner = local_.get(),
              .signals = signals_ == nullptr ? nullptr : &signals_->feed(),
              .clock = &clock_,
              .preflight =
                  [this](std::function<void(PreflightReport)> done) {
                    StartPreflight(plan_, std::move(done));
                  },
              .say = [this](const std::string& line) { Say(line); },
              .step_judged = [this](const RunStep& step) { OnStep(step); },
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
  ASSIGN_OR_RETURN(api_, ApiServer::Listen(loop_,
                                           {.repo = [this](Freshness) { return &repo_; },
                                            .live = [this] { return Live(); }},
                                           listen));
  auto file = EndpointFile::Write(
      flags_.store,
      {.run_id = info_.id, .http = api_->http_address(), .grpc = api_->grpc_address()});
  if (!file.ok()) return file.status();
  endpoint_file_.emplace(*std::move(file));
  return absl::OkStatus();
}

// However many ask: a status costs a look at every cell of the step.
std::optional<LiveRun> RunApp::Live() {
  if (driver_ == nullptr || result_.has_value()) return std::nullopt;
  if (!live_.has_value() || loop_.Now() - live_at_ >= kLiveAge) {
    live_ = driver_->Live();
    live_at_ = loop_.Now();
  }
  return LiveRun{.run_id = info_.id, .status = live_, .coordinator_http = ""};
}

std::string RunApp::ApiAddresses() const {
  const std::string http = api_->http_address();
  const std::string grpc = api_->grpc_address();
  return fmt::format("results API on {}{}{}{}", http.empty() ? "" : "http://", http,
                     !http.empty() && !grpc.empty() ? " and " : "",
                     grpc.empty() ? "" : "gRPC " + grpc);
}

// Read until all has drained, and once more then.
void RunApp::EndSignals() {
  if (signals_ == nullptr) return;
  signals_->Stop([this] { loop_.Stop(); });
  loop_.Run();
  Say(signals_->KeptWords());
}

// Who watches the run hears how it ended before the servers go.
void RunApp::EndApi() {
  if (api_ == nullptr) return;
  api_->Finish(absl::UnavailableError("the coordinator has ended"), [this] { loop_.Stop(); });
  loop_.Run();
  endpoint_file_.reset();
  api_.reset();
}

void RunApp::StartPreflight(const RunPlan& plan, std::function<void(PreflightReport)> done) {
  const FirstPrompt first =
      LongestFirstPrompt(plan, *loaded_.corpus, loaded_.scenario.sweep.sessions.front());
  const std::uint64_t key = MixKey(plan.nonce, HashBytes("preflight"));
  Prompt prompt;
  // Salted apart from every lane, so that it warms no cache for them.
  PromptIndex(loaded_.corpus->sessions[first.session])
      .Build(first.call, {.play = key, .run = key}, &prompt);
  preflight_ = std::make_unique<Preflight>(
      PreflightDeps{.http = http_,
                    .calls = *target_,
                    .scheduler = loop_,
                    .target = plan.target,
                    .secrets = secrets_},
      PreflightSetup{.model = plan.target.model, .output_mode = plan.output_mode},
      std::move(prompt), key, [this, done = std::move(done)](PreflightReport found) {
        const auto go_on = [this, done](PreflightReport report) {
          OnPreflight(report);
          done(std::move(report));
        };
        if (signals_ == nullptr) return go_on(std::move(found));
        signals_->AddFindings(std::move(found), go_on);
      });
}

void RunApp::OnPreflight(const PreflightReport& report) {
  info_.preflight = report.summary;
  // At once, so that whoever looks at the run meanwhile sees it. A store that fails says so on the
  // next batch.
  (void)repo_.PutRun(info_);
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
  live_.reset();
  if (api_ != nullptr) api_->Look();
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
  if (api_ != nullptr) Say(ApiAddresses());
  {
    // The third leaves with what there is; one more, while that is written, ends the process: the
    // signals have their old meaning again by then.
    const Signals signals(loop_, [this](int count, int) { driver_->RequestStop(count); });
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
  model.files_written.push_back(flags_.store + " (plimsoll runs show " + info_.id + ")");
  if (!flags_.json.empty()) model.files_written.push_back(flags_.json);
  if (!model.steps.empty()) info_.capacity = model.capacity;
  const Status kept = repo_.PutRun(info_);
  const Status written =
      flags_.json.empty() ? absl::OkStatus() : WriteFileWhole(flags_.json, JsonReport(model));
  EndApi();
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
  if (!flags.json.empty()) {
    if (const Status status = CheckWritable(flags.json); !status.ok()) {
      return Fail(ExitCode::kUsage, status);
    }
  }
  auto store = OpenRunStore(flags.store);
  if (!store.ok()) return Fail(ExitCode::kCouldNotRun, store.status());
  if (const Status status = ReadBaselines(RunRepo(**store), &loaded); !status.ok()) {
    return Fail(ExitCode::kUsage, status);
  }
  return RunApp(std::move(loaded), flags, *std::move(store)).Run();
}

}  // namespace plimsoll
