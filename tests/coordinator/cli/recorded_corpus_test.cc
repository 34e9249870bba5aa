// The recorded traces, end to end: imported, every figure compared with the manifest that came with
// them, and the rules of prompts checked on every call. Skips where the traces are absent.
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/corpus/copies.h"
#include "common/corpus/stats.h"
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

}  // namespace
}  // namespace plimsoll
