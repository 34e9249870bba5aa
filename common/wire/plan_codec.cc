#include "common/wire/plan_codec.h"

#include <algorithm>
#include <utility>

#include "common/base/json_text.h"
#include "common/wire/checks.h"
#include "common/wire/eval_codec.h"
#include "plimsoll/v1/plan.pb.h"

namespace plimsoll {
namespace {

using wire::Checks;

void ToProto(const TierPlan& tier, v1::TierPlan* out) {
  out->set_name(tier.name);
  // The numbers are the same, and both sides say "never renumber".
  out->set_sessions(static_cast<v1::TierPlan::Sessions>(tier.tier));
  out->set_share(tier.share);
}

StatusOr<TierPlan> FromProto(const v1::TierPlan& in) {
  Checks checks("TierPlan");
  TierPlan tier;
  tier.name = checks.Name(in.name(), "name");
  const int sessions = in.sessions();
  checks.Require(
      sessions >= v1::TierPlan::SESSIONS_LIGHT && sessions <= v1::TierPlan::SESSIONS_HEAVY,
      "sessions", "a known class");
  tier.tier = checks.ok() ? static_cast<Tier>(sessions) : Tier::kUnspecified;
  tier.share = in.share();
  if (!checks.ok()) return checks.status();
  return tier;
}

void ToProto(const FailurePolicy& policy, v1::FailurePolicy* out) {
  out->set_attempts_max(policy.attempts_max);
  out->set_back_off_min_ns(policy.back_off_min.count());
  out->set_back_off_max_ns(policy.back_off_max.count());
  out->set_honour_retry_after(policy.honour_retry_after);
  out->set_retry_after_max_ns(policy.retry_after_max.count());
  out->set_retry_outcomes(policy.retry.bits());
  out->set_end_play_outcomes(policy.end_play.bits());
  out->set_silence(policy.silence == Silence::kStream ? v1::SILENCE_STREAM : v1::SILENCE_LANE);
}

StatusOr<FailurePolicy> FromProto(const v1::FailurePolicy& in) {
  Checks checks("FailurePolicy");
  FailurePolicy policy;
  // A record holds the attempt's number in one byte.
  policy.attempts_max = checks.Between(in.attempts_max(), 1, 255, "attempts_max");
  policy.back_off_min = checks.PositiveSpan(in.back_off_min_ns(), "back_off_min_ns");
  policy.back_off_max = checks.PositiveSpan(in.back_off_max_ns(), "back_off_max_ns");
  checks.Require(policy.back_off_min <= policy.back_off_max, "back_off_min_ns",
                 "at most back_off_max_ns");
  policy.honour_retry_after = in.honour_retry_after();
  policy.retry_after_max = checks.Span(in.retry_after_max_ns(), "retry_after_max_ns");
  policy.retry = OutcomeSet::FromBits(in.retry_outcomes());
  policy.end_play = OutcomeSet::FromBits(in.end_play_outcomes());
  checks.Require(policy.retry.IsWithin(kAnsweredFailures), "retry_outcomes", "failures, not cut");
  checks.Require(policy.end_play.IsWithin(kAnsweredFailures), "end_play_outcomes",
                 "failures, not cut");
  checks.Require(in.silence() == v1::SILENCE_LANE || in.silence() == v1::SILENCE_STREAM, "silence",
                 "a known kind");
  policy.silence = in.silence() == v1::SILENCE_STREAM ? Silence::kStream : Silence::kLane;
  if (!checks.ok()) return checks.status();
  return policy;
}

void ToProto(const TargetPlan& target, v1::TargetPlan* out) {
  out->set_url(target.url);
  out->set_model(target.model);
  out->set_bearer_env(target.bearer_env);
  out->set_ca_file(target.ca_file);
  for (const auto& [name, value] : target.headers) {
    v1::Header* header = out->add_headers();
    header->set_name(name);
    header->set_value(value);
  }
  out->set_affinity_play_header(target.affinity_play_header);
  out->set_affinity_parent_header(target.affinity_parent_header);
  out->set_max_tokens(target.max_tokens);
  out->set_min_tokens_accepted(target.min_tokens_accepted);
  out->set_ignore_eos_accepted(target.ignore_eos_accepted);
  out->set_tools(target.tools);
  out->set_extra_body(target.extra_body);
  out->set_connect_timeout_ns(target.connect_timeout.count());
  out->set_idle_timeout_ns(target.idle_timeout.count());
  out->set_call_deadline_ns(target.call_deadline.count());
}

bool IsBaseUrl(std::string_view url) {
  const bool scheme = url.starts_with("http://") || url.starts_with("https://");
  return scheme && !url.ends_with('/');
}

// With its braces, and not empty inside: what would break a request's body is no such thing.
bool AreJsonFields(std::string_view text) {
  JsonObjectChecker object;
  object.Feed("{");
  object.Feed(text);
  object.Feed("}");
  return object.complete() && text.find('"') != std::string_view::npos;
}

StatusOr<TargetPlan> FromProto(const v1::TargetPlan& in) {
  Checks checks("TargetPlan");
  TargetPlan target;
  target.url = checks.Line(in.url(), wire::kUrlBytesMax, "url");
  checks.Require(IsBaseUrl(target.url), "url", "http:// or https:// without a slash at the end");
  target.model = checks.Name(in.model(), "model");
  target.bearer_env = checks.Line(in.bearer_env(), wire::kNameBytesMax, "bearer_env");
  target.ca_file = checks.Line(in.ca_file(), wire::kPathBytesMax, "ca_file");
  checks.Require(static_cast<std::size_t>(in.headers_size()) <= wire::kHeadersMax, "headers",
                 "at most 64");
  for (const v1::Header& header : in.headers()) {
    if (!checks.ok()) return checks.status();
    target.headers.emplace_back(
        checks.Name(header.name(), "headers.name"),
        checks.Line(header.value(), wire::kHeaderValueBytesMax, "headers.value"));
  }
  target.affinity_play_header =
      checks.Line(in.affinity_play_header(), wire::kNameBytesMax, "affinity_play_header");
  target.affinity_parent_header =
      checks.Line(in.affinity_parent_header(), wire::kNameBytesMax, "affinity_parent_header");
  checks.Require(in.max_tokens() > 0, "max_tokens", "above 0");
  target.max_tokens = in.max_tokens();
  target.min_tokens_accepted = in.min_tokens_accepted();
  target.ignore_eos_accepted = in.ignore_eos_accepted();
  target.tools = in.tools();
  target.extra_body = in.extra_body();
  checks.Require(target.extra_body.size() <= wire::kExtraBodyBytesMax, "extra_body",
                 "at most 16,384 bytes");
  checks.Require(target.extra_body.empty() || AreJsonFields(target.extra_body), "extra_body",
                 "fields of a JSON object");
  target.connect_timeout = checks.PositiveSpan(in.connect_timeout_ns(), "connect_timeout_ns");
  target.idle_timeout = checks.PositiveSpan(in.idle_timeout_ns(), "idle_timeout_ns");
  target.call_deadline = checks.PositiveSpan(in.call_deadline_ns(), "call_deadline_ns");
  if (!checks.ok()) return checks.status();
  return target;
}

}  // namespace

void ToProto(const RunPlan& plan, v1::RunPlan* out) {
  out->Clear();
  out->set_run_id(plan.run_id);
  out->set_seed(plan.seed);
  out->set_nonce(plan.nonce);
  out->set_corpus_digest(plan.corpus_digest);
  for (const TierPlan& tier : plan.tiers) ToProto(tier, out->add_tiers());
  out->set_think_time(plan.think_time == ThinkTime::kRecorded ? v1::THINK_TIME_RECORDED
                                                              : v1::THINK_TIME_NONE);
  out->set_think_time_cap_ns(plan.think_time_cap.count());
  out->set_output_divisor(plan.output_divisor);
  // The numbers are the same, and both sides say "never renumber".
  out->set_output_mode(static_cast<v1::OutputMode>(plan.output_mode));
  out->set_output_tokens(plan.output_tokens);
  out->set_isolate_prefixes(plan.isolate_prefixes);
  out->set_context_limit_tokens(plan.context_limit.tokens);
  // Our numbers and the message's differ by one: 0 is "unspecified" there.
  out->set_over_limit(static_cast<v1::OverLimit>(static_cast<int>(plan.context_limit.policy) + 1));
  out->set_history(plan.history == History::kLive ? v1::HISTORY_LIVE : v1::HISTORY_RECORDED);
  ToProto(plan.failure, out->mutable_failure());
  ToProto(plan.target, out->mutable_target());
  if (plan.evals) wire::ToProto(*plan.evals, out->mutable_evals());
  if (plan.liveness_percent != kLivenessPercentMax) {
    out->set_liveness_percent(plan.liveness_percent);
  }
}

namespace {

void ReadReplay(const v1::RunPlan& in, RunPlan* plan, Checks* checks) {
  checks->Require(
      in.think_time() == v1::THINK_TIME_NONE || in.think_time() == v1::THINK_TIME_RECORDED,
      "think_time", "a known kind");
  plan->think_time =
      in.think_time() == v1::THINK_TIME_RECORDED ? ThinkTime::kRecorded : ThinkTime::kNone;
  plan->think_time_cap = checks->Span(in.think_time_cap_ns(), "think_time_cap_ns");
  checks->Require(in.output_divisor() > 0, "output_divisor", "above 0");
  plan->output_divisor = in.output_divisor();
  const int mode = in.output_mode();
  const bool known_mode = mode >= v1::OUTPUT_MODE_RECORDED && mode <= v1::OUTPUT_MODE_FREE;
  checks->Require(known_mode, "output_mode", "a known kind");
  if (known_mode) plan->output_mode = static_cast<OutputMode>(mode);
  checks->Require((in.output_tokens() > 0) == (plan->output_mode == OutputMode::kFixed),
                  "output_tokens", "above 0 exactly where the length is fixed");
  plan->output_tokens = in.output_tokens();
  plan->isolate_prefixes = in.isolate_prefixes();
  plan->context_limit.tokens = in.context_limit_tokens();
  const int over_limit = in.over_limit();
  const bool known =
      over_limit >= v1::OVER_LIMIT_SEND && over_limit <= v1::OVER_LIMIT_DROP_LONG_STARTS;
  checks->Require(known, "over_limit", "a known policy");
  if (known) plan->context_limit.policy = static_cast<OverLimit>(over_limit - 1);
  checks->Require(in.history() == v1::HISTORY_RECORDED || in.history() == v1::HISTORY_LIVE,
                  "history", "a known kind");
  plan->history = in.history() == v1::HISTORY_LIVE ? History::kLive : History::kRecorded;
}

}  // namespace

StatusOr<RunPlan> FromProto(const v1::RunPlan& in) {
  Checks checks("RunPlan");
  RunPlan plan;
  plan.run_id = checks.Name(in.run_id(), "run_id");
  plan.seed = in.seed();
  plan.nonce = in.nonce();
  plan.corpus_digest = checks.Digest(in.corpus_digest(), "corpus_digest");
  checks.Require(in.tiers_size() > 0, "tiers", "at least one");
  checks.Require(static_cast<std::uint32_t>(in.tiers_size()) <= limits::kTiersMax, "tiers",
                 "at most 8");
  const bool shared = std::any_of(in.tiers().begin(), in.tiers().end(),
                                  [](const v1::TierPlan& tier) { return tier.share() > 0; });
  checks.Require(shared, "tiers", "such that one has a share");
  ReadReplay(in, &plan, &checks);
  checks.Require(in.has_failure(), "failure", "set");
  checks.Require(in.has_target(), "target", "set");
  if (!checks.ok()) return checks.status();
  for (const v1::TierPlan& tier : in.tiers()) {
    ASSIGN_OR_RETURN(TierPlan read, FromProto(tier));
    plan.tiers.push_back(std::move(read));
  }
  ASSIGN_OR_RETURN(plan.failure, FromProto(in.failure()));
  ASSIGN_OR_RETURN(plan.target, FromProto(in.target()));
  if (in.has_evals()) {
    ASSIGN_OR_RETURN(plan.evals, wire::FromProto(in.evals()));
  }
  if (in.liveness_percent() != 0) {
    plan.liveness_percent = checks.Between(in.liveness_percent(), kLivenessPercentMin,
                                           kLivenessPercentMax, "liveness_percent");
    if (!checks.ok()) return checks.status();
  }
  return plan;
}

void ToProto(const StepPlan& step, v1::StepPlan* out) {
  out->Clear();
  out->set_step(step.step);
  out->set_sessions(step.sessions);
  out->set_warm_up_ns(step.warm_up.count());
  out->set_measure_ns(step.measure.count());
  out->set_block_ns(step.block.count());
  out->set_drain_limit_ns(step.drain_limit.count());
  out->set_prime_limit_ns(step.prime_limit.count());
}

StatusOr<StepPlan> FromProto(const v1::StepPlan& in) {
  Checks checks("StepPlan");
  StepPlan step;
  step.step = checks.Below(in.step(), limits::kStepsMax, "step");
  step.sessions = checks.Between(in.sessions(), 1, limits::kLanesMax, "sessions");
  step.warm_up = checks.Span(in.warm_up_ns(), "warm_up_ns");
  step.measure = checks.PositiveSpan(in.measure_ns(), "measure_ns");
  step.block = checks.PositiveSpan(in.block_ns(), "block_ns");
  checks.Require(step.measure % step.block == Duration{}, "measure_ns", "a whole number of blocks");
  checks.Require(step.measure / step.block <= limits::kBlocksMax, "measure_ns",
                 "at most 4096 blocks");
  step.drain_limit = checks.Span(in.drain_limit_ns(), "drain_limit_ns");
  step.prime_limit = checks.Span(in.prime_limit_ns(), "prime_limit_ns");
  if (!checks.ok()) return checks.status();
  return step;
}

void ToProto(const LaneSpec& lane, v1::LaneSpec* out) {
  out->Clear();
  out->set_lane(lane.lane);
  out->set_tier(lane.tier);
  out->set_rank(lane.rank);
  out->set_agent_slot(lane.agent_slot);
  out->set_first_play(lane.first_play);
}

StatusOr<LaneSpec> FromProto(const v1::LaneSpec& in) {
  Checks checks("LaneSpec");
  LaneSpec lane;
  lane.lane = checks.Below(in.lane(), limits::kLanesMax, "lane");
  lane.tier = static_cast<std::uint8_t>(checks.Below(in.tier(), limits::kTiersMax, "tier"));
  checks.Require(in.rank() <= in.lane(), "rank", "at most lane");
  lane.rank = in.rank();
  lane.agent_slot = checks.Below(in.agent_slot(), limits::kAgentsMax, "agent_slot");
  lane.first_play = in.first_play();
  if (!checks.ok()) return checks.status();
  return lane;
}

}  // namespace plimsoll
