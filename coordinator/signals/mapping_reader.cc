#include "coordinator/signals/mapping_reader.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "coordinator/signals/alternative_reader.h"
#include "fmt/format.h"

namespace plimsoll {
namespace {

constexpr std::size_t kNamesMax = 64;

constexpr std::array<std::string_view, 3> kKindKeys = {"histogram", "gauge", "counter"};
constexpr std::array<std::string_view, 5> kUnits = {"s", "ms", "us", "share", "percent"};
constexpr std::array<double, 5> kScales = {1, 1e-3, 1e-6, 1, 0.01};
constexpr std::array<std::string_view, 4> kCombines = {"sum", "max", "mean", "merge"};
constexpr std::array<std::string_view, 5> kMoves = {"arrival", "headers", "first_token", "live",
                                                    "finish"};
constexpr std::array<std::string_view, 2> kTrusts = {"low", "high"};

std::vector<std::string> SignalKeys() {
  std::vector<std::string> keys;
  for (const SignalTraits& traits : AllSignals()) keys.emplace_back(traits.key);
  return keys;
}

// A signal's key; another one is a problem with a suggestion.
std::optional<Signal> NamedSignal(FieldReader& fields, const std::string& key) {
  (void)fields.Find(key);
  const std::optional<Signal> signal = SignalOf(key);
  if (signal.has_value()) return signal;
  const std::vector<std::string> keys = SignalKeys();
  const std::string_view meant = DidYouMean(key, keys);
  fields.Problem(key, meant.empty()
                          ? fmt::format("is no signal; there are {}", fmt::join(keys, ", "))
                          : fmt::format("is no signal; did you mean \"{}\"?", meant));
  return std::nullopt;
}

class SignalReader {
 public:
  SignalReader(FieldReader& fields, const std::string& key, Signal signal, Problems& problems)
      : fields_(fields), key_(key), problems_(problems), traits_(TraitsOf(signal)) {
    mapping_.signal = signal;
  }

  SignalMapping Read() {
    std::optional<FieldReader> map = fields_.Map(key_);
    if (!map.has_value()) return mapping_;
    ReadSource(*map);
    ReadUnit(*map);
    ReadCombine(*map);
    if (const auto moves = map->Choice("moves", kMoves)) {
      mapping_.moves = static_cast<Moves>(*moves + 1);
    }
    mapping_.lazy = map->Flag("lazy").value_or(false);
    if (mapping_.lazy && traits_.kind != SignalKind::kCounter) {
      map->Problem("lazy", "is only for counters, leave it out");
    }
    mapping_.trusted = map->Choice("trust", kTrusts).value_or(1) == 1;
    mapping_.note = map->Text("note").value_or("");
    map->Finish();
    return mapping_;
  }

 private:
  bool IsGauge() const { return traits_.kind == SignalKind::kGauge; }
  std::string_view WantedKey() const { return KindName(traits_.kind); }

  void ReadSource(FieldReader& map) {
    int sources = 0;
    for (const std::string_view kind : kKindKeys) {
      const ConfigNode* node = map.Find(kind);
      if (node == nullptr) continue;
      ++sources;
      if (kind != WantedKey()) {
        map.Problem(kind, fmt::format("is not what {} is, write {}", key_, WantedKey()));
      }
      mapping_.any = ReadAlternatives(*node, map.PathOf(kind), traits_.kind, problems_);
    }
    sources += ReadPair(map, "ratio", Derivation::kRatio, "of", "to");
    sources += ReadPair(map, "lifetime_mean", Derivation::kLifetimeMean, "mean", "weight");
    if (sources == 0) {
      fields_.Problem(key_,
                      fmt::format("says not where it is, write e.g. {}: [NAME]", WantedKey()));
    } else if (sources > 1) {
      fields_.Problem(key_,
                      "has several sources; write one, with the names in order of preference");
    }
  }

  int ReadPair(FieldReader& map, std::string_view key, Derivation derivation,
               std::string_view first, std::string_view second) {
    if (map.Find(key) == nullptr) return 0;
    if (!IsGauge()) map.Problem(key, fmt::format("is only for gauges, write {}", WantedKey()));
    std::optional<FieldReader> pair = map.Map(key);
    if (!pair.has_value()) return 1;
    mapping_.derivation = derivation;
    const auto read = [&](std::string_view part) {
      std::vector<Alternative> any;
      if (pair->Require(part, "[NAME]")) {
        any =
            ReadAlternatives(*pair->Find(part), pair->PathOf(part), SignalKind::kGauge, problems_);
      }
      return any;
    };
    mapping_.any = read(first);
    mapping_.to = read(second);
    pair->Finish();
    return 1;
  }

  void ReadUnit(FieldReader& map) {
    const auto unit = map.Choice("unit", kUnits);
    if (!unit.has_value()) return;
    mapping_.scale = kScales[*unit];
    const bool time = *unit < 3;
    if (time != (traits_.unit == SignalUnit::kSeconds) ||
        (!time && traits_.unit != SignalUnit::kShare)) {
      map.Problem("unit",
                  fmt::format("does not fit {}, {}", key_,
                              traits_.unit == SignalUnit::kSeconds ? "write s, ms or us"
                              : traits_.unit == SignalUnit::kShare ? "write share or percent"
                                                                   : "leave it out"));
    }
  }

  void ReadCombine(FieldReader& map) {
    const bool histogram = traits_.kind == SignalKind::kHistogram;
    mapping_.combine = histogram                            ? Combine::kMerge
                       : traits_.unit == SignalUnit::kShare ? Combine::kMax
                                                            : Combine::kSum;
    const auto choice = map.Choice("combine", kCombines);
    if (!choice.has_value()) return;
    mapping_.combine = static_cast<Combine>(*choice);
    if (histogram != (mapping_.combine == Combine::kMerge)) {
      map.Problem("combine", histogram ? "must be merge: quantiles are not added up"
                                       : "is for histograms, write sum, max or mean");
    } else if (traits_.kind == SignalKind::kCounter && mapping_.combine == Combine::kMean) {
      map.Problem("combine", "is no mean of counters, write sum or max");
    }
  }

  FieldReader& fields_;
  const std::string& key_;
  Problems& problems_;
  const SignalTraits& traits_;
  SignalMapping mapping_;
};

void ReadSignals(FieldReader& top, Problems& problems, Mapping& mapping) {
  if (!top.Require("signals", "{running: {gauge: [NAME]}}")) return;
  std::optional<FieldReader> fields = top.Map("signals");
  if (!fields.has_value()) return;
  for (const std::string& key : fields->Keys()) {
    const std::optional<Signal> signal = NamedSignal(*fields, key);
    if (!signal.has_value()) continue;
    mapping.signals.push_back(SignalReader(*fields, key, *signal, problems).Read());
  }
  if (fields->Keys().empty()) top.Problem("signals", "is empty, name at least one");
  fields->Finish();
}

void ReadAbsent(FieldReader& top, Mapping& mapping) {
  std::optional<FieldReader> fields = top.Map("absent");
  if (!fields.has_value()) return;
  for (const std::string& key : fields->Keys()) {
    const std::optional<Signal> signal = NamedSignal(*fields, key);
    std::optional<std::string> because = fields->Text(key);
    if (!signal.has_value() || !because.has_value()) continue;
    if (mapping.Find(*signal) != nullptr) {
      fields->Problem(key, "is among signals too; keep one of the two");
    }
    mapping.absent.push_back({*signal, *std::move(because)});
  }
  fields->Finish();
}

std::vector<std::string> ReadNames(FieldReader& top, std::string_view key) {
  std::vector<std::string> names = top.Texts(key).value_or(std::vector<std::string>());
  if (names.size() > kNamesMax) {
    top.Problem(key, fmt::format("has {} names, at most {}", names.size(), kNamesMax));
  }
  return names;
}

}  // namespace

Mapping ReadMapping(std::string_view text, Problems& problems) {
  Mapping mapping;
  const std::optional<ConfigNode> root = ParseDocument(text, problems);
  if (!root.has_value()) return mapping;
  FieldReader top(*root, "", problems);
  if (top.Require("kind", "my-engine")) mapping.kind = top.Text("kind").value_or("");
  mapping.detect = ReadNames(top, "detect");
  mapping.model_label = top.Text("model_label").value_or("");
  mapping.same = ReadNames(top, "same");
  if (std::optional<std::string> name = top.Text("start_time")) mapping.start_time = *name;
  mapping.digits = static_cast<int>(top.Count("digits", 1, 17).value_or(0));
  ReadSignals(top, problems, mapping);
  ReadAbsent(top, mapping);
  top.Finish();
  return mapping;
}

StatusOr<Mapping> ParseMapping(std::string_view text, const std::string& file) {
  Problems problems(file);
  Mapping mapping = ReadMapping(text, problems);
  RETURN_IF_ERROR(problems.ToStatus());
  return mapping;
}

}  // namespace plimsoll
