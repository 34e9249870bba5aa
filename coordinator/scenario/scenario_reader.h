// YAML text to Scenario. Pure over text: no file is opened, no variable of the environment read.
//
// Keys (design section 11), those of this version; * is required:
//   name*        text
//   recipe       text, or {files: [PATH…], note: text}
//   target*      {url*, model*, api: chat, auth: {bearer_env: VARIABLE}, headers: {name: value},
//                 affinity: {play: HEADER, parent: HEADER}, max_tokens: count, ca_file: PATH,
//                 tools: off|on, extra_body: {field: value},
//                 connect_timeout, idle_timeout, call_deadline: duration}
//   corpus*      {file: PATH} or {synthetic: agentx, seed, heavy, mid, light: count of
//                 sessions, scale: count that divides all token counts}
//   mix*         {light|mid|heavy: share, …}; together 100%
//   sweep*       {sessions*: [count…], target: count, warm_up, measure, block, drain_limit,
//                 prime_limit: duration}
//   bar*         {ttft_pNN: duration, interactivity_pNN: tok/s, errors, tool_calls: share}; NN from
//                 50 to 99
//   fleet*       {local: count} or {agents: count, listen: HOST:PORT, wait: duration}
//   replay       {think_time: none|recorded, think_time_cap: duration, output: recorded|free|
//                 {tokens: count}, output_divisor: count, isolate_prefixes: true|false, history:
//                 recorded|live, context_limit: count,
//                 over_limit: send|skip_calls|end_session|drop_sessions|drop_long_starts}
//   failure      {attempts: count, back_off_min, back_off_max: duration, retry_after:
//                 honour|ignore, retry_after_max: duration, retry, end_play: [OUTCOME…],
//                 silence: lane|stream}
//   ladders      [mix]
//   cost         {nodes*: count, per_node_hour*: money}
//   signals      servers' own numbers: signals_reader.h
//   seed         count
// hooks and window are known, and refused as not supported by this version.
#pragma once

#include <string>
#include <string_view>

#include "common/base/status.h"
#include "common/config/problems.h"
#include "coordinator/scenario/scenario.h"

namespace plimsoll {

// `folder` is where the scenario file lies ("" for the working folder): relative paths in it are
// relative to that. All problems, cross-field rules included, are added to `problems`; if there is
// any, the result is not to be used.
Scenario ReadScenario(std::string_view text, std::string_view folder, Problems& problems);

// The same with the problems as a status: InvalidArgument, one "file:line: path: …" a line.
StatusOr<Scenario> ParseScenario(std::string_view text, const std::string& file,
                                 std::string_view folder);

}  // namespace plimsoll
