#include "coordinator/report/hook_json.h"

#include "common/base/text.h"
#include "common/json/json.h"
#include "coordinator/report/run_report.h"

namespace plimsoll {

std::string HooksJson(const std::vector<HookOutcome>& hooks) {
  using Json = nlohmann::json;
  Json list = Json::array();
  for (const HookOutcome& hook : hooks) {
    list.push_back({{"phase", Name(hook.phase)},
                    {"attempt", hook.attempt},
                    {"state", Name(hook.state)},
                    {"exit_code", hook.exit_code ? Json(*hook.exit_code) : Json()},
                    {"signal", hook.signal ? Json(*hook.signal) : Json()},
                    {"started_at", WallText(hook.started)},
                    {"duration_s", ToSeconds(hook.duration)},
                    {"output", ValidUtf8(hook.output)},
                    {"output_cut_bytes", hook.output_cut_bytes},
                    {"note", ValidUtf8(hook.note)}});
  }
  return list.dump();
}

}  // namespace plimsoll
