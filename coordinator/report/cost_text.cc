#include "coordinator/report/cost_text.h"

#include <fmt/format.h>

#include "common/base/text.h"

namespace plimsoll {
namespace {

// "0.53 USD", or "not known: usage reports no cached tokens".
std::string OrWhyNot(const Figure& figure, const std::string& unit) {
  if (!figure.value) return "not known: " + figure.why_not;
  return ThreeDigits(*figure.value) + unit;
}

std::string ClassSentence(const TokenFigures& figures, const std::string& unit) {
  return fmt::format("cached in {}; uncached in {}; out {}", OrWhyNot(figures.cached, unit),
                     OrWhyNot(figures.uncached, unit), OrWhyNot(figures.out, unit));
}

}  // namespace

std::string Shown(const Figure& figure) {
  return figure.value ? ThreeDigits(*figure.value) : "–";
}

std::string CostSentence(const Cost& cost, const Capacity& capacity) {
  if (!cost.settings) {
    return "not known: add cost: {nodes: 4, per_node_hour: 14.40 USD} to the scenario";
  }
  const CostSettings& price = *cost.settings;
  const std::string currency = " " + price.currency;
  const std::string nodes =
      fmt::format("{} node{} at {}{} an hour", price.nodes, price.nodes == 1 ? "" : "s",
                  ThreeDigits(static_cast<double>(price.micros) * 1e-6), currency);
  if (!cost.sessions)
    return fmt::format("not known: {} ({})", cost.per_session_hour.why_not, nodes);
  const bool in_flight_known = cost.sessions == capacity.passed && capacity.requests_in_flight > 0;
  std::string text = fmt::format(
      "{} per session-hour ({}, {} sessions{})", OrWhyNot(cost.per_session_hour, currency), nodes,
      *cost.sessions,
      in_flight_known ? fmt::format(" with {:.1f} requests in flight", capacity.requests_in_flight)
                      : "");
  text += fmt::format("; per million tokens {}", OrWhyNot(cost.per_mtok.all, currency));
  text += fmt::format(" (if this class carried the whole price: {})",
                      ClassSentence(cost.per_mtok, currency));
  text += fmt::format("; per node {} sessions, {} an hour", Shown(cost.sessions_per_node),
                      OrWhyNot(cost.mtok_per_node_hour, " million tokens"));
  return text;
}

}  // namespace plimsoll
