// What preflight asks next, and what answers mean, in words.
#include "coordinator/run/preflight_rules.h"

#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using testing::HasSubstr;

constexpr std::uint32_t kTried = PreflightRules::kOutputTried;

// A deployment as preflight sees it.
struct Server {
  std::vector<std::string> models = {"glm"};
  double request = 11;
  double message = 4;
  double word = 1;
  std::uint32_t natural = 9;  // Length of answers that nothing forces.
  bool honours = true;
  std::uint16_t rejects_both = 0;  // Status for both switches together.
  std::uint16_t rejects_min = 0;
  std::uint16_t rejects_eos = 0;
  std::function<void(const Probe&, CallResult*)> change = [](const Probe&, CallResult*) {};

  CallResult Answer(const Probe& p, const PreflightSetup& setup) const {
    CallResult r;
    r.outcome = Outcome::kOk;
    r.http_status = 200;
    r.streamed = true;
    const std::uint16_t rejected = p.min_tokens && p.ignore_eos ? rejects_both
                                   : p.min_tokens               ? rejects_min
                                   : p.ignore_eos               ? rejects_eos
                                                                : 0;
    const bool first = p.kind == ProbeKind::kFirstPrompt;
    const double words = first ? setup.first_tokens : p.words;
    const double messages = first ? setup.first_messages : p.messages;
    r.tokens_in =
        static_cast<std::uint32_t>(std::lround(request + message * messages + word * words));
    r.tokens_cached = 0;
    const bool forced = honours && (p.min_tokens || p.ignore_eos);
    r.tokens_out = r.chunks = forced ? p.max_tokens : std::min(p.max_tokens, natural);
    r.first_token = MonoTime(1s);
    r.last_token = MonoTime(2s);
    if (rejected != 0) {
      r = CallResult{};
      r.outcome = Outcome::kHttpError;
      r.http_status = rejected;
      r.message = "unknown field";
    }
    change(p, &r);
    return r;
  }
};

class Rules : public testing::Test {
 protected:
  PreflightReport Run(const Server& server) {
    asked.clear();
    PreflightRules rules(setup);
    while (const auto probe = rules.Next()) {
      asked.push_back(probe->kind);
      EXPECT_LT(asked.size(), 20u) << "preflight does not end";
      if (asked.size() > 20) break;
      if (probe->kind == ProbeKind::kModels) {
        rules.OnModels(server.models.empty()
                           ? ModelsAnswer{.message = "HTTP 404"}
                           : ModelsAnswer{ModelsAnswer::Kind::kListed, server.models, ""});
      } else {
        rules.OnCall(server.Answer(*probe, setup));
      }
    }
    return rules.Report();
  }
  static std::string Words(const PreflightReport& report) {
    std::string words;
    for (const Finding& f : report.summary.findings) {
      words += std::string(Name(f.level)) + ": " + f.text + "\n";
    }
    return words;
  }

  PreflightSetup setup{.model = "glm", .first_tokens = 5120, .first_messages = 41};
  std::vector<ProbeKind> asked;
};

TEST_F(Rules, AHealthyDeploymentIsFoundOutInAFewCalls) {
  const PreflightReport report = Run({});
  EXPECT_TRUE(report.status.ok());
  EXPECT_EQ(asked,
            (std::vector<ProbeKind>{ProbeKind::kModels, ProbeKind::kFirstPrompt, ProbeKind::kCap,
                                    ProbeKind::kSwitches, ProbeKind::kLong, ProbeKind::kMany}));
  EXPECT_TRUE(report.summary.min_tokens && report.summary.ignore_eos);
  ASSERT_TRUE(report.summary.fit.has_value());
  EXPECT_NEAR(report.summary.fit->per_request, 11, 0.5);
  EXPECT_NEAR(report.summary.fit->per_message, 4, 0.1);
  const std::string words = Words(report);
  EXPECT_EQ(words.find("warning"), std::string::npos) << words;
  EXPECT_THAT(words, HasSubstr("ok: model: 'glm' is served"));
  EXPECT_THAT(words, HasSubstr("honoured (32 tokens of 32, 9 without them)"));
  EXPECT_THAT(words, HasSubstr("a word is 1.00 tokens, a request costs 11 + 4 a message"));
}

TEST_F(Rules, WhereTheLengthIsTheModelsOwnTheSwitchesAreNotTried) {
  setup.output_mode = OutputMode::kFree;
  const PreflightReport report = Run({});
  EXPECT_EQ(std::count(asked.begin(), asked.end(), ProbeKind::kSwitches), 0);
  EXPECT_FALSE(report.summary.min_tokens || report.summary.ignore_eos);
}

TEST_F(Rules, SwitchesThatAreRejectedTogetherAreTriedAlone) {
  PreflightReport report = Run({.rejects_both = 400, .rejects_min = 400});
  EXPECT_TRUE(report.status.ok());
  EXPECT_FALSE(report.summary.min_tokens);
  EXPECT_TRUE(report.summary.ignore_eos);
  EXPECT_THAT(Words(report), HasSubstr("ok: output length: ignore_eos alone is honoured"));

  report = Run({.rejects_both = 422, .rejects_min = 422, .rejects_eos = 422});
  EXPECT_TRUE(report.status.ok()) << "a strict server is no reason not to run";
  EXPECT_FALSE(report.summary.min_tokens || report.summary.ignore_eos);
  EXPECT_THAT(Words(report), HasSubstr("warning: output length: min_tokens and ignore_eos are "
                                       "rejected (HTTP 422)"));
}

TEST_F(Rules, SwitchesThatChangeNothingAreNotCountedOn) {
  PreflightReport report = Run({.honours = false});
  EXPECT_FALSE(report.summary.min_tokens || report.summary.ignore_eos);
  EXPECT_THAT(Words(report), HasSubstr("accepted and not honoured (9 tokens of 32)"));

  report = Run({.natural = 500, .honours = false});
  EXPECT_TRUE(report.summary.min_tokens) << "accepted does no harm";
  EXPECT_THAT(Words(report), HasSubstr("come without them too"));
}

TEST_F(Rules, EachOutcomeOfTheFirstCallBlocksInWordsThatSayWhatToDo) {
  struct {
    Outcome outcome;
    std::uint16_t status;
    const char* what;
    const char* to_do;
  } const cases[] = {
      {Outcome::kRefused, 429, "refuses calls (HTTP 429)", "wait until it has room"},
      {Outcome::kContextOverflow, 400, "context limit is below the corpus's first prompts (5120",
       "raise the limit"},
      {Outcome::kHttpError, 404, "does not answer as a chat completion API (HTTP 404)",
       "target.url"},
      {Outcome::kHttpError, 400, "(HTTP 400)", "target.extra_body and target.tools"},
      {Outcome::kHttpError, 401, "lets nobody in (HTTP 401)", "target.auth.bearer_env"},
      {Outcome::kStreamError, 200, "stream_error", "gateway's log"},
      {Outcome::kTruncated, 200, "truncated", "gateway's log"},
      {Outcome::kEmpty, 200, "empty", "gateway's log"},
      {Outcome::kDeadline, 200, "in time", "engine is up"},
      {Outcome::kIdleTimeout, 200, "in time", "engine is up"},
      {Outcome::kConnectError, 0, "cannot be reached", "target.url"},
      {Outcome::kCut, 0, "cut", "gateway's log"},
      {Outcome::kClientError, 0, "this machine", "descriptors"},
  };
  std::set<Outcome> seen = {Outcome::kOk};
  for (const auto& c : cases) {
    seen.insert(c.outcome);
    Server server;
    server.change = [&](const Probe&, CallResult* r) {
      *r = CallResult{};
      r->outcome = c.outcome;
      r->http_status = c.status;
      r->message = "the detail";
    };
    const PreflightReport report = Run(server);
    EXPECT_EQ(report.status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_LE(asked.size(), 3u) << "at most once again";
    EXPECT_EQ(report.summary.findings.back().level, FindingLevel::kBlocking);
    for (const char* words : {c.what, c.to_do, ": the detail; "}) {
      EXPECT_THAT(std::string(MessageOf(report.status)), HasSubstr(words));
    }
  }
  EXPECT_EQ(seen.size(), kOutcomes - 1) << "every outcome has its words";
}

TEST_F(Rules, AModelThatIsNotServedIsNamedWithWhatIs) {
  Server server{.models = {"glm-4", "qwen"}};
  EXPECT_THAT(Words(Run(server)), HasSubstr("'glm' answers, but the gateway lists only glm-4, "
                                            "qwen"));
  server.change = [](const Probe&, CallResult* r) {
    *r = CallResult{};
    r->outcome = Outcome::kHttpError;
    r->http_status = 404;
  };
  EXPECT_THAT(std::string(MessageOf(Run(server).status)),
              HasSubstr("the model 'glm' is not served here (HTTP 404); served: glm-4, qwen; set "
                        "target.model"));
  server.models.clear();
  EXPECT_THAT(Words(Run(server)), HasSubstr("warning: models: the gateway lists none (HTTP 404)"));
}

TEST_F(Rules, AGatewayThatCannotBeReachedIsAskedNothingElse) {
  PreflightRules rules(setup);
  rules.OnModels({.kind = ModelsAnswer::Kind::kUnreachable, .message = "connection refused"});
  EXPECT_FALSE(rules.Next().has_value());
  EXPECT_THAT(std::string(MessageOf(rules.Report().status)),
              HasSubstr("cannot be reached: connection refused; check target.url"));
}

TEST_F(Rules, WhereTlsFailsTheKeyThatSetsItRightIsNamed) {
  const std::pair<TlsTrouble, const char*> cases[] = {
      {TlsTrouble::kNotTrusted, "target.ca_file"},
      {TlsTrouble::kOtherHost, "target.url"},
      {TlsTrouble::kNotTls, "http:// in target.url"},
      {TlsTrouble::kWantsClient, "there is no key for one yet"},
      {TlsTrouble::kHandshake, "write http://"},
      {TlsTrouble::kOurFiles, "is a PEM file"},
  };
  for (const auto& [tls, key] : cases) {
    PreflightRules rules(setup);
    rules.OnModels({.kind = ModelsAnswer::Kind::kUnreachable, .message = "the detail", .tls = tls});
    EXPECT_FALSE(rules.Next().has_value());
    const std::string words(MessageOf(rules.Report().status));
    EXPECT_THAT(words, HasSubstr(": the detail; "));
    EXPECT_THAT(words, HasSubstr(key));
    EXPECT_EQ(words.find("that it is up"), std::string::npos) << "it is";
  }
}

TEST_F(Rules, UsageStreamingAndTheCapAreNeeded) {
  const auto blocked_by = [&](ProbeKind kind, std::function<void(CallResult*)> change) {
    Server server;
    server.change = [&](const Probe& p, CallResult* r) {
      if (p.kind == kind) change(r);
    };
    return std::string(MessageOf(Run(server).status));
  };
  EXPECT_THAT(blocked_by(ProbeKind::kFirstPrompt, [](auto* r) { r->tokens_out = kAbsentTokens; }),
              HasSubstr("no usage; interactivity needs it: enable stream_options.include_usage"));
  EXPECT_THAT(blocked_by(ProbeKind::kCap, [](auto* r) { r->streamed = false; }),
              HasSubstr("answers in one piece"));
  EXPECT_THAT(blocked_by(ProbeKind::kCap, [](auto* r) { r->tokens_out = 200; }),
              HasSubstr("does not honour max_tokens: at most 32 tokens were asked for, 200 came"));
  EXPECT_EQ(blocked_by(ProbeKind::kCap, [](auto* r) { r->tokens_out = kTried; }), "");
  EXPECT_EQ(blocked_by(ProbeKind::kFirstPrompt, [](auto* r) { r->tokens_out = 0; }), "")
      << "zero is not absent";
}

TEST_F(Rules, WhatOnlyCloudsTheNumbersIsAWarning) {
  const auto words = [&](ProbeKind kind, std::function<void(CallResult*)> change) {
    Server server;
    server.change = [&](const Probe& p, CallResult* r) {
      if (p.kind == kind) change(r);
    };
    const PreflightReport report = Run(server);
    EXPECT_TRUE(report.status.ok());
    return Words(report);
  };
  EXPECT_THAT(words(ProbeKind::kCap, [](auto* r) { r->last_token = r->first_token; }),
              HasSubstr("warning: streaming: all 9 tokens came at once"));
  EXPECT_THAT(words(ProbeKind::kCap, [](auto* r) { r->chunks = 0; }),
              HasSubstr("warning: streaming: none of 9 tokens was streamed"));
  EXPECT_THAT(words(ProbeKind::kFirstPrompt, [](auto* r) { r->tokens_cached = kAbsentTokens; }),
              HasSubstr("cached tokens are not reported"));
  EXPECT_THAT(words(ProbeKind::kMany,
                    [](auto* r) {
                      r->outcome = Outcome::kRefused;
                      r->tokens_in = kAbsentTokens;
                    }),
              HasSubstr("warning: calibration: a call of 256 words failed (refused)"));
}

TEST_F(Rules, WhatBrokeOffIsAskedOnceMore) {
  int broken = 0;
  Server server;
  server.change = [&](const Probe& p, CallResult* r) {
    if (p.kind == ProbeKind::kCap && broken++ == 0) r->outcome = Outcome::kTruncated;
  };
  EXPECT_TRUE(Run(server).status.ok());
  EXPECT_EQ(std::count(asked.begin(), asked.end(), ProbeKind::kCap), 2);
}

TEST_F(Rules, ATokenizerOfItsOwnIsSaidAndUsageThatMakesNoSenseIsNotUsed) {
  const PreflightReport longer = Run({.word = 1.31});
  EXPECT_THAT(Words(longer), HasSubstr("warning: calibration: a word is 1.31 tokens"));
  EXPECT_THAT(Words(longer), HasSubstr("+31%"));
  ASSERT_TRUE(longer.summary.fit.has_value());
  EXPECT_NEAR(longer.summary.fit->per_word, 1.31, 0.01);

  const PreflightReport constant = Run({.request = 10, .message = 0, .word = 0});
  EXPECT_FALSE(constant.summary.fit.has_value());
  EXPECT_THAT(Words(constant), HasSubstr("does not follow the prompt's length"));

  Server silent;
  silent.change = [](const Probe&, CallResult* r) { r->tokens_in = kAbsentTokens; };
  const PreflightReport absent = Run(silent);
  EXPECT_TRUE(absent.status.ok());
  EXPECT_FALSE(absent.summary.fit.has_value());
  EXPECT_THAT(Words(absent), HasSubstr("prompt_tokens are not reported"));
}

}  // namespace
}  // namespace plimsoll
