#include "coordinator/api/server_messages.h"

#include <cmath>
#include <optional>

#include "common/base/text.h"
#include "coordinator/api/bar_messages.h"
#include "plimsoll/v1/api.pb.h"

namespace plimsoll {
namespace {

static_assert(static_cast<int>(PartSource::kGateway) == v1::PART_SOURCE_GATEWAY);
static_assert(static_cast<int>(DrainState::kUnknown) == v1::DRAIN_STATE_UNKNOWN);

double Finite(double value) {
  return std::isfinite(value) ? value : 0;
}

template <typename Message>
void SetIf(const std::optional<double>& value, Message* out, void (Message::*set)(double)) {
  if (value.has_value() && std::isfinite(*value)) (out->*set)(*value);
}

void Fill(const ShownPercentile& percentile, v1::Percentile* out) {
  SetIf(percentile.value, out, &v1::Percentile::set_value);
  out->set_infinite(percentile.infinite);
}

v1::PartSource Of(PartSource source) {
  return static_cast<v1::PartSource>(source);
}
std::string Key(Signal signal) {
  return std::string(TraitsOf(signal).key);
}

}  // namespace

void FillPart(const PartVerdict& part, v1::Part* out) {
  FillLimit(part.limit, out->mutable_limit());
  out->set_verdict(static_cast<v1::Verdict>(part.verdict));
  out->set_lean(static_cast<v1::Lean>(part.lean));
  out->set_reason(ValidUtf8(part.reason));
  out->set_n(part.n);
  Fill(ShownPercentile{part.value, part.value_infinite}, out->mutable_value());
  SetIf(part.value_ok_only, out, &v1::Part::set_value_ok_only);
  Fill(part.value_low, out->mutable_value_low_95());
  Fill(part.value_high, out->mutable_value_high_95());
  if (part.n > 0) {
    v1::Interval* share = out->mutable_share();
    share->set_value(Finite(part.share_within));
    share->set_low_95(Finite(part.share_low));
    share->set_high_95(Finite(part.share_high));
  }
  SetIf(part.margin, out, &v1::Part::set_margin_of_limit);
}

void FillServer(const ServerSummary& server, v1::Server* out) {
  out->set_judge(std::string(Name(server.mode)));
  for (const SourcePart& part : server.parts) {
    v1::SourcePart* to = out->add_parts();
    to->set_source(Of(part.source));
    to->set_part(part.part);
    FillPart(part.verdict, to->mutable_verdict());
  }
  for (const NotGotSignal& missing : server.not_got) {
    v1::NotGotSignal* to = out->add_not_got();
    to->set_source(Of(missing.source));
    to->set_target(ValidUtf8(missing.target));
    to->set_signal(Key(missing.signal));
    to->set_missing(std::string(MissingWords(missing.missing)));
    to->set_why(ValidUtf8(missing.why));
  }
  for (const TargetOutcome& outcome : server.outcomes) {
    v1::TargetOutcome* to = out->add_restarts();
    to->set_source(Of(outcome.source));
    to->set_target(ValidUtf8(outcome.target));
    to->set_what(std::string(ContinuityWords(outcome.continuity)));
    to->set_why(ValidUtf8(outcome.why));
  }
  for (const SourceFigure& figure : server.figures) {
    v1::SourceFigure* to = out->add_figures();
    to->set_source(Of(figure.source));
    to->set_signal(Key(figure.signal));
    to->set_value(Finite(figure.value));
    SetIf(figure.max, to, &v1::SourceFigure::set_max);
    to->set_partial(figure.partial);
  }
  for (const std::string& finding : server.findings) out->add_findings(ValidUtf8(finding));
  out->set_ends_sweep(ValidUtf8(server.ends_why));
}

void FillDrain(const DrainSummary& drain, v1::Drain* out) {
  out->set_state(static_cast<v1::DrainState>(drain.state));
  out->set_took_s(ToSeconds(drain.took));
  out->set_orphaned_requests(Finite(drain.orphaned));
  for (const DrainGauge& gauge : drain.gauges) {
    v1::DrainGauge* to = out->add_gauges();
    to->set_source(Of(gauge.source));
    to->set_target(ValidUtf8(gauge.target));
    to->set_signal(Key(gauge.signal));
    SetIf(gauge.before, to, &v1::DrainGauge::set_before);
    SetIf(gauge.now, to, &v1::DrainGauge::set_now);
    to->set_back(gauge.back);
  }
  for (const std::string& line : drain.lines) out->add_lines(ValidUtf8(line));
}

}  // namespace plimsoll
