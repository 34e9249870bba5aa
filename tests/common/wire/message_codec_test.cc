#include "common/wire/message_codec.h"

#include "gtest/gtest.h"
#include "tests/common/wire/random_values.h"

namespace plimsoll::test {
namespace {

std::vector<AgentMessage> AnyAgentMessages(Rng* rng) {
  Hello hello{.protocol_version = Any32(rng),
              .build = AnyName(rng),
              .name = AnyName(rng),
              .incarnation = 1 + AnyUpTo(rng, ~std::uint64_t{1}),
              .cores = Any32(rng),
              .memory_bytes = rng->Next(),
              .descriptors_max = rng->Next(),
              .ports = Any32(rng)};
  hello.corpora.resize(rng->Below(4));
  for (std::string& digest : hello.corpora) digest = AnyDigest(rng);
  const std::uint32_t primers = Any32(rng);
  return {
      hello,
      Pong{.sequence = rng->Next(),
           .agent_ns = AnyOffsetNs(rng),
           .calls_in_flight = Any32(rng),
           .lanes = Any32(rng, limits::kLanesMax)},
      RunReady{},
      StepReady{.step = Any32(rng, limits::kStepsMax - 1),
                .primers_wanted = primers,
                .primers_failed = Any32(rng, primers),
                .lanes_ended = Any32(rng, limits::kLanesMax),
                .calls_cut = Any32(rng)},
      StepClosed{.tally = AnyTally(rng), .last_sequence = rng->Next()},
      EvalsAsked{
          .asked = Any32(rng, 10'000), .left = Any32(rng, 10'000), .last_sequence = rng->Next()},
      Stopped{.last_sequence = rng->Next()},
      AgentFault{.message = AnyName(rng, wire::kTextBytesMax)}};
}

std::vector<CoordinatorMessage> AnyCoordinatorMessages(Rng* rng) {
  PrepareStep prepare{.step = AnyStepPlan(rng), .lanes = {}, .fresh = rng->Chance(0.5)};
  for (std::uint32_t lane = 0; lane < prepare.step.sessions; lane += 97) {
    prepare.lanes.push_back({.lane = lane,
                             .tier = static_cast<std::uint8_t>(rng->Below(limits::kTiersMax)),
                             .rank = Any32(rng, lane),
                             .agent_slot = Any32(rng, limits::kAgentsMax - 1)});
  }
  CorpusChunk chunk{.digest = AnyDigest(rng), .bytes = AnyName(rng) + std::string("\0\xff", 2)};
  chunk.offset = Any32(rng, limits::kCorpusBytesMax - chunk.bytes.size());
  chunk.total_bytes = chunk.offset + chunk.bytes.size();
  const std::uint32_t parts = 1 + Any32(rng, limits::kAgentsMax - 1);
  return {AskEvals{.part = Any32(rng, parts - 1),
                   .parts = parts,
                   .at_once = static_cast<std::uint32_t>(1 + rng->Below(64)),
                   .limit = Duration(1 + AnySpanNs(rng) / 2)},
          Welcome{.agent_slot = Any32(rng, limits::kAgentsMax - 1)},
          Refuse{.reason = AnyName(rng, wire::kTextBytesMax)},
          Ping{.sequence = rng->Next()},
          PrepareRun{.plan = AnyRunPlan(rng)},
          chunk,
          prepare,
          CommitStep{.step = Any32(rng, limits::kStepsMax - 1), .start_agent_ns = AnyOffsetNs(rng)},
          Stop{.kind = rng->Chance(0.5) ? StopKind::kAbort : StopKind::kDrain,
               .drain_limit = Duration(AnySpanNs(rng))},
          EndMeasure{.step = Any32(rng, limits::kStepsMax - 1),
                     .measure = Duration(1 + AnySpanNs(rng) / 2)}};
}

TEST(MessageCodec, KeepsAnyMessageOfEachKind) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const auto up = AnyAgentMessages(&rng);
    ASSERT_EQ(up.size(), std::variant_size_v<AgentMessage>);
    for (const AgentMessage& message : up) {
      SCOPED_TRACE(message.index());
      const StatusOr<AgentMessage> read = DecodeAgentMessage(EncodeMessage(message));
      ASSERT_TRUE(read.ok()) << read.status();
      EXPECT_EQ(*read, message);
    }
    const auto down = AnyCoordinatorMessages(&rng);
    ASSERT_EQ(down.size(), std::variant_size_v<CoordinatorMessage>);
    for (const CoordinatorMessage& message : down) {
      SCOPED_TRACE(message.index());
      const StatusOr<CoordinatorMessage> read = DecodeCoordinatorMessage(EncodeMessage(message));
      ASSERT_TRUE(read.ok()) << read.status();
      EXPECT_EQ(*read, message);
    }
  }
}

TEST(MessageCodec, CutsAndMendsTextsSoThatAnyCanTravel) {
  const auto through = [](const std::string& text) {
    const auto read = DecodeAgentMessage(EncodeMessage(AgentMessage(AgentFault{.message = text})));
    return read.ok() ? std::get<AgentFault>(*read).message : std::string(read.status().message());
  };
  EXPECT_EQ(through("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"),
            "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
  EXPECT_EQ(through("a\xff\xc3"), "a??");               // No character, and half of one.
  EXPECT_EQ(through("\xc0\xaf\xed\xa0\x80"), "?????");  // Overlong; a surrogate.
  EXPECT_EQ(through("\xf4\x90\x80\x80"), "????");       // Beyond Unicode.
  EXPECT_EQ(through(std::string(5000, 'x')), std::string(4096, 'x'));
  EXPECT_EQ(through(std::string(4095, 'x') + "\xc3\xa9"), std::string(4095, 'x'));
}

TEST(MessageCodec, AHelloOfAnotherVersionIsReadForTheFleetToRefuse) {
  const Hello hello{.protocol_version = 77, .build = "9.9", .name = "x", .incarnation = 1};
  const auto read = DecodeAgentMessage(EncodeMessage(AgentMessage(hello)));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(std::get<Hello>(*read), hello);
}

}  // namespace
}  // namespace plimsoll::test
