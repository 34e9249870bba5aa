// What a router sees of a session: every request of every stream, primers and retries included,
// captured as it leaves the real call transport.
#include <map>
#include <set>

#include "common/chat/http_call_transport.h"
#include "common/json/json.h"
#include "tests/agent/replay/replay_rig.h"
#include "tests/fakes/scripted_transport.h"

namespace plimsoll {
namespace {

// The headers of one request, by name; a second one of a name fails the test.
std::map<std::string, std::string> HeadersOf(const HttpRequest& request) {
  std::map<std::string, std::string> headers;
  for (const auto& [name, value] : request.headers) {
    EXPECT_TRUE(headers.emplace(name, value).second) << name << " twice";
  }
  return headers;
}

ScriptedAnswer Ok() {
  const std::string body =
      "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"said\"}}]}\n\n"
      "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
      "data: [DONE]\n\n";
  return ScriptedAnswer()
      .Sent(1ms)
      .UploadDone(2ms)
      .Headers(200ms, 200, {{"content-type", "text/event-stream"}})
      .Body(300ms, body)
      .End(400ms);
}

ScriptedAnswer Refused() {
  return ScriptedAnswer().Sent(1ms).UploadDone(2ms).Headers(3ms, 429).End(4ms);
}

class Capture {
 public:
  explicit Capture(const RunPlan& how, bool refuse_some) {
    auto corpus = std::make_shared<Corpus>();
    corpus->models = {"m"};
    corpus->sessions = {Tree()};
    plan_ = how;
    plan_.nonce = 9;
    plan_.tiers = {{.name = "light", .tier = Tier::kLight, .share = 1}};
    plan_.target.url = "http://gateway/v1";
    plan_.target.model = "m";
    const CorpusIndex index(corpus, plan_);
    HttpCallTransport transport(http_, scheduler_, plan_.target, {});
    Sink sink;
    Load load;
    Replayer replayer(scheduler_, transport, sink, load, plan_, index);
    for (int n = 0; n < 2000; ++n) http_.Add(refuse_some && n % 5 == 4 ? Refused() : Ok());
    const std::vector<std::uint32_t> slots = {0};
    const StepPlan step{.sessions = 4,
                        .warm_up = 1s,
                        .measure = 20s,
                        .block = 10s,
                        .drain_limit = 5s,
                        .prime_limit = 5s};
    EXPECT_TRUE(replayer
                    .PrepareStep(step, AssignLanes(plan_.tiers, 4, slots),
                                 [&](const Primer::Result& r) { primers_ = r.wanted; })
                    .ok());
    scheduler_.Advance(6s);
    EXPECT_TRUE(replayer.CommitStep(0, scheduler_.Now() + 1s, [](const StepTally&) {}).ok());
    scheduler_.Advance(40s);
    records_ = sink.records;
  }

  const std::vector<ScriptedTransport::Seen>& seen() const { return http_.seen(); }
  std::size_t primers() const { return primers_; }
  const std::vector<CallRecord>& records() const { return records_; }

 private:
  SimScheduler scheduler_;
  ScriptedTransport http_{scheduler_};
  RunPlan plan_;
  std::size_t primers_ = 0;
  std::vector<CallRecord> records_;
};

TEST(Affinity, EveryRequestNamesItsPlayAndASubagentsNamesItsParentToo) {
  RunPlan plan;
  plan.target.affinity_play_header = "X-Session-ID";
  plan.target.affinity_parent_header = "X-Parent-Session-ID";
  plan.history = History::kLive;
  const Capture capture(plan, /*refuse_some=*/true);
  ASSERT_GT(capture.primers(), 0u);
  ASSERT_GT(capture.seen().size(), capture.primers() + 40);

  std::set<std::string> plays;     // Ids that name a parent's.
  std::set<std::string> children;  // Ids of subagents' streams.
  std::map<std::string, std::string> parent_of;
  for (const ScriptedTransport::Seen& seen : capture.seen()) {
    const auto headers = HeadersOf(seen.request);
    ASSERT_TRUE(headers.contains("X-Session-ID"));
    const std::string& id = headers.at("X-Session-ID");
    EXPECT_EQ(id.size(), 16u) << id;
    EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos) << id;
    const auto parent = headers.find("X-Parent-Session-ID");
    if (parent == headers.end()) {
      plays.insert(id);
    } else {
      children.insert(id);
      const auto [it, added] = parent_of.emplace(id, parent->second);
      EXPECT_EQ(it->second, parent->second) << "a stream keeps its parent";
      EXPECT_NE(id, parent->second);
    }
    // The body is the stream's: parsed, complete, and as long as was said.
    EXPECT_EQ(nlohmann::json::parse(seen.body)["model"], "m");
    EXPECT_EQ(seen.request.body, nullptr);
  }
  // Every subagent's parent is a play that was seen, and no id is both.
  std::map<std::string, int> children_of;
  for (const auto& [child, parent] : parent_of) {
    EXPECT_TRUE(plays.contains(parent)) << parent;
    EXPECT_FALSE(plays.contains(child)) << child;
    ++children_of[parent];
  }
  // As many ids as (lane, play, stream) in the records; a primer names the play that it is for.
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> streams;
  std::size_t retries = 0;
  for (const CallRecord& r : capture.records()) {
    streams.insert({r.lane, r.play, r.stream});
    retries += r.attempt > 1 ? 1 : 0;
  }
  EXPECT_GT(retries, 0u);
  EXPECT_GE(plays.size() + children.size(), streams.size());
  bool whole = false;
  for (const auto& [parent, n] : children_of) {
    EXPECT_LE(n, 3) << "the tree has three subagents";
    whole |= n == 3;
  }
  EXPECT_TRUE(whole);
}

TEST(Affinity, TwoPlaysOfOneSessionShareNoIdAndNothingIsSentUnasked) {
  RunPlan plan;
  plan.target.affinity_play_header = "X-Session-ID";
  const Capture capture(plan, /*refuse_some=*/false);
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> streams;
  for (const CallRecord& r : capture.records()) streams.insert({r.lane, r.play, r.stream});
  std::set<std::string> ids;
  for (std::size_t i = capture.primers(); i < capture.seen().size(); ++i) {
    const auto headers = HeadersOf(capture.seen()[i].request);
    ids.insert(headers.at("X-Session-ID"));
    EXPECT_FALSE(headers.contains("X-Parent-Session-ID"));
  }
  EXPECT_EQ(ids.size(), streams.size()) << "one id a stream of a play, however many calls";
  const Capture without(RunPlan{}, /*refuse_some=*/false);
  for (const auto& seen : without.seen()) {
    for (const auto& [name, value] : seen.request.headers) {
      EXPECT_FALSE(name.starts_with("X-")) << name;
    }
  }
}

}  // namespace
}  // namespace plimsoll
