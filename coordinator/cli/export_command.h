// `plimsoll runs export ID --steps|--parts|--agents|--records csv|jsonl` and `--pages jsonl`: what
// a run measured, for other programs.
#pragma once

#include <string>

namespace plimsoll {

struct ExportFlags {
  std::string store;
  std::string id;       // Or an unambiguous beginning.
  std::string steps;    // "csv" or "jsonl"; empty: not the steps.
  std::string parts;    // The same.
  std::string agents;   // The same.
  std::string records;  // The same.
  std::string evals;    // The same.
  std::string pages;    // "jsonl".
  bool junit = false;
  bool markdown = false;  // Exactly one of all these is given.
  std::string out;        // Empty: standard output.
};

// Streams: memory does not grow with the run. Returns 0, also when the reader of standard output
// goes away; 64 for usage, an unknown id or a store that cannot be read; 70 if writing fails.
int ExportRun(const ExportFlags& flags);

}  // namespace plimsoll
