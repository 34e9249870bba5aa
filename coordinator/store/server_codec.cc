#include "coordinator/store/server_codec.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "coordinator/store/part_codec.h"
#include "plimsoll/v1/results.pb.h"

namespace plimsoll {
namespace {

Status Damaged() {
  return absl::DataLossError("what a server said is damaged as it is stored");
}

// Enums of ours and of the message share their numbers.
template <typename Ours>
bool Take(int value, int first, int last, Ours* out) {
  if (value < first || value > last) return false;
  *out = static_cast<Ours>(value);
  return true;
}

bool TakeSource(int value, PartSource* out) {
  return Take(value, 1, kPartSources, out);
}
// Of the two that are servers.
bool TakeServer(int value, PartSource* out) {
  return Take(value, 2, kPartSources, out);
}

bool TakeSignal(std::uint32_t value, Signal* out) {
  for (const SignalTraits& traits : AllSignals()) {
    if (static_cast<std::uint32_t>(traits.signal) != value) continue;
    *out = traits.signal;
    return true;
  }
  return false;
}

std::uint32_t Number(Signal signal) {
  return static_cast<std::uint32_t>(signal);
}
template <typename Theirs, typename Ours>
Theirs To(Ours value) {
  return static_cast<Theirs>(static_cast<int>(value));
}

void WriteLists(const ServerSummary& server, v1::StoredServer& out) {
  for (const NotGotSignal& missing : server.not_got) {
    v1::StoredNotGot& stored = *out.add_not_got();
    stored.set_source(To<v1::StoredPartSource>(missing.source));
    stored.set_target(missing.target);
    stored.set_signal(Number(missing.signal));
    stored.set_missing(To<v1::StoredMissing>(missing.missing));
    stored.set_why(missing.why);
  }
  for (const TargetOutcome& outcome : server.outcomes) {
    v1::StoredTargetOutcome& stored = *out.add_outcomes();
    stored.set_source(To<v1::StoredPartSource>(outcome.source));
    stored.set_target(outcome.target);
    stored.set_continuity(To<v1::StoredContinuity>(outcome.continuity));
    stored.set_why(outcome.why);
  }
  for (const SourceFigure& figure : server.figures) {
    v1::StoredSourceFigure& stored = *out.add_figures();
    stored.set_source(To<v1::StoredPartSource>(figure.source));
    stored.set_signal(Number(figure.signal));
    stored.set_value(figure.value);
    if (figure.max) stored.set_max(*figure.max);
    stored.set_partial(figure.partial);
  }
}

Status ReadLists(const v1::StoredServer& in, ServerSummary* out) {
  for (const v1::StoredNotGot& stored : in.not_got()) {
    NotGotSignal missing{.target = stored.target(), .why = stored.why()};
    if (!TakeServer(stored.source(), &missing.source) ||
        !TakeSignal(stored.signal(), &missing.signal) ||
        !Take(stored.missing(), 1, static_cast<int>(kMissingLast), &missing.missing)) {
      return Damaged();
    }
    out->not_got.push_back(std::move(missing));
  }
  for (const v1::StoredTargetOutcome& stored : in.outcomes()) {
    TargetOutcome outcome{.target = stored.target(), .why = stored.why()};
    if (!TakeServer(stored.source(), &outcome.source) ||
        !Take(stored.continuity(), 1, static_cast<int>(Continuity::kAlternates),
              &outcome.continuity)) {
      return Damaged();
    }
    out->outcomes.push_back(std::move(outcome));
  }
  for (const v1::StoredSourceFigure& stored : in.figures()) {
    SourceFigure figure{.value = stored.value(), .max = {}, .partial = stored.partial()};
    if (stored.has_max()) figure.max = stored.max();
    if (!TakeServer(stored.source(), &figure.source) ||
        !TakeSignal(stored.signal(), &figure.signal) || !std::isfinite(figure.value) ||
        !std::isfinite(figure.max.value_or(0))) {
      return Damaged();
    }
    out->figures.push_back(figure);
  }
  return absl::OkStatus();
}

}  // namespace

void Write(const ServerSummary& server, v1::StoredServer& out) {
  out.set_mode(To<v1::StoredJudgeMode>(server.mode));
  for (const SourcePart& part : server.parts) {
    v1::StoredSourcePart& stored = *out.add_parts();
    stored.set_source(To<v1::StoredPartSource>(part.source));
    stored.set_part(part.part);
    Write(part.verdict, *stored.mutable_verdict());
  }
  WriteLists(server, out);
  for (const std::string& finding : server.findings) out.add_findings(finding);
  out.set_ends_sweep(To<v1::StoredSweepEvent>(server.ends_sweep));
  out.set_ends_why(server.ends_why);
}

StatusOr<ServerSummary> Read(const v1::StoredServer& in, std::size_t parts) {
  ServerSummary server;
  if (!Take(in.mode(), 0, static_cast<int>(kJudgeModeNames.size()) - 1, &server.mode) ||
      !Take(in.ends_sweep(), 0, kSweepEvents, &server.ends_sweep)) {
    return Damaged();
  }
  for (const v1::StoredSourcePart& stored : in.parts()) {
    SourcePart part{.part = stored.part(), .verdict = {}};
    if (!TakeSource(stored.source(), &part.source) || part.part >= parts) return Damaged();
    ASSIGN_OR_RETURN(part.verdict, Read(stored.verdict()));
    server.parts.push_back(std::move(part));
  }
  RETURN_IF_ERROR(ReadLists(in, &server));
  server.findings.assign(in.findings().begin(), in.findings().end());
  server.ends_why = in.ends_why();
  return server;
}

void Write(const DrainSummary& drain, v1::StoredDrain& out) {
  out.set_state(To<v1::StoredDrainState>(drain.state));
  out.set_took_ns(drain.took.count());
  out.set_orphaned(drain.orphaned);
  for (const DrainGauge& gauge : drain.gauges) {
    v1::StoredDrainGauge& stored = *out.add_gauges();
    stored.set_source(To<v1::StoredPartSource>(gauge.source));
    stored.set_target(gauge.target);
    stored.set_signal(Number(gauge.signal));
    if (gauge.before) stored.set_before(*gauge.before);
    if (gauge.now) stored.set_now(*gauge.now);
    stored.set_back(gauge.back);
  }
  for (const std::string& line : drain.lines) out.add_lines(line);
}

StatusOr<DrainSummary> Read(const v1::StoredDrain& in) {
  DrainSummary drain{.took = Duration(in.took_ns()), .orphaned = in.orphaned()};
  if (!Take(in.state(), 1, kDrainStates, &drain.state) || drain.took < Duration{0} ||
      !(std::isfinite(drain.orphaned) && drain.orphaned >= 0)) {
    return Damaged();
  }
  for (const v1::StoredDrainGauge& stored : in.gauges()) {
    DrainGauge gauge{.target = stored.target(), .before = {}, .now = {}, .back = stored.back()};
    if (stored.has_before()) gauge.before = stored.before();
    if (stored.has_now()) gauge.now = stored.now();
    if (!TakeServer(stored.source(), &gauge.source) ||
        !TakeSignal(stored.signal(), &gauge.signal) || !std::isfinite(gauge.before.value_or(0)) ||
        !std::isfinite(gauge.now.value_or(0))) {
      return Damaged();
    }
    drain.gauges.push_back(std::move(gauge));
  }
  drain.lines.assign(in.lines().begin(), in.lines().end());
  return drain;
}

}  // namespace plimsoll
