#include "coordinator/judge/server_words.h"

#include <fmt/format.h>

#include "common/base/text.h"

namespace plimsoll {
namespace {

std::string Because(const std::string& why) {
  return why.empty() ? "" : fmt::format(" ({})", why);
}

std::string Number(const SignalTraits& traits, double value) {
  if (traits.unit == SignalUnit::kShare) return fmt::format("{:.1f}%", value * 100);
  return fmt::format("{:.4g}", value);
}

std::string OneFigure(const SourceFigure& figure) {
  const SignalTraits& traits = TraitsOf(figure.signal);
  const char* part = figure.partial ? " of those that show it" : "";
  if (traits.kind != SignalKind::kGauge) {
    return fmt::format("{} {:.15g}{}", traits.name, figure.value, part);
  }
  std::string text = fmt::format("{} {}", traits.name, Number(traits, figure.value));
  if (figure.max && *figure.max != figure.value) {
    text += fmt::format(" (at most {})", Number(traits, *figure.max));
  }
  return text + part;
}

}  // namespace

std::string Words(const NotGotSignal& missing) {
  return fmt::format("{}: {} of {}: {}{}", Name(missing.source), TraitsOf(missing.signal).name,
                     missing.target, MissingWords(missing.missing), Because(missing.why));
}

std::string Words(const TargetOutcome& outcome) {
  return fmt::format("{}: {}: {}{}", Name(outcome.source), outcome.target,
                     ContinuityWords(outcome.continuity), Because(outcome.why));
}

std::string Words(const DrainSummary& drain) {
  const std::string took = ShortTime(drain.took);
  std::string text =
      drain.state == DrainState::kBack
          ? fmt::format("the deployment is back where it was before the run, after {}", took)
      : drain.state == DrainState::kNotBack
          ? fmt::format("the deployment is NOT back where it was before the run, after {}", took)
          : fmt::format("whether the deployment is back is not known, after {}", took);
  for (const std::string& line : drain.lines) text += "; " + line;
  return text;
}

std::string FiguresText(const ServerSummary& server, PartSource source) {
  std::string gauges;
  std::string counters;
  for (const SourceFigure& figure : server.figures) {
    if (figure.source != source) continue;
    const bool gauge = TraitsOf(figure.signal).kind == SignalKind::kGauge;
    // What did not happen is not worth the room, but for what a reader looks for.
    const bool wanted = figure.signal == Signal::kErrors || figure.signal == Signal::kRefused ||
                        figure.signal == Signal::kCancelled || figure.signal == Signal::kPreempted;
    if (!gauge && figure.value == 0 && !wanted) continue;
    std::string& text = gauge ? gauges : counters;
    text += (text.empty() ? "" : ", ") + OneFigure(figure);
  }
  if (gauges.empty() || counters.empty()) return gauges + counters;
  return gauges + "; " + counters;
}

}  // namespace plimsoll
