#include "coordinator/rehearse/row_run.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include "coordinator/evals/builtin_sets.h"
#include "coordinator/rehearse/processes.h"
#include "coordinator/rehearse/row_files.h"
#include "coordinator/rehearse/small_disk.h"

namespace plimsoll::rehearse {
namespace {

constexpr char kListening[] = "listening on ";
constexpr char kDial[] = "--coordinator ";
constexpr char kAgentName[] = "plimsoll-agent";
constexpr char kStepFile[] = "clock-steps";
constexpr int kDiskMegabytes = 8;
// Of what a run says: far above any report.
constexpr std::size_t kWordsMax = std::size_t{1} << 20;
// After the coordinator's end: agents that hear of it by silence are scaled liveness away.
constexpr Duration kGoneWithin = 10s;
constexpr Duration kStopped = 90ms;
constexpr Duration kRunning = 30ms;

// Behind `mark`, up to a space.
std::string WordAfter(const std::string& line, std::string_view mark) {
  const std::size_t at = line.find(mark);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + mark.size();
  return line.substr(begin, line.find(' ', begin) - begin);
}

}  // namespace

RowRun::RowRun(EventLoop& loop, const Programs& programs, Row row, std::string folder,
               std::function<void(RowFacts)> done)
    : loop_(loop),
      programs_(programs),
      row_(std::move(row)),
      folder_(std::move(folder)),
      done_(std::move(done)) {}

RowRun::~RowRun() = default;

void RowRun::Start() {
  begun_ = loop_.Now();
  deadline_ = loop_.After(row_.deadline, [this] {
    Fail(fmt::format("it had not ended after {:.0f} s", ToSeconds(row_.deadline)));
  });
  Later([this] { Begin(); });
}

void RowRun::Later(std::function<void()> task, Duration wait) {
  turns_.push_back(loop_.After(wait, std::move(task)));
}

void RowRun::Begin() {
  for (const auto& [name, text] : row_.files) {
    if (const Status status = WriteFile(name, text, true); !status.ok()) {
      return Fail(std::string(MessageOf(status)));
    }
  }
  row_.needs.empty() ? StartGateway() : AskWhetherKnown();
}

Status RowRun::WriteFile(const std::string& name, const std::string& text, bool program) {
  const std::string path = Path(name);
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file || (program && ::chmod(path.c_str(), 0755) != 0)) {
    return absl::UnavailableError(fmt::format("{}: {}", path, std::strerror(errno)));
  }
  return absl::OkStatus();
}

std::unique_ptr<ChildProcess> RowRun::Child(std::vector<std::string> argv,
                                            std::function<void(const Lines&)> on_lines,
                                            std::function<void(const ChildExit&)> on_exit) {
  ChildOptions options{.argv = std::move(argv), .on_lines = std::move(on_lines)};
  if (!row_.time_zone.empty()) options.env.emplace_back("TZ", row_.time_zone);
  auto child = ChildProcess::Start(loop_, options, std::move(on_exit));
  if (child.ok()) return *std::move(child);
  Fail(std::string(MessageOf(child.status())));
  return nullptr;
}

// A program that does not know the key says so, and the row is not run.
void RowRun::AskWhetherKnown() {
  Row asked = row_;
  if (!row_.needs_value.empty()) asked.scenario.emplace_back(row_.needs, row_.needs_value);
  const Status written = WriteFile(
      "scenario.yaml", ScenarioText(asked, {.url = "http://127.0.0.1:1/v1", .folder = folder_}));
  if (!written.ok()) return Fail(std::string(MessageOf(written)));
  helper_ = Child(
      {programs_.plimsoll, "check", "--offline", Path("scenario.yaml")},
      [this](const Lines& lines) {
        for (const std::string& line : lines) facts_.words += line + '\n';
      },
      [this](const ChildExit& exit) {
        const bool known = exit.signal == 0 && exit.code == 0;
        if (known) {
          facts_.words.clear();
          return Later([this] { StartGateway(); });
        }
        const bool lacks = facts_.words.find(": " + row_.needs + ": ") != std::string::npos;
        if (!lacks) return Fail("its scenario is wrong: " + facts_.words);
        facts_.not_run = fmt::format("this build's scenarios have no `{}:`", row_.needs);
        Later([this] { Finish(); });
      });
}

void RowRun::StartGateway() {
  if (row_.answers) {
    const auto set = BuiltinSetText("basic");
    const Status written = set.ok() ? WriteFile("answers.jsonl", std::string(*set)) : set.status();
    if (!written.ok()) return Fail(std::string(MessageOf(written)));
  }
  const Status written =
      WriteFile("gateway.yaml", GatewayText(row_, {.url = "", .folder = folder_}));
  if (!written.ok()) return Fail(std::string(MessageOf(written)));
  gateway_ = Child(
      {programs_.gateway, "--config", Path("gateway.yaml")},
      [this](const Lines& lines) { OnGatewayLines(lines); },
      [this](const ChildExit& exit) {
        // A crash is a fault of some rows; before it was up it is no fault.
        if (url_.empty()) {
          Fail(fmt::format("the gateway ended with code {} before it listened: {}", exit.code,
                           facts_.words));
        }
      });
}

void RowRun::OnGatewayLines(const Lines& lines) {
  if (!url_.empty()) return;
  for (const std::string& line : lines) {
    facts_.words += line + '\n';
    url_ = WordAfter(line, kListening);
    if (url_.empty()) continue;
    facts_.words.clear();
    return Later([this] { OnGatewayUp(url_); });
  }
}

void RowRun::OnGatewayUp(const std::string& url) {
  if (row_.gateway_gone) gateway_.reset();
  const Status written =
      WriteFile("scenario.yaml", ScenarioText(row_, {.url = url, .folder = folder_}));
  if (!written.ok()) return Fail(std::string(MessageOf(written)));
  StartCoordinator();
}

std::vector<std::string> RowRun::CoordinatorArgv() const {
  std::vector<std::string> argv;
  if (row_.small_disk) {
    argv = {programs_.plimsoll, "rehearse-disk", Path("store"), fmt::to_string(kDiskMegabytes)};
  }
  for (const std::string& word :
       {programs_.plimsoll, std::string("run"), Path("scenario.yaml"), std::string("--store"),
        Path("store"), std::string("--json"), Path("report.json"), std::string("--color"),
        std::string("never"), std::string("--rehearse-liveness"),
        fmt::to_string(row_.liveness_percent)}) {
    argv.push_back(word);
  }
  if (row_.clock_from_s) {
    argv.insert(argv.end(), {"--rehearse-wall-from", fmt::to_string(*row_.clock_from_s)});
  }
  if (row_.clock_step != Duration{0}) {
    argv.insert(argv.end(),
                {"--rehearse-wall-step", fmt::format("{:.0f}", ToSeconds(row_.clock_step)),
                 "--rehearse-wall-step-file", Path(kStepFile)});
  }
  return argv;
}

void RowRun::StartCoordinator() {
  std::error_code error;
  if (row_.small_disk) std::filesystem::create_directory(Path("store"), error);
  coordinator_ = Child(
      CoordinatorArgv(), [this](const Lines& lines) { OnCoordinatorLines(lines); },
      [this](const ChildExit& exit) { OnCoordinatorExit(exit); });
}

void RowRun::OnCoordinatorLines(const Lines& lines) {
  for (const std::string& line : lines) {
    if (facts_.words.size() < kWordsMax) facts_.words += line + '\n';
    if (line.find("agents are here") != std::string::npos) NoteAgents();
    if (row_.dialled && agent_ == nullptr && line.find(kDial) != std::string::npos) {
      Later([this, line] { Dial(line); });
    }
    const bool strikes = row_.strike.kind != StrikeKind::kNone && !struck_;
    if (!strikes || line.find(row_.strike.after) == std::string::npos) continue;
    struck_ = true;
    strike_ = loop_.After(row_.strike.wait, [this] { DoStrike(); });
  }
}

void RowRun::Dial(const std::string& line) {
  dialled_ = WordAfter(line, kDial);
  const std::size_t colon = dialled_.rfind(':');
  const int port = colon == std::string::npos ? 0 : std::atoi(dialled_.c_str() + colon + 1);
  auto relay = RecordRelay::Start(static_cast<std::uint16_t>(port));
  if (!relay.ok()) return Fail(std::string(MessageOf(relay.status())));
  relay_ = *std::move(relay);
  StartAgent(relay_->address());
}

// As a service manager does, another one follows the one that ended; past the relay.
void RowRun::StartAgent(const std::string& address) {
  agent_ = Child(
      {programs_.agent, "--coordinator", address, "--name", "dialled", "--wait", "20"},
      [this](const Lines& lines) {
        for (const std::string& said : lines) facts_.words += said + '\n';
      },
      [this](const ChildExit&) {
        const bool goes_on = coordinator_ != nullptr && coordinator_->running();
        if (struck_ && !ended_ && goes_on) Later([this] { StartAgent(dialled_); }, 500ms);
      });
}

void RowRun::NoteAgents() {
  if (coordinator_ == nullptr) return;
  for (const int pid : ChildrenOf(coordinator_->pid())) {
    if (std::find(agents_.begin(), agents_.end(), pid) == agents_.end()) agents_.push_back(pid);
  }
}

void RowRun::SignalAgent(int number) {
  if (victim_ > 0 && IsRunning(victim_, kAgentName)) ::kill(victim_, number);
}

void RowRun::DoStrike() {
  if (ended_ || coordinator_ == nullptr || !coordinator_->running()) return;
  NoteAgents();
  const std::vector<int> children = ChildrenOf(coordinator_->pid());
  victim_ = children.empty() ? 0 : children.front();
  switch (row_.strike.kind) {
    case StrikeKind::kNone:
      break;
    case StrikeKind::kKillAgent:
      return SignalAgent(SIGKILL);
    case StrikeKind::kFreezeAgent:
      return SignalAgent(SIGSTOP);
    case StrikeKind::kPauseAgent:
      SignalAgent(SIGSTOP);
      return Later([this] { SignalAgent(SIGCONT); }, row_.strike.lasts);
    case StrikeKind::kThrottleAgent:
      throttling_ = true;
      return Throttle(true);
    case StrikeKind::kKillCoordinator:
      // The coordinator alone: what it leaves behind is the question.
      if (::kill(coordinator_->pid(), SIGKILL) != 0) Fail("the coordinator could not be killed");
      return;
    case StrikeKind::kFillDisk: {
      const Status filled = FillDiskOf(coordinator_->pid(), Path("store"));
      if (!filled.ok()) Fail(std::string(MessageOf(filled)));
      return;
    }
    case StrikeKind::kStepClock: {
      const Status written = WriteFile(kStepFile, "");
      if (!written.ok()) Fail(std::string(MessageOf(written)));
      return;
    }
    case StrikeKind::kDropRecords:
      if (relay_ != nullptr) relay_->Drop();
      return;
  }
}

void RowRun::Throttle(bool stopped) {
  if (!throttling_) return;
  SignalAgent(stopped ? SIGSTOP : SIGCONT);
  strike_ = loop_.After(stopped ? kStopped : kRunning, [this, stopped] { Throttle(!stopped); });
}

void RowRun::OnCoordinatorExit(const ChildExit& exit) {
  if (ended_) return;
  throttling_ = false;
  SignalAgent(SIGCONT);
  if (exit.signal == 0) facts_.exit_code = exit.code;
  if (exit.code == kNoSmallDisk && facts_.words.find(kNoSmallDiskWords) != std::string::npos) {
    facts_.not_run = facts_.words;
  }
  gone_by_ = loop_.Now() + kGoneWithin;
  Later([this] { AwaitEnd(); });
}

// Nobody that it started may outlive it for long.
void RowRun::AwaitEnd() {
  std::erase_if(agents_, [](int pid) { return !IsRunning(pid, kAgentName); });
  const bool rolls_back = !row_.rolled_back.empty() && !facts_.rolled_back;
  if (rolls_back) facts_.rolled_back = std::filesystem::exists(Path(row_.rolled_back));
  const bool all = agents_.empty() && (row_.rolled_back.empty() || facts_.rolled_back);
  if (!all && loop_.Now() < gone_by_) return Later([this] { AwaitEnd(); }, 50ms);
  for (const int pid : agents_) facts_.left_behind.push_back(fmt::format("agent {}", pid));
  row_.lists_runs ? ListRuns() : ReadReport();
}

void RowRun::ListRuns() {
  helper_ = Child(
      {programs_.plimsoll, "runs", "list", "--store", Path("store")},
      [this](const Lines& lines) {
        for (const std::string& line : lines) facts_.words += line + '\n';
      },
      [this](const ChildExit&) { Later([this] { ReadReport(); }); });
}

void RowRun::ReadReport() {
  std::ifstream file(Path("report.json"), std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  facts_.report = text.str();
  Finish();
}

void RowRun::Fail(const std::string& trouble) {
  if (ended_) return;
  facts_.trouble = trouble;
  Later([this] { Finish(); });
}

void RowRun::Finish() {
  if (ended_) return;
  ended_ = true;
  facts_.took = loop_.Now() - begun_;
  deadline_.Cancel();
  // A deadline must leave nothing of the row: what it said is kept for whoever looks.
  throttling_ = false;
  SignalAgent(SIGCONT);
  (void)WriteFile("said.txt", facts_.words);
  agent_.reset();
  coordinator_.reset();
  gateway_.reset();
  helper_.reset();
  relay_.reset();
  for (const int pid : agents_) {
    if (IsRunning(pid, kAgentName)) ::kill(pid, SIGKILL);
  }
  const auto done = std::move(done_);  // It may destroy this object.
  done(std::move(facts_));
}

}  // namespace plimsoll::rehearse
