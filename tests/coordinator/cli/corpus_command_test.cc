#include "coordinator/cli/corpus_command.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/cli/corpus_files.h"
#include "tests/coordinator/cli/run_corpus.h"

namespace plimsoll {
namespace {

using testing::HasSubstr;

class CorpusCommand : public testing::Test, protected CorpusFolder {};

constexpr char kTrace[] =
    R"({"id":"trace_x","models":["m"],"block_size":64,"hash_id_scope":"local","tool_tokens":70,
"system_tokens":10,"requests":[{"t":0.0,"type":"n","model":"m","in":200,"out":7,
"hash_ids":[1,2,3],"input_types":["text"],"output_types":[],"stop":"","api_time":2.5},
{"t":9.0,"type":"s","model":"m","in":260,"out":8,"hash_ids":[1,2,3,4],
"input_types":["tool_result"],"output_types":[],"stop":""}],"totals":{
"parent_tokens":{"input":460,"output":15},"subagent_tokens":{"input":0,"output":0},
"combined_tokens":{"input":460,"output":15},"subagent_count":0}})";

TEST_F(CorpusCommand, ImportsAndShows) {
  Write("trace_x.json", kTrace);
  const Ran import = RunCorpus({"import", Path(""), "--out", Path("x.corpus")});
  EXPECT_EQ(import.code, 0) << import.err;
  EXPECT_THAT(import.out, HasSubstr("1 sessions, 2 calls"));
  const Ran tsv = RunCorpus({"show", Path("x.corpus"), "--tsv"});
  EXPECT_EQ(tsv.code, 0) << tsv.err;
  EXPECT_THAT(tsv.out,
              HasSubstr("\t1\t2\t2\t0\t0\t230\t260\t200\t460\t15\t7\t4\t3\t12\t1\tlight\n"));
  EXPECT_THAT(tsv.out, HasSubstr("/trace_x.json\t"));
  const Ran table = RunCorpus({"show", Path("x.corpus")});
  EXPECT_EQ(table.code, 0);
  EXPECT_THAT(table.out, HasSubstr("median prompt"));
  const Ran json = RunCorpus({"show", Path("x.corpus"), "--json"});
  EXPECT_EQ(json.code, 0);
  EXPECT_THAT(json.out, HasSubstr("\"prefix_hit_blocks\": 3"));
}

TEST_F(CorpusCommand, NamesFromFilesBreakNoLineAndNoColumn) {
  Write("a\tb\n\x1b[2J\xC2\x9B\xff.json", kTrace);
  const Ran import = RunCorpus({"import", Path(""), "--out", Path("x.corpus")});
  ASSERT_EQ(import.code, 0) << import.err;
  const std::string shown = R"(a\tb\n\x1b[2J\xc2\x9b\xff.json)";
  EXPECT_THAT(RunCorpus({"show", Path("x.corpus"), "--tsv"}).out, HasSubstr(shown + "\t"));
  EXPECT_THAT(RunCorpus({"show", Path("x.corpus")}).out, HasSubstr(shown));
}

TEST_F(CorpusCommand, DropsCopiesAndSaysSo) {
  Write("a.json", kTrace);
  Write("b.json", kTrace);
  const Ran import = RunCorpus({"import", Path("a.json"), Path("b.json"), "--out", Path("x")});
  EXPECT_EQ(import.code, 0) << import.err;
  EXPECT_THAT(import.out, HasSubstr("1 sessions, 2 calls"));
  EXPECT_THAT(import.out, HasSubstr("b.json: a copy of "));
  EXPECT_THAT(import.out, HasSubstr("(2 of 2 calls equal)"));
  const Ran kept =
      RunCorpus({"import", Path("a.json"), Path("b.json"), "--keep-copies", "--out", Path("x")});
  EXPECT_THAT(kept.out, HasSubstr("2 sessions, 4 calls"));
}

TEST_F(CorpusCommand, BadTraceLeavesTheOldOutputAlone) {
  Write("good.json", kTrace);
  Write("out.corpus", "the old one");
  std::string broken = kTrace;
  broken.replace(broken.find("\"t\":9.0"), 7, "\"t\":-9.");
  Write("bad.json", broken);
  Write("cut.json", std::string(kTrace).substr(0, 300));
  for (const char* bad : {"bad.json", "cut.json"}) {
    const Ran ran =
        RunCorpus({"import", Path("good.json"), Path(bad), "--out", Path("out.corpus")});
    EXPECT_EQ(ran.code, 64);
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, HasSubstr(bad));
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  }
  EXPECT_EQ(ReadText(Path("out.corpus")), "the old one");
  EXPECT_EQ(Files(), 4u) << "no temporary file stays";
}

TEST_F(CorpusCommand, BadInputIsOneLineAndExit64) {
  Write("not.corpus", "hello");
  Write("cut.json.zst", "(\xb5/\xfd");
  Write("not.json.zst", "hello");
  Write("x.json", kTrace);
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{}, "a command is missing after plimsoll corpus"},
      {{"frob"}, "unknown command 'frob' of plimsoll corpus; known are import, show and synth"},
      {{"show"}, "FILE is required"},
      {{"show", Path("none")}, "none: cannot open it: No such file"},
      {{"show", Path("not.corpus")}, "not.corpus: not a corpus file"},
      {{"show", Path("not.corpus"), "--frob"}, "--frob"},
      {{"show", Path("not.corpus"), "--tsv", "--json"}, "excludes"},
      {{"import", Path("x.json")}, "--out is required"},
      {{"import", Path("none"), "--out", Path("o")}, "no such file or folder"},
      {{"import", Path("cut.json.zst"), "--out", Path("o")}, "cut short"},
      {{"import", Path("not.json.zst"), "--out", Path("o")}, "it is no zstd file"},
      {{"import", Path("not.corpus"), "--out", Path("o")}, "not one whole JSON document"},
      {{"import", Path("x.json"), "--out", Path("")}, "is a folder"},
      {{"import", Path("x.json"), "--out", Path("none/o")}, "cannot create it"},
      {{"import", Path("x.json"), "--out", Path("o"), "--light-max", "-3"}, "--light-max"},
      {{"import", Path("x.json"), "--out", Path("o"), "--light-max", "9", "--heavy-min", "8"},
       "overlap"},
      {{"synth", "--out", Path("o"), "--scale", "0"}, "--scale"},
      {{"synth", "--out", Path("o"), "--heavy", "0", "--light", "0"}, "no session asked for"}};
  for (const auto& [words, message] : cases) {
    const Ran ran = RunCorpus(words);
    EXPECT_EQ(ran.code, 64) << message;
    EXPECT_THAT(ran.err, HasSubstr(message));
    EXPECT_THAT(ran.err, testing::StartsWith("plimsoll"));
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
    EXPECT_EQ(ran.out, "");
  }
  EXPECT_FALSE(std::filesystem::exists(Path("o")));
}

TEST_F(CorpusCommand, ImportsMixedFormsAndSaysWhatBecameOfThem) {
  Write("a.json", kTrace);
  Write("chat.jsonl",
        "{\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}\n"
        "{\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}\n{\"messages\":[]}\n");
  const Ran import = RunCorpus({"import", Path(""), "--out", Path("x.corpus")});
  EXPECT_EQ(import.code, 0) << import.err;
  EXPECT_THAT(import.out, HasSubstr("v8: 1 file, 1 session, 2 calls\n"));
  EXPECT_THAT(import.out, HasSubstr("messages: 1 file, 3 lines, 2 sessions, 2 calls\n"));
  EXPECT_THAT(import.out, HasSubstr("  messages: 1 conversations dropped, they ask nothing\n"));
  EXPECT_THAT(import.out, HasSubstr("tokens estimated from text"));
  EXPECT_THAT(import.out, HasSubstr("copies: 1 exact (1 call) and 0 near (0 calls) dropped\n"));
  const Ran table = RunCorpus({"show", Path("x.corpus")});
  EXPECT_THAT(table.out, HasSubstr("chat.jsonl#conversation_1"));
  EXPECT_THAT(table.out, HasSubstr("in flight a session: 1 at most, 1.00 on average while busy"));
  EXPECT_THAT(table.out, HasSubstr("tokens appended"));
}

TEST_F(CorpusCommand, ABrokenLineIsNamedAndNothingIsWritten) {
  Write("chat.jsonl", "{\"messages\":[]}\n{\"messages\":[{\"role\":\"pope\"}]}\n");
  const Ran ran = RunCorpus({"import", Path("chat.jsonl"), "--out", Path("x.corpus")});
  EXPECT_EQ(ran.code, 64);
  EXPECT_THAT(ran.err, HasSubstr("chat.jsonl:2: messages[0].role: unknown role \"pope\""));
  EXPECT_EQ(Files(), 1u);
}

TEST_F(CorpusCommand, FolderWithoutTracesIsAnError) {
  const Ran ran = RunCorpus({"import", Path(""), "--out", Path("o")});
  EXPECT_EQ(ran.code, 64);
  EXPECT_THAT(ran.err, HasSubstr("no *.json, *.jsonl, *.json.zst or *.jsonl.zst file in it"));
}

TEST_F(CorpusCommand, HelpIsFine) {
  const Ran ran = RunCorpus({"import", "--help"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, HasSubstr("--keep-copies"));
}

TEST_F(CorpusCommand, SynthIsTheSameFileEveryTime) {
  for (const char* name : {"a", "b"}) {
    EXPECT_EQ(RunCorpus({"synth", "--out", Path(name), "--seed", "7", "--heavy", "3", "--light",
                         "3", "--scale", "64"})
                  .code,
              0);
  }
  EXPECT_EQ(ReadText(Path("a")), ReadText(Path("b")));
  EXPECT_THAT(RunCorpus({"show", Path("a")}).out, HasSubstr("synth_light_0002"));
}

TEST_F(CorpusCommand, FilesAreBoundedInSize) {
  Write("big", std::string(1001, 'x'));
  EXPECT_TRUE(ReadWholeFile(Path("big"), 1001).ok());
  EXPECT_EQ(ReadWholeFile(Path("big"), 1000).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(CorpusCommand, WritableFilesAreToldFromOthersWithoutATrace) {
  Write("kept", "before");
  EXPECT_TRUE(CheckWritable(Path("kept")).ok());
  EXPECT_EQ(ReadText(Path("kept")), "before");
  EXPECT_TRUE(CheckWritable(Path("new")).ok());
  EXPECT_EQ(Files(), 1u);
  EXPECT_EQ(CheckWritable(Path("no/folder")).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CheckWritable(Path("")).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(CorpusCommand, NameIsTheLastFolderAndTheFile) {
  EXPECT_EQ(ShortPath("/a/b/traces/x.json"), "traces/x.json");
  EXPECT_EQ(ShortPath("/a/b/traces/../other/./x.json"), "other/x.json");
  EXPECT_EQ(ShortPath("/x.json"), "x.json");
}

}  // namespace
}  // namespace plimsoll
