// plimsoll: finds how much load an LLM deployment can carry.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "common/base/version.h"
#include "common/cli/command_line.h"
#include "common/loop/logging.h"
#include "coordinator/cli/agents_command.h"
#include "coordinator/cli/compare_command.h"
#include "coordinator/cli/corpus_command.h"
#include "coordinator/cli/guardian_command.h"
#include "coordinator/cli/peak_command.h"
#include "coordinator/cli/recover_command.h"
#include "coordinator/cli/rehearse_command.h"
#include "coordinator/cli/run_command.h"
#include "coordinator/cli/runs_command.h"
#include "coordinator/cli/serve_command.h"
#include "coordinator/cli/stop_command.h"
#include "coordinator/cli/window_command.h"

namespace {

constexpr char kHelp[] =
    "plimsoll: finds how many agent sessions an LLM deployment holds at a bar agreed in advance.\n"
    "\n"
    "  plimsoll check SCENARIO          read a scenario, print the dry plan; sends nothing\n"
    "      [--store DIR]                (of the runs that bar.from_baseline names)\n"
    "  plimsoll run SCENARIO            run it: preflight, sweep, verdict, capacity\n"
    "      [--store DIR] [--json FILE] [--nonce N] [--http HOST:PORT] [--grpc HOST:PORT]\n"
    "      [--color auto|always|never] [--junit FILE] [--markdown FILE]\n"
    "  plimsoll stop RUN [--abort]      ask the run that goes on to drain, or to hang up; waits "
    "for "
    "its end\n"
    "      [--store DIR] [--wait DURATION]\n"
    "  plimsoll rehearse [ROW...]       every fault on this machine, against the verdict it must "
    "give\n"
    "      [--list] [--json FILE] [--jobs N] [--keep]\n"
    "  plimsoll runs list               runs that the store keeps\n"
    "  plimsoll runs show ID            the report of one, and its log\n"
    "  plimsoll runs export ID --steps|--parts|--records csv|jsonl   what it measured, for other\n"
    "      [--out FILE]                                                  programs\n"
    "  plimsoll runs export ID --junit|--markdown                    its report, for CI\n"
    "  plimsoll compare RUN RUN...      which recipe holds the target for the least, and what of "
    "that\n"
    "      [--store DIR] [--json FILE] [--target N] [--anyway]             the data supports\n"
    "  plimsoll recover [RUN]           roll back what dead coordinators left; 6: a rollback "
    "failed\n"
    "  plimsoll agents                  who is at the run that is going on\n"
    "  plimsoll serve                   the results API over the store: JSON, gRPC, /metrics\n"
    "  plimsoll window add SCENARIO --between HOURS --length TIME   queue it for an off-peak "
    "window\n"
    "      [--on DAYS] [--once] [--follow] [--store DIR]            (plimsoll serve runs the "
    "queue)\n"
    "  plimsoll window list|cancel ID   the queue of windows\n"
    "  plimsoll corpus import PATH... --out FILE    recorded sessions to a corpus file\n"
    "  plimsoll corpus show FILE [--tsv|--json]     what is in it\n"
    "  plimsoll corpus synth --out FILE             a corpus from published statistics\n"
    "  plimsoll peak --prometheus URL   the busiest minute of real traffic, in sessions\n"
    "\n"
    "Each command has --help. Agents: plimsoll-agent --help. Rehearsals: plimsoll-gateway --help.\n"
    "Exit codes: 0 target held, 1 missed, 2 too close, 3 no data, 4 could not run, 5 stopped,\n"
    "6 a rollback failed, 64 usage or scenario error, 70 internal error.\n";

constexpr int kUsage = 64;

}  // namespace

int main(int argc, char** argv) {
  plimsoll::SetUpLogging("plimsoll");
  const std::string command = argc > 1 ? argv[1] : "";
  if (command == "check") return plimsoll::CheckMain(argc - 2, argv + 2);
  if (command == "run") return plimsoll::RunMain(argc - 2, argv + 2);
  if (command == "stop") return plimsoll::StopMain(argc - 2, argv + 2);
  if (command == "rehearse") return plimsoll::RehearseMain(argc - 2, argv + 2);
  if (command == "rehearse-disk") return plimsoll::RehearseDiskMain(argc - 2, argv + 2);
  if (command == "runs") return plimsoll::RunsMain(argc - 2, argv + 2);
  if (command == "compare") return plimsoll::CompareMain(argc - 2, argv + 2);
  if (command == "agents") return plimsoll::AgentsMain(argc - 2, argv + 2);
  if (command == "recover") return plimsoll::RecoverMain(argc - 2, argv + 2);
  if (command == "guardian") return plimsoll::GuardianMain(argc - 2, argv + 2);
  if (command == "serve") return plimsoll::ServeMain(argc - 2, argv + 2);
  if (command == "window") return plimsoll::WindowMain(argc - 2, argv + 2);
  if (command == "corpus") return plimsoll::CorpusMain(argc - 2, argv + 2);
  if (command == "peak") return plimsoll::PeakMain(argc - 2, argv + 2);
  if (command == "--version") {
    std::printf("plimsoll %s\n", plimsoll::kVersion);
    return 0;
  }
  const bool asked = command == "--help" || command == "-h" || command == "help";
  if (asked || command.empty()) {
    std::fputs(kHelp, asked ? stdout : stderr);
    return asked ? 0 : kUsage;
  }
  const std::vector<std::string> known = {"check", "rehearse", "run",    "stop",
                                          "runs",  "compare",  "agents", "recover",
                                          "serve", "window",   "corpus", "peak"};
  std::fprintf(stderr, "plimsoll: %s (see plimsoll --help)\n",
               plimsoll::UnknownCommand(command, "plimsoll", known).c_str());
  return kUsage;
}
