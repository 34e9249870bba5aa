// Where a kind of server has the common signals: a mapping file as a value. Pure.
// The format, with an example, is in docs/signals.md; the reader in mapping_reader.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/signals/signal.h"

namespace plimsoll {

// A test of one label. A label that is not there has the empty value, as everywhere in this format.
struct LabelTest {
  enum class Op : std::uint8_t { kIn, kNotIn, kPrefix };
  std::string label;
  Op op = Op::kIn;
  std::vector<std::string> values;  // Not empty; kPrefix: any of them.

  bool Passes(std::string_view value) const;
  friend bool operator==(const LabelTest&, const LabelTest&) = default;
};

// One way to find a signal on a page.
struct Alternative {
  std::string name;               // Exactly; of a histogram without _bucket.
  std::vector<std::string> plus;  // Added to it, with the same selector; 0 where not on the page.
  std::vector<LabelTest> where;   // All must pass.
  friend bool operator==(const Alternative&, const Alternative&) = default;
};

// How a number is had from the page.
enum class Derivation : std::uint8_t {
  kPlain,
  kRatio,         // `any` divided by `to`, each summed over its series.
  kLifetimeMean,  // `any` is a mean since the start, weighted by the counter `to`; the mean of a
                  // time between two pages is (m2*n2 - m1*n1) / (n2 - n1).
};

// How series, ranks and servers become one number.
enum class Combine : std::uint8_t {
  kSum,
  kMax,
  kMean,
  kMerge,  // Of histograms: counts are summed where the buckets are equal.
};

// When a request moves the signal: what else may be compared with it.
enum class Moves : std::uint8_t { kUnsaid, kArrival, kHeaders, kFirstToken, kLive, kFinish };
std::string_view MovesWords(Moves moves);  // "at the first token"; empty for kUnsaid.

struct SignalMapping {
  Signal signal = Signal::kTtft;
  Derivation derivation = Derivation::kPlain;
  std::vector<Alternative> any;  // In order: the first that is on the page counts; never summed.
  std::vector<Alternative> to;   // Of kRatio and kLifetimeMean.
  double scale = 1;              // Times this it is in the signal's unit.
  Combine combine = Combine::kSum;
  Moves moves = Moves::kUnsaid;
  // The server makes a series with the first event: no series where the name is there means 0.
  bool lazy = false;
  bool trusted = true;  // False: known to be wrong at times; shown, never judged.
  std::string note;     // For people.
  friend bool operator==(const SignalMapping&, const SignalMapping&) = default;
};

struct AbsentSignal {
  Signal signal = Signal::kTtft;
  std::string because;
  friend bool operator==(const AbsentSignal&, const AbsentSignal&) = default;
};

struct Mapping {
  std::string kind;                 // "vllm".
  std::vector<std::string> detect;  // A page with any of these names is of this kind.
  std::string model_label;          // Holds the model's name; empty: none does.
  // Labels that tell copies of one event apart (ranks that all count it): series that differ in
  // nothing else are one, the largest of them.
  std::vector<std::string> same;
  std::string start_time = "process_start_time_seconds";  // A gauge that moves with a restart.
  int digits = 0;  // Significant digits of the page's numbers; 0: all.
  std::vector<SignalMapping> signals;
  std::vector<AbsentSignal> absent;

  // Null: not mapped.
  const SignalMapping* Find(Signal signal) const;
  // Null: no reason given.
  const std::string* WhyAbsent(Signal signal) const;
  friend bool operator==(const Mapping&, const Mapping&) = default;
};

}  // namespace plimsoll
