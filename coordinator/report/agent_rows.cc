#include "coordinator/report/agent_rows.h"

#include <optional>
#include <variant>

#include "coordinator/report/agent_figures.h"
#include "coordinator/report/export_line.h"

namespace plimsoll {
namespace {

struct Writer {
  void operator()(const std::optional<double>& value) const { line.Real(name, value); }
  void operator()(const std::optional<std::uint64_t>& value) const { line.Known(name, value); }
  void operator()(const std::optional<Duration>& value) const {
    const std::string with_unit = name + "_ns";
    value ? line.Count(with_unit, value->count()) : line.Absent(with_unit);
  }
  std::string name;
  Line& line;
};

// `told`: whether the agent has told of the step.
void AppendAgentLine(LineKind kind, const StepPlan& plan, const AgentEvidence& agent, bool told,
                     std::string* out) {
  Line line(kind, out);
  line.Count("step", plan.step);
  line.Count("sessions", plan.sessions);
  line.Count("measure_ns", plan.measure.count());
  line.Count("agent_slot", agent.slot);
  line.Text("agent", agent.name);
  line.Count("lanes", agent.lanes);
  line.Flag("lost", agent.lost);
  for (const auto& figures : {FiguresOf(agent), FiguresOf(agent.host)}) {
    for (AgentFigure figure : figures) {
      if (!told) std::visit([](auto& value) { value.reset(); }, figure.value);
      std::visit(Writer{figure.name, line}, figure.value);
    }
  }
  line.End();
}

}  // namespace

std::string AgentHeader(RowForm form) {
  std::string header;
  if (form == RowForm::kCsv) {
    AppendAgentLine(LineKind::kCsvHeader, StepPlan{}, AgentEvidence{}, false, &header);
  }
  return header;
}

void AppendAgents(RowForm form, const StepRow& row, std::string* out) {
  const StepSummary& step = row.summary;
  for (const AgentEvidence& agent : step.agents) {
    AppendAgentLine(KindOf(form), step.plan, agent, HasTally(step, agent), out);
  }
}

}  // namespace plimsoll
