// Mapping files: everything one can say, and what a wrong one is told.
#include "coordinator/signals/mapping_reader.h"

#include <filesystem>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/signals/sample_pages.h"

namespace plimsoll {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::string> ProblemsOf(const std::string& yaml) {
  Problems problems("m.yaml");
  (void)ReadMapping(yaml, problems);
  return problems.Lines();
}

TEST(MappingReader, EverythingOneCanSay) {
  const Mapping mapping = MappingFrom(R"(
kind: mine
detect: [a, "b:c"]
model_label: model
same: [pid, tp_rank]
start_time: boot_seconds
digits: 6
signals:
  ttft: {histogram: [new_ttft, old_ttft], unit: ms, moves: first_token, note: of streams only}
  kv_fill:
    ratio: {of: [used], to: [capacity, {name: budget, where: {tier: gpu}}]}
    combine: max
  mean_running: {lifetime_mean: {mean: busy, weight: [steps]}, combine: sum}
  waiting: {gauge: [{name: queue, plus: [grammar, prefill]}], combine: sum}
  errors:
    counter:
      - name: http_requests_total
        where: {status: {prefix: ["4", "5"]}, handler: /v1/chat, method: {not: GET}}
    moves: finish
    lazy: true
    trust: low
absent:
  open_requests: "the engine does not know its callers; read the gateway"
)");
  EXPECT_EQ(mapping.kind, "mine");
  EXPECT_THAT(mapping.detect, ElementsAre("a", "b:c"));
  EXPECT_EQ(mapping.model_label, "model");
  EXPECT_THAT(mapping.same, ElementsAre("pid", "tp_rank"));
  EXPECT_EQ(mapping.start_time, "boot_seconds");
  EXPECT_EQ(mapping.digits, 6);
  ASSERT_THAT(mapping.signals, SizeIs(5));
  EXPECT_EQ(mapping.signals[0], (SignalMapping{.signal = Signal::kTtft,
                                               .any = {{.name = "new_ttft"}, {.name = "old_ttft"}},
                                               .scale = 1e-3,
                                               .combine = Combine::kMerge,
                                               .moves = Moves::kFirstToken,
                                               .note = "of streams only"}));
  EXPECT_EQ(
      mapping.signals[1],
      (SignalMapping{.signal = Signal::kKvFill,
                     .derivation = Derivation::kRatio,
                     .any = {{.name = "used"}},
                     .to = {{.name = "capacity"},
                            {.name = "budget", .where = {{"tier", LabelTest::Op::kIn, {"gpu"}}}}},
                     .combine = Combine::kMax}));
  EXPECT_EQ(mapping.signals[2].derivation, Derivation::kLifetimeMean);
  EXPECT_THAT(mapping.signals[3].any[0].plus, ElementsAre("grammar", "prefill"));
  EXPECT_EQ(mapping.signals[4],
            (SignalMapping{.signal = Signal::kErrors,
                           .any = {{.name = "http_requests_total",
                                    .where = {{"status", LabelTest::Op::kPrefix, {"4", "5"}},
                                              {"handler", LabelTest::Op::kIn, {"/v1/chat"}},
                                              {"method", LabelTest::Op::kNotIn, {"GET"}}}}},
                           .moves = Moves::kFinish,
                           .lazy = true,
                           .trusted = false}));
  EXPECT_EQ(*mapping.WhyAbsent(Signal::kOpenRequests),
            "the engine does not know its callers; read the gateway");
  EXPECT_EQ(mapping.WhyAbsent(Signal::kTtft), nullptr);
  EXPECT_EQ(mapping.Find(Signal::kRunning), nullptr);
}

TEST(MappingReader, TestsOfLabels) {
  const LabelTest in{"a", LabelTest::Op::kIn, {"x", ""}};
  EXPECT_TRUE(in.Passes("x") && in.Passes(""));
  EXPECT_FALSE(in.Passes("y"));
  const LabelTest not_in{"a", LabelTest::Op::kNotIn, {""}};
  EXPECT_TRUE(not_in.Passes("x"));
  EXPECT_FALSE(not_in.Passes(""));
  const LabelTest prefix{"a", LabelTest::Op::kPrefix, {"4", "5"}};
  EXPECT_TRUE(prefix.Passes("4xx") && prefix.Passes("503"));
  EXPECT_FALSE(prefix.Passes("2xx") || prefix.Passes(""));
}

TEST(MappingReader, WrongOnesAreToldWhereAndWhatWouldBeRight) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "m.yaml: is empty"},
      {"[1]", "must be a map"},
      {"signals: {running: {gauge: [a]}}", "kind: is missing, write e.g."},
      {"kind: x", "signals: is missing"},
      {"kind: x\nsignals: {}", "signals: is empty"},
      {"kind: x\nengine: y\nsignals: {running: {gauge: [a]}}", "m.yaml:2: engine:"},
      {"kind: x\nsignals: {runing: {gauge: [a]}}",
       "m.yaml:2: signals.runing: is no signal; did you mean \"running\"?"},
      {"kind: x\nsignals: {zzz: {gauge: [a]}}", "is no signal; there are ttft, "},
      {"kind: x\nsignals: {running: {combine: sum}}", "says not where it is, write e.g. gauge:"},
      {"kind: x\nsignals: {running: {gauge: [a], ratio: {of: [a], to: [b]}}}", "several sources"},
      {"kind: x\nsignals: {running: {counter: [a]}}", "is not what running is, write gauge"},
      {"kind: x\nsignals: {ttft: {histogram: [x_bucket]}}",
       "is one series of a histogram, write x"},
      {"kind: x\nsignals: {ttft: {histogram: [x], combine: sum}}", "must be merge"},
      {"kind: x\nsignals: {ttft: {histogram: [x], unit: percent}}", "write s, ms or us"},
      {"kind: x\nsignals: {running: {gauge: [x], unit: ms}}", "leave it out"},
      {"kind: x\nsignals: {kv_fill: {gauge: [x], unit: s}}", "write share or percent"},
      {"kind: x\nsignals: {errors: {counter: [x], combine: mean}}", "no mean of counters"},
      {"kind: x\nsignals: {errors: {counter: [x], combine: merge}}", "is for histograms"},
      {"kind: x\nsignals: {errors: {ratio: {of: [x], to: [y]}}}", "is only for gauges"},
      {"kind: x\nsignals: {kv_fill: {ratio: {of: [x]}}}", "signals.kv_fill.ratio.to: is missing"},
      {"kind: x\nsignals: {errors: {counter: [x_created]}}", "is when the counter began"},
      {"kind: x\nsignals: {errors: {counter: [\"x{a=1}\"]}}", "must be a bare name"},
      {"kind: x\nsignals: {errors: {counter: []}}", "must be a list of names"},
      {"kind: x\nsignals: {errors: {counter: {name: x}}}", "must be a list of names"},
      {"kind: x\nsignals: {errors: {counter: [{where: {a: b}}]}}", "name: is missing"},
      {"kind: x\nsignals: {errors: {counter: [{name: x, wher: {a: b}}]}}",
       "did you mean \"where\""},
      {"kind: x\nsignals: {errors: {counter: [{name: x, where: a}]}}", "must be labels"},
      {"kind: x\nsignals: {errors: {counter: [{name: x, where: {a: {is: b}}}]}}", "is:"},
      {"kind: x\nsignals: {errors: {counter: [{name: x, where: {a: {in: b, not: c}}}]}}",
       "must have one of in, not, prefix"},
      {"kind: x\nsignals: {errors: {counter: [{name: x, where: {le: \"5\"}}]}}",
       "is part of a histogram"},
      {"kind: x\nsignals: {errors: {counter: [{name: x, where: {a: [[b]]}}]}}", "must be texts"},
      {"kind: x\nsignals: {ttft: {histogram: [{name: x, plus: [y]}]}}", "not for histograms"},
      {"kind: x\nsignals: {running: {gauge: [x], lazy: true}}", "only for counters"},
      {"kind: x\nsignals: {running: {gauge: [x], moves: soon}}", "it must be arrival, headers"},
      {"kind: x\nsignals: {running: {gauge: [x]}}\nabsent: {running: no}", "keep one of the two"},
      {"kind: x\nsignals: {running: {gauge: [x]}}\nabsent: {ttft: \"\"}", "is an empty text"},
      {"kind: x\ndigits: 0\nsignals: {running: {gauge: [x]}}", "digits: is 0"},
      {"kind: x\nsignals: {running: {gauge: [x]}\n", "m.yaml:"},
      {"kind: x\nsignals: {running: {gauge: [a]}, running: {gauge: [b]}}", "running"},
  };
  for (const auto& [yaml, words] : cases) {
    EXPECT_THAT(ProblemsOf(yaml), Contains(HasSubstr(words))) << yaml;
  }
}

TEST(MappingReader, AllProblemsAreFoundAtOnce) {
  EXPECT_THAT(ProblemsOf("kind: x\nsignals:\n  runing: {gauge: [a]}\n  ttft: {histogram: [b_sum]}\n"
                         "  errors: {gauge: [a]}\nfoo: 1\n"),
              SizeIs(4));
}

TEST(BuiltinMappings, AllAreGoodAndSayOfEachWantedSignalWhereOrWhyNot) {
  const std::vector<Signal> wanted = {
      Signal::kTtft,       Signal::kErrors,        Signal::kRunning,     Signal::kWaiting,
      Signal::kKvFill,     Signal::kPreempted,     Signal::kTokensIn,    Signal::kTokensCached,
      Signal::kTokensOut,  Signal::kCancelled,     Signal::kRefused,     Signal::kOpenRequests,
      Signal::kPrefixHits, Signal::kPrefixQueries, Signal::kTimePerToken};
  std::vector<std::string> kinds;
  for (const EmbeddedText& one : BuiltinMappingTexts()) {
    kinds.emplace_back(one.name);
    const Mapping mapping = Builtin(std::string(one.name));
    EXPECT_EQ(mapping.kind, one.name);
    EXPECT_THAT(mapping.detect, testing::Not(IsEmpty())) << one.name;
    for (const Signal signal : wanted) {
      EXPECT_TRUE(mapping.Find(signal) != nullptr || mapping.WhyAbsent(signal) != nullptr)
          << one.name << " " << TraitsOf(signal).key;
    }
  }
  EXPECT_THAT(kinds,
              ElementsAre("envoy", "envoy_ai_gateway", "llamacpp", "modelplane", "sglang", "vllm"));
  const StatusOr<Mapping> none = BuiltinMapping("vlllm");
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(std::string(MessageOf(none.status())), HasSubstr("there are envoy, "));
}

TEST(BuiltinMappings, AreTheFilesOfDeploy) {
  std::size_t files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(PLIMSOLL_SOURCE_DIR "/deploy/signals")) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto texts = BuiltinMappingTexts();
    EXPECT_TRUE(std::any_of(texts.begin(), texts.end(), [&](const EmbeddedText& one) {
      return one.name == entry.path().stem().string() && one.text == text;
    })) << entry.path();
    ++files;
  }
  EXPECT_EQ(files, BuiltinMappingTexts().size());
}

TEST(BuiltinMappings, TellTheKindOfAPage) {
  const std::pair<const char*, const char*> pages[] = {{"vllm_v1", "vllm"},
                                                       {"sglang", "sglang"},
                                                       {"llamacpp", "llamacpp"},
                                                       {"envoy_proxy", "envoy"},
                                                       {"envoy_ai_gateway", "envoy_ai_gateway"}};
  for (const auto& [stem, kind] : pages) {
    const StatusOr<std::string> found =
        DetectKind(PageFrom(TestData(std::string(stem) + ".after.prom")));
    ASSERT_TRUE(found.ok()) << stem;
    EXPECT_EQ(*found, kind);
  }
  EXPECT_FALSE(DetectKind(PageFrom("go_threads 5\n")).ok());
}

}  // namespace
}  // namespace plimsoll
