// The section kill_switch: shorthand and long form, production's pages, what is wrong in it.
#include "coordinator/scenario/kill_switch_reader.h"

#include <map>

#include "coordinator/scenario/scenario_reader.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kSignals[] = "signals: {engines: {url: \"http://e:1/metrics\", kind: vllm}}\n";

std::string Text(const std::string& section, const std::string& signals = kSignals) {
  return "name: x\ntarget: {url: \"https://g/v1\", model: m}\ncorpus: {synthetic: agentx}\n"
         "mix: {heavy: 50%, light: 50%}\nsweep: {sessions: [4]}\nbar: {errors: 2%}\n"
         "fleet: {local: 1}\n" +
         signals + "kill_switch: " + section + "\n";
}

Scenario Read(const std::string& section, const std::string& signals = kSignals) {
  Problems problems("s");
  Scenario scenario = ReadScenario(Text(section, signals), "dir", problems);
  EXPECT_THAT(problems.Lines(), IsEmpty()) << section;
  EXPECT_TRUE(scenario.kill_switch.has_value());
  return scenario;
}

std::string Problem(const std::string& section, const std::string& signals = kSignals) {
  const auto read = ParseScenario(Text(section, signals), "s", "dir");
  return read.ok() ? "" : std::string(MessageOf(read.status()));
}

TEST(KillSwitchReader, ALimitAloneIsARule) {
  const Scenario scenario = Read(
      "{waiting: 200, open_requests: 3x, cancellations: 5/s, errors: 20%, kv_fill: 98%, file: "
      "STOP}");
  const KillSwitchSpec& spec = *scenario.kill_switch;
  EXPECT_THAT(spec.rules,
              ElementsAre(KillRule{.signal = KillSignal::kWaiting, .over = 200},
                          KillRule{.signal = KillSignal::kOpenRequests, .over_before = 3},
                          KillRule{.signal = KillSignal::kCancellations, .over = 5},
                          KillRule{.signal = KillSignal::kErrors, .over = 0.2},
                          KillRule{.signal = KillSignal::kKvFill, .over = 0.98, .time = 30s}));
  EXPECT_EQ(spec.file, "dir/STOP");
  EXPECT_FALSE(spec.unread.has_value());
}

TEST(KillSwitchReader, TheLongFormSaysHowLongAndHowMany) {
  const Scenario scenario = Read(
      "{errors: {over: 5%, over_before: 2x, for: 1m, least: 100}, waiting: {over: 0, for: 0s}, "
      "unread: {for: 30s}}");
  EXPECT_THAT(scenario.kill_switch->rules,
              ElementsAre(KillRule{.signal = KillSignal::kWaiting, .over = 0, .time = 0s},
                          KillRule{.signal = KillSignal::kErrors,
                                   .over = 0.05,
                                   .over_before = 2,
                                   .time = 1min,
                                   .least = 100}));
  EXPECT_EQ(scenario.kill_switch->unread, 30s);
}

TEST(KillSwitchReader, ProductionsPagesAreReadAndJudgeNothing) {
  const std::string section =
      "{production: {engines: [{url: \"http://p:1/metrics\", kind: vllm}], gateway: {url: "
      "\"http://q:1/stats\", kind: envoy}, waiting: 3x}}";
  const Scenario beside = Read(section);
  ASSERT_EQ(beside.signals->targets.size(), 3u);
  EXPECT_EQ(beside.signals->targets[0].source, "engines");
  EXPECT_EQ(beside.signals->targets[1].source, "production");
  EXPECT_EQ(beside.signals->targets[2].source, "production");
  EXPECT_TRUE(beside.signals->AsksCandidate());
  EXPECT_THAT(
      beside.kill_switch->rules,
      ElementsAre(KillRule{.production = true, .signal = KillSignal::kWaiting, .over_before = 3}));
  // Without a section signals production alone is asked.
  const Scenario alone = Read(section, "");
  ASSERT_TRUE(alone.signals.has_value());
  EXPECT_FALSE(alone.signals->AsksCandidate());
  EXPECT_EQ(alone.signals->judge, JudgeMode::kClient);
}

TEST(KillSwitchReader, SaysWhatIsWrong) {
  const std::map<std::string, std::string> wrong = {
      {"{}", "kill_switch: has no rule, write e.g."},
      {"{waiting: {for: 10s}}", "kill_switch.waiting: has no limit, write e.g. {over: 200}"},
      {"{waiting: many}", "kill_switch.waiting:"},
      {"{waiting: 0x}", "must be from 1x to 1000x the level before the run"},
      {"{waiting: 1e999x}", "must be from 1x"},
      {"{cancellations: 5}", "it is a rate, write e.g. 5/s"},
      {"{cancellations: -5/s}", "it is a rate"},
      {"{cancellations: {over: 5/s, for: 100ms}}", "kill_switch.cancellations.for: is 100ms"},
      {"{errors: 100%}", "nothing exceeds"},
      {"{errors: {over: 5%, least: 0}}", "kill_switch.errors.least"},
      {"{waiting: {over: 5, least: 3}}", "kill_switch.waiting.least"},
      {"{queue: 5}", "kill_switch.queue"},
      {"{waiting: 5, unread: {}}", "kill_switch.unread"},
      {"{waiting: 5, unread: {for: 0s}}", "must be from 1s to 1h"},
      {"{production: {waiting: 5}}", "no page of production is read"},
      {"{production: {engines: {url: \"http://p:1/m\", kind: vllm}, gateway: {url: "
       "\"http://p:1/m\", kind: envoy}, waiting: 5}}",
       "two pages of production named p:1"},
  };
  for (const auto& [section, said] : wrong)
    EXPECT_THAT(Problem(section), HasSubstr(said)) << section;
  EXPECT_THAT(Problem("{waiting: 5}", ""), HasSubstr("no page of it is read"));
}

TEST(KillSwitchReader, ConsentToLostHangUpsIsATargetsKey) {
  Problems problems("s");
  std::string text = Text("{file: x}");
  const std::string from = "model: m";
  EXPECT_FALSE(ReadScenario(text, "", problems).cancellation_may_be_lost);
  text.replace(text.find(from), from.size(), "model: m, cancellation: may_be_lost");
  EXPECT_TRUE(ReadScenario(text, "", problems).cancellation_may_be_lost);
  EXPECT_THAT(problems.Lines(), IsEmpty());
  text.replace(text.find("may_be_lost"), 11, "whatever");
  (void)ReadScenario(text, "", problems);
  EXPECT_THAT(problems.Lines(), ElementsAre(HasSubstr("target.cancellation")));
}

}  // namespace
}  // namespace plimsoll
