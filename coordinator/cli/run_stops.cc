#include "coordinator/cli/run_stops.h"

#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "coordinator/cli/stop_file.h"

namespace plimsoll {
namespace {

constexpr Duration kLookEvery = 200ms;

}  // namespace

RunStops::RunStops(Deps deps, const std::optional<KillSwitchSpec>& kill_switch)
    : deps_(std::move(deps)), file_(kill_switch ? kill_switch->file : "") {
  if (kill_switch && !kill_switch->rules.empty() && deps_.feed != nullptr) {
    rules_ = std::make_unique<KillSwitchWatch>(
        KillSwitchWatch::Deps{.scheduler = deps_.scheduler,
                              .feed = *deps_.feed,
                              .load_began = deps_.load_began,
                              .say = deps_.say,
                              .tripped = [this](const std::string& reason) { Trip(reason); }},
        *kill_switch);
  }
  timer_ = deps_.scheduler.After(Duration{0}, [this] { Look(); });
}

void RunStops::Trip(const std::string& reason) {
  if (std::exchange(tripped_, true)) return;
  deps_.trip(reason);
}

void RunStops::Look() {
  if (!file_.empty() && !tripped_ && ::access(file_.c_str(), F_OK) == 0) {
    Trip(fmt::format("the file {} exists", file_));
  }
  if (const auto kind = TakeStopRequest(deps_.store, deps_.run_id)) {
    deps_.say(
        fmt::format("`plimsoll stop` asks to {}", *kind == StopKind::kAbort ? "abort" : "drain"));
    deps_.stop(*kind == StopKind::kAbort ? 2 : 1);
  }
  timer_ = deps_.scheduler.After(kLookEvery, [this] { Look(); });
}

}  // namespace plimsoll
