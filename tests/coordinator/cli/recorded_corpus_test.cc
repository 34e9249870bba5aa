// The recorded traces, end to end: imported, every figure compared with the manifest that came with
// them, and the rules of prompts checked on every call. Skips where the traces are absent.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "common/corpus/copies.h"
#include "common/corpus/stats.h"
#include "common/plan/context_limit.h"
#include "common/wire/corpus_codec.h"
#include "tests/common/corpus/prompt_checks.h"
#include "tests/coordinator/cli/run_corpus.h"

namespace plimsoll {
namespace {

using Row = std::map<std::string, std::string>;

const std::filesystem::path kTraces = std::filesystem::path(PLIMSOLL_SHARED_DIR) / "traces";

std::vector<std::string> Split(const std::string& line) {
  std::vector<std::string> cells(1);
  for (const char c : line) {
    if (c == '\t') {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

// By the column "file".
std::map<std::string, Row> ReadTsv(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  const std::vector<std::string> names = Split(line);
  std::map<std::string, Row> rows;
  while (std::getline(lines, line)) {
    const std::vector<std::string> cells = Split(line);
    Row row;
    for (std::size_t i = 0; i < names.size() && i < cells.size(); ++i) row[names[i]] = cells[i];
    rows[row["file"]] = row;
  }
  return rows;
}

// Imported once for all tests.
class RecordedCorpus : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!std::filesystem::exists(kTraces / "manifest.tsv")) return;
    const CorpusFolder folder;
    const std::string file = folder.Path("recorded.corpus");
    const Ran import = RunCorpus({"import", (kTraces / "traces").string(), "--keep-copies",
                                  "--light-max", "69268", "--heavy-min", "141002", "--out", file});
    ASSERT_EQ(import.code, 0) << import.err;
    bytes_ = ReadText(file);
    tsv_ = RunCorpus({"show", file, "--tsv"}).out;
  }

  void SetUp() override {
    if (bytes_.empty()) GTEST_SKIP() << "no recorded traces at " << kTraces;
  }

  static std::string bytes_;
  static std::string tsv_;
};

std::string RecordedCorpus::bytes_;
std::string RecordedCorpus::tsv_;

TEST_F(RecordedCorpus, MatchesTheManifest) {
  const std::map<std::string, Row> expected = ReadTsv(ReadText(kTraces / "manifest.tsv"));
  std::map<std::string, Row> shown = ReadTsv(tsv_);
  ASSERT_EQ(expected.size(), 100u);
  EXPECT_EQ(shown.size(), expected.size());
  for (const auto& [file, row] : expected) {
    for (const auto& [column, value] : row) {
      if (column == "notes" || column == "sha256_zst" || column == "zst_bytes") continue;
      EXPECT_EQ(shown[file][column], value) << file << " " << column;
    }
  }
}

TEST_F(RecordedCorpus, CostsUnderTwentyBytesACallAndKeepsEveryRuleOfPrompts) {
  const StatusOr<Corpus> corpus = DecodeCorpus(bytes_);
  ASSERT_TRUE(corpus.ok()) << corpus.status();
  std::size_t calls = 0;
  for (const Session& session : corpus->sessions) {
    calls += session.calls.size();
    EXPECT_EQ(BrokenPromptRules(session), "");
    // A prefix cache fed with the prompts finds what one fed with the recording's ids found.
    EXPECT_EQ(CacheHits(session), ComputeStats(session).prefix_hit_blocks) << session.id;
  }
  EXPECT_EQ(calls, 4991u);
  EXPECT_LT(bytes_.size(), 20 * calls);
}

TEST_F(RecordedCorpus, HasOneKnownCopy) {
  const StatusOr<Corpus> corpus = DecodeCorpus(bytes_);
  ASSERT_TRUE(corpus.ok()) << corpus.status();
  const std::vector<Copy> copies = FindCopies(*corpus);
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(corpus->sessions[copies[0].session].id, "trace_0427");
  EXPECT_EQ(corpus->sessions[copies[0].original].id, "trace_0403");
  EXPECT_TRUE(copies[0].exact);
}

std::uint64_t Number(const std::string& text) {
  return text.empty() ? 0 : std::stoull(text);
}

std::string ImportOf(const CorpusFolder& folder, const std::string& path) {
  const Ran ran = RunCorpus({"import", path, "--keep-copies", "--out", folder.Path("x")});
  EXPECT_EQ(ran.code, 0) << ran.err;
  return ran.out;
}

// The other forms: what is shown and what the import says it dropped make up their manifest.
TEST_F(RecordedCorpus, MatchesTheManifestOfTheOtherForms) {
  const CorpusFolder folder;
  const std::map<std::string, Row> expected = ReadTsv(ReadText(kTraces / "manifest-other.tsv"));
  ASSERT_EQ(expected.size(), 5u);
  for (const auto& [file, row] : expected) {
    const std::string report = ImportOf(folder, (kTraces / file).string());
    const std::map<std::string, Row> shown =
        ReadTsv(RunCorpus({"show", folder.Path("x"), "--tsv"}).out);
    std::uint64_t requests = 0;
    std::uint64_t groups = 0;
    for (const auto& [name, session] : shown) {
      requests += Number(session.at("requests"));
      groups += Number(session.at("subagent_groups"));
      EXPECT_EQ(session.at("sha256_json"), row.at("sha256_uncompressed"));
      if (shown.size() == 1) {
        EXPECT_EQ(session.at("json_bytes"), row.at("bytes"));
      }
    }
    std::uint64_t dropped = 0;  // First tries of v6, empty prompts of the flat form.
    std::istringstream lines(report);
    for (std::string line; std::getline(lines, line);) {
      if (line.find(" dropped") == std::string::npos || line.rfind("  ", 0) != 0) continue;
      dropped += Number(line.substr(line.find(": ") + 2));
    }
    EXPECT_EQ(requests + dropped, Number(row.at("requests"))) << report;
    if (file.find("v6") != std::string::npos) {
      EXPECT_EQ(groups, Number(row.at("subagent_groups"))) << file;
      EXPECT_GT(dropped, 0u);
    }
    if (row.at("sessions") == "1") {
      EXPECT_EQ(shown.size(), 1u) << file;
    }
  }
}

// What each context policy leaves out at 128,000 tokens, prompt and output together. The figures
// were counted by another program over the recorded JSON files, without our importer.
TEST_F(RecordedCorpus, ContextPoliciesLeaveOutWhatTheRecordingsSay) {
  const StatusOr<Corpus> corpus = DecodeCorpus(bytes_);
  ASSERT_TRUE(corpus.ok()) << corpus.status();
  RunPlan plan;
  plan.tiers = {{.name = "light", .tier = Tier::kLight, .share = 1},
                {.name = "mid", .tier = Tier::kMid, .share = 1},
                {.name = "heavy", .tier = Tier::kHeavy, .share = 1}};
  plan.context_limit.tokens = 128'000;
  plan.target.max_tokens = 1u << 20;
  struct PolicyRow {
    OverLimit policy;
    std::array<std::uint64_t, 3> sessions, calls, tokens;  // Left out, by tier.
  };
  const std::vector<PolicyRow> rows = {
      {OverLimit::kSend, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}},
      {OverLimit::kSkipCalls, {0, 0, 37}, {36, 496, 915}, {8'549'750, 69'135'635, 284'586'962}},
      {OverLimit::kDropSessions,
       {7, 16, 40},
       {462, 2'382, 995},
       {31'423'216, 221'524'777, 291'582'209}},
      {OverLimit::kDropLongStarts, {0, 0, 37}, {0, 0, 774}, {0, 0, 255'132'050}}};
  for (const PolicyRow& row : rows) {
    plan.context_limit.policy = row.policy;
    const std::vector<ContextCounts> counts = CountLeftOut(plan, *corpus);
    for (std::size_t t = 0; t < 3; ++t) {
      SCOPED_TRACE(std::string(Name(row.policy)) + ", " + plan.tiers[t].name);
      EXPECT_EQ(counts[t].sessions_dropped, row.sessions[t]);
      EXPECT_EQ(counts[t].calls_left_out, row.calls[t]);
      EXPECT_EQ(counts[t].tokens_left_out, row.tokens[t]);
    }
  }
  // Where a session ends depends on the order of its subagents' calls, whose recorded times the
  // importer mends: those sessions are counted by their starts, the others as recorded.
  plan.context_limit.policy = OverLimit::kEndSession;
  EXPECT_EQ(CountLeftOut(plan, *corpus)[2].calls_left_out, 916u) << "heavy: no subagents";
  EXPECT_EQ(CountLeftOut(plan, *corpus)[2].tokens_left_out, 284'714'143u);
  for (const Session& session : corpus->sessions) {
    std::uint32_t first_over = UINT32_MAX;
    for (const Call& call : session.calls) {
      if (call.tokens_in + std::max(1u, call.tokens_out) > 128'000) {
        first_over = std::min(first_over, call.start_ms);
      }
    }
    const std::vector<char> out = LeftOut(plan, session);
    for (std::size_t c = 0; c < session.calls.size(); ++c) {
      const bool left = !out.empty() && out[c] != 0;
      const std::uint32_t start = session.calls[c].start_ms;
      if (start < first_over) {
        EXPECT_FALSE(left) << session.id << " " << c;
      } else if (start > first_over) {
        EXPECT_TRUE(left) << session.id << " " << c;
      }
    }
  }
}

// Two of the v6 files are the same conversations as two of the v8 ones, which lost the first tries:
// what v8's importer derives can be compared with what v6 still has.
TEST_F(RecordedCorpus, V6AndV8OfOneConversationAgree) {
  const CorpusFolder folder;
  for (const auto& [v6, v8] : {std::pair{"variants/v6/trace_0280.json.zst", "trace_0277"},
                               std::pair{"variants/v6/trace_0296.json.zst", "trace_0291"}}) {
    ImportOf(folder, (kTraces / v6).string());
    const StatusOr<Corpus> a = DecodeCorpus(ReadText(folder.Path("x")));
    ImportOf(folder, (kTraces / "traces" / (std::string(v8) + ".json.zst")).string());
    const StatusOr<Corpus> b = DecodeCorpus(ReadText(folder.Path("x")));
    ASSERT_TRUE(a.ok() && b.ok());
    const Session& x = a->sessions[0];
    const Session& y = b->sessions[0];
    ASSERT_EQ(x.calls.size(), y.calls.size()) << v8;
    EXPECT_EQ(x.streams.size(), y.streams.size());
    EXPECT_EQ(ComputeStats(x).prefix_hit_blocks, ComputeStats(y).prefix_hit_blocks);
    EXPECT_EQ(ComputeStats(x).input_tokens, ComputeStats(y).input_tokens);
    EXPECT_EQ(ComputeStats(x).output_tokens, ComputeStats(y).output_tokens);
    Corpus both;
    both.sessions = {x, y};
    EXPECT_EQ(FindCopies(both).size(), 1u);
    std::vector<double> errors;
    for (std::size_t i = 0; i < x.calls.size(); ++i) {
      errors.push_back(std::abs(static_cast<double>(x.calls[i].delay_ms) -
                                static_cast<double>(y.calls[i].delay_ms)));
    }
    EXPECT_LT(Quantile(errors, 0.5), 1500) << v8 << ": whole seconds in both";
  }
}

}  // namespace
}  // namespace plimsoll
