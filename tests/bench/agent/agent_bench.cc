// bench_agent: a real agent under load, with everything on, beside a bare epoll reader of the same
// streams; its stamps beside the source's own; its memory a session. docs/performance.md says what
// the figures mean.
//
// usage: bench_agent [PART…]      paced saturated stamps long-prompts memory lanes; all by default
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "common/plan/lanes.h"
#include "tests/bench/agent/agent_rig.h"
#include "tests/bench/agent/ahead.h"
#include "tests/bench/agent/machine.h"

namespace plimsoll::bench {
namespace {

constexpr std::uint32_t kStreams = 1000;
constexpr int kPairs = 3;     // Of accepted windows.
constexpr int kPairsMax = 8;  // Tried.
constexpr Duration kSettle = 4s;
constexpr Duration kWatch = 5s;
constexpr Duration kPatience = 180s;

std::string SelfPath() {
  std::string path(4096, '\0');
  const ssize_t n = readlink("/proc/self/exe", path.data(), path.size());
  path.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return path;
}

std::string AgentPath() {
  const std::string self = SelfPath();
  return self.substr(0, self.rfind('/') + 1) + "plimsoll-agent";
}

// A source of streams that is up.
struct SourceProcess {
  explicit SourceProcess(const SourceOptions& options) {
    memory.shared->source = options;
    child = Child({SelfPath(), "--role", "source", fmt::format("{}", memory.fd)});
    for (int i = 0; i < 5000 && memory.shared->port == 0; ++i) usleep(1000);
    if (memory.shared->port == 0) std::exit(1);
  }
  Shared& shared() { return *memory.shared; }
  SharedMemory memory;
  Child child;
};

struct Figures {
  Window window;
  std::vector<CallRecord> records;
  MonoTime start{};
  RunPlan plan;
  std::string fault;
};

Window WatchReader(SourceProcess& source, std::uint32_t streams, std::uint32_t body_bytes) {
  source.shared().reader = {.connections = streams, .body_bytes = body_bytes};
  const Child reader({SelfPath(), "--role", "reader", fmt::format("{}", source.memory.fd)});
  usleep(static_cast<useconds_t>(kSettle / 1us));
  const Watch watch(reader.pid(), {source.child.pid()}, source.shared());
  usleep(static_cast<useconds_t>(kWatch / 1us));
  return watch.End();
}

Window WatchAgent(SourceProcess& source, const LoadOptions& options) {
  EventLoop loop;
  Window window;
  Timer timer;
  std::optional<Watch> watch;
  AgentRig rig(loop, AgentPath(), options, source.shared());
  rig.on_start = [&] {
    timer = loop.After(kSettle, [&] {
      watch.emplace(rig.pid(), std::vector<pid_t>{source.child.pid(), getpid()}, source.shared());
      timer = loop.After(kWatch, [&] {
        window = watch->End();
        loop.Stop();
      });
    });
  };
  const Timer patience = loop.After(kPatience, [&] { loop.Stop(); });
  loop.Run();
  if (!rig.fault().empty()) fmt::print("  {}\n", rig.fault());
  return window;
}

void Print(std::string_view who, const Window& w, bool kept) {
  fmt::print(
      "  {:7} {:7.0f} ns CPU a chunk, {:8.0f} chunks/s, {:5.1f}% of a core; steal {:.1f}%, "
      "other processes {:.0f}%{}\n",
      who, w.NanosAChunk(), static_cast<double>(w.chunks) / w.seconds,
      static_cast<double>(w.cpu_ns) / 1e7 / w.seconds, w.steal * 100, w.foreign * 100,
      kept ? "" : "  (discarded)");
  std::fflush(stdout);
}

double Median(std::vector<double> values) {
  if (values.empty()) return std::nan("");
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Agent and reader by turns on the same source; the median ratio of the pairs that no steal spoilt.
void CompareCpu(std::string_view name, const SourceOptions& options, double ratio_max,
                double rate_min) {
  fmt::print("{}: {} streams, {}\n", name, kStreams,
             options.interval_ms > 0 ? fmt::format("a chunk every {} ms", options.interval_ms)
                                     : std::string("as fast as the source sends"));
  std::vector<double> ratios;
  std::vector<double> mine;
  std::vector<double> theirs;
  for (int i = 0; i < kPairsMax && ratios.size() < kPairs; ++i) {
    SourceProcess source(options);
    LoadOptions load{.lanes = kStreams, .measure = 600s};
    const Window reader = WatchReader(source, kStreams, load.prompt_tokens * 5 + 250);
    SourceProcess again(options);
    const Window agent = WatchAgent(again, load);
    const bool kept = reader.steal <= kStealMax && agent.steal <= kStealMax && agent.chunks > 0 &&
                      reader.chunks > 0;
    Print("reader", reader, kept);
    Print("agent", agent, kept);
    if (!kept) continue;
    mine.push_back(agent.NanosAChunk());
    theirs.push_back(reader.NanosAChunk());
    ratios.push_back(mine.back() / theirs.back());
  }
  const double ratio = Median(ratios);
  const double rate = 1e9 / Median(mine);
  fmt::print(
      "{}: agent {:.0f} ns, reader {:.0f} ns, ratio {:.2f} (at most {:.1f}: {}), {:.0f} "
      "chunks/s a core",
      name, Median(mine), Median(theirs), ratio, ratio_max, ratio <= ratio_max ? "met" : "MISSED",
      rate);
  if (rate_min > 0) {
    fmt::print(" (at least {:.0f}: {})", rate_min, rate >= rate_min ? "met" : "MISSED");
  }
  fmt::print("\n\n");
}

// Signed errors of one stamp, agent minus source, milliseconds.
struct Errors {
  void Print(std::string_view name) {
    if (values.empty()) return fmt::print("  {:34} no answers\n", name);
    std::sort(values.begin(), values.end());
    const auto at = [&](double q) {
      return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
    };
    fmt::print("  {:34} median {:6.3f} ms ({}), P99 {:7.3f} ms ({}), max {:7.3f} ms, n {}\n", name,
               at(0.5), at(0.5) <= 0.5 ? "met" : "MISSED", at(0.99),
               at(0.99) <= 5 ? "met" : "MISSED", values.back(), values.size());
  }
  void PrintOnly(std::string_view name) {
    if (values.empty()) return;
    std::sort(values.begin(), values.end());
    fmt::print("  {:34} median {:6.3f} ms, P99 {:7.3f} ms\n", name, values[values.size() / 2],
               values[values.size() * 99 / 100]);
  }
  std::vector<double> values;
};

void CompareStamps(const AgentRig& rig, const Shared& shared) {
  std::unordered_map<std::uint64_t, const AnswerStamp*> sent;
  for (std::size_t i = 0; i < shared.stamps_used; ++i) {
    sent.emplace(shared.stamps[i].play_id, &shared.stamps[i]);
  }
  Errors way_burst;  // From the release to the source's receipt of the whole request.
  Errors way;
  Errors first_burst;
  Errors last_burst;
  Errors first;
  Errors last;
  std::map<std::string_view, int> others;
  const std::int64_t start = rig.start().time_since_epoch().count();
  for (const CallRecord& r : rig.records()) {
    if (r.outcome != Outcome::kOk) {
      ++others[Name(r.outcome)];
      continue;
    }
    const auto found = sent.find(IdsOf(KeysFor(rig.plan(), r.lane, r.play), r.stream).own);
    if (found == sent.end()) continue;
    const auto ms = [&](StepNanos at, std::int64_t theirs) {
      return static_cast<double>(start + at - theirs) / 1e6;
    };
    const double first_ms = ms(r.first_token, found->second->first_token_ns);
    (r.play == 0 ? way_burst : way)
        .values.push_back(-ms(r.first_released, found->second->received_ns));
    const double last_ms = ms(r.last_token, found->second->last_token_ns);
    (r.play == 0 ? first_burst : first).values.push_back(first_ms);
    (r.play == 0 ? last_burst : last).values.push_back(last_ms);
  }
  way_burst.PrintOnly("release to whole request, at once");
  way.PrintOnly("release to whole request, later");
  first_burst.Print("first token, all lanes at once");
  last_burst.Print("last token, all lanes at once");
  first.Print("first token, later calls");
  last.Print("last token, later calls");
  for (const auto& [name, count] : others) fmt::print("  {} calls ended as {}\n", count, name);
}

void MeasureStamps(std::string_view name, std::uint32_t prompt_tokens) {
  fmt::print("{}: {} streams at 20 ms, all started at once, prompts of {} tokens\n", name, kStreams,
             prompt_tokens);
  for (int i = 0; i < kPairs; ++i) {
    SourceProcess source({.first_ms = 200});
    EventLoop loop;
    AgentRig rig(loop, AgentPath(),
                 {.lanes = kStreams, .prompt_tokens = prompt_tokens, .measure = 20s},
                 source.shared());
    std::optional<Watch> watch;
    rig.on_start = [&] {
      watch.emplace(rig.pid(), std::vector<pid_t>{source.child.pid(), getpid()}, source.shared());
    };
    rig.on_closed = [&] { loop.Stop(); };
    const Timer patience = loop.After(kPatience, [&] { loop.Stop(); });
    loop.Run();
    if (!watch) {
      fmt::print("  no start: {}\n", rig.fault());
      continue;
    }
    const Window window = watch->End();
    Print("agent", window, window.steal <= kStealMax);
    CompareStamps(rig, source.shared());
    fmt::print("  loop: worst stall {:.1f} ms, lateness P99 {:.2f} ms\n",
               static_cast<double>(rig.tally().loop_lag_max_ns) / 1e6,
               static_cast<double>(rig.tally().lateness_p99_ns) / 1e6);
  }
  fmt::print("\n");
}

// Growth of the agent's own memory from before the lanes to when they have settled.
void MeasureMemory(std::string_view name, const SourceOptions& options, const LoadOptions& load,
                   Duration settle) {
  SourceProcess source(options);
  EventLoop loop;
  AgentRig rig(loop, AgentPath(), load, source.shared());
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  Timer timer;
  rig.on_run_ready = [&] { before = AnonymousKib(rig.pid()); };
  rig.on_start = [&] {
    timer = loop.After(settle, [&] {
      after = AnonymousKib(rig.pid());
      loop.Stop();
    });
  };
  const Timer patience = loop.After(kPatience, [&] { loop.Stop(); });
  loop.Run();
  if (after == 0) return fmt::print("{}: no figure. {}\n", name, rig.fault());
  const double each = static_cast<double>(after - before) / load.lanes;
  fmt::print(
      "{}: {} sessions, {} calls in flight: {:.1f} KiB a session (at most 64: {}); {} MiB "
      "before them, {} MiB with them\n",
      name, load.lanes, rig.calls_in_flight(), each, each <= 64 ? "met" : "MISSED", before >> 10,
      after >> 10);
}

void MeasureLanes() {
  constexpr std::uint32_t kLanes = 9000;
  // Every lane's first call stays open until all have begun; a chunk every 400 ms keeps it alive.
  SourceProcess source({.interval_ms = 400, .first_ms = 500, .chunks_min = 40, .chunks_max = 60});
  EventLoop loop;
  AgentRig rig(loop, AgentPath(), {.lanes = kLanes, .measure = 25s}, source.shared());
  rig.on_closed = [&] { loop.Stop(); };
  const Timer patience = loop.After(kPatience, [&] { loop.Stop(); });
  loop.Run();
  std::map<std::string_view, int> outcomes;
  for (const CallRecord& r : rig.records()) ++outcomes[Name(r.outcome)];
  fmt::print("lanes: {} asked for, {} calls in flight at most ({}) {}\n", kLanes,
             rig.calls_in_flight_max(), rig.calls_in_flight_max() >= kLanes ? "met" : "MISSED",
             rig.fault());
  for (const auto& [name, count] : outcomes) fmt::print("  {} calls ended as {}\n", count, name);
  fmt::print("  worst stall {:.1f} ms, lateness P99 {:.2f} ms\n",
             static_cast<double>(rig.tally().loop_lag_max_ns) / 1e6,
             static_cast<double>(rig.tally().lateness_p99_ns) / 1e6);
  CompareStamps(rig, source.shared());
}

int Run(const std::vector<std::string_view>& parts) {
  // The figures are about these processes, not about who else is on the machine; children inherit
  // it. The share of other processes is printed with every window.
  const AheadOfOthers ahead;
  if (!ahead.missing().empty()) fmt::print("({})\n", ahead.missing());
  const auto wanted = [&](std::string_view part) {
    return parts.empty() || std::find(parts.begin(), parts.end(), part) != parts.end();
  };
  if (wanted("paced")) CompareCpu("paced", {}, 3.0, 0);
  if (wanted("saturated")) CompareCpu("saturated", {.interval_ms = 0}, 2.0, 150'000);
  if (wanted("stamps")) MeasureStamps("stamps", 1000);
  if (wanted("long-prompts")) MeasureStamps("long-prompts", 200'000);
  if (wanted("memory")) {
    MeasureMemory("memory, in flight", {.chunks_min = 9000, .chunks_max = 9000},
                  {.lanes = kStreams, .prompt_tokens = 150'000, .measure = 600s}, 15s);
    MeasureMemory("memory, between calls", {.chunks_min = 5, .chunks_max = 5},
                  {.lanes = kStreams,
                   .prompt_tokens = 150'000,
                   .calls_a_session = 100,
                   .delay_ms = 15'000,
                   .measure = 600s},
                  40s);
  }
  if (wanted("lanes")) MeasureLanes();
  return 0;
}

}  // namespace
}  // namespace plimsoll::bench

int main(int argc, char** argv) {
  using namespace plimsoll::bench;
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  if (words.size() == 3 && words[0] == "--role") {
    int fd = -1;
    std::from_chars(words[2].data(), words[2].data() + words[2].size(), fd);
    words[1] == "source" ? RunSource(SharedMemory::Map(fd)) : RunEpollReader(SharedMemory::Map(fd));
  }
  return Run(words);
}
