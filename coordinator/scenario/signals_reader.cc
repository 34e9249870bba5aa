#include "coordinator/scenario/signals_reader.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>

#include "common/config/quantities.h"
#include "coordinator/scenario/scenario_check.h"
#include "coordinator/scenario/url_form.h"
#include "coordinator/signals/builtin_mappings.h"
#include "coordinator/signals/mapping_reader.h"
#include "coordinator/signals/step_readings.h"
#include "fmt/format.h"

namespace plimsoll {
namespace {

// In the order in which targets are listed, everywhere.
constexpr std::array<std::string_view, 3> kSources = {kGatewaySource, kEnginesSource,
                                                      kProductionSource};
constexpr std::string_view kExample =
    "engines: [{url: \"http://engine-0:8000/metrics\", kind: vllm}]";

// A page that comes more often than this is no page of metrics, and a rarer one says nothing of a
// block.
constexpr Duration kEveryMin = 100ms;
constexpr Duration kEveryMax = 5min;
constexpr Duration kTimeoutMax = 1min;

// What is found out about the section as a whole.
struct Context {
  std::string_view folder;
  Problems& problems;
};

std::vector<std::string_view> Kinds() {
  std::vector<std::string_view> kinds;
  for (const EmbeddedText& one : BuiltinMappingTexts()) kinds.push_back(one.name);
  return kinds;
}

void ReadMappingSpec(FieldReader& fields, const Context& context, MappingSpec& mapping) {
  const bool kind = fields.Find("kind") != nullptr;
  const bool file = fields.Find("mapping") != nullptr;
  if (kind == file) {
    fields.Problem("kind", kind ? "names a kind of server and a mapping file, keep one of them"
                                : fmt::format("is missing, write one of {}, or mapping: PATH of a "
                                              "file of your own",
                                              fmt::join(Kinds(), ", ")));
    if (!kind) return;
  }
  const std::vector<std::string_view> kinds = Kinds();
  if (const auto choice = fields.Choice("kind", kinds)) mapping.kind = kinds[*choice];
  if (const auto path = fields.Text("mapping")) mapping.file = ResolvedPath(context.folder, *path);
}

// A variable that holds a token, and the file of certificates.
void ReadAccess(FieldReader& fields, const Context& context, std::string_view url,
                std::string& bearer_env, std::string& ca_file) {
  if (const auto variable = fields.Text("bearer_env")) {
    bearer_env = *variable;
    if (!IsVariableName(bearer_env)) {
      fields.Problem("bearer_env",
                     "is not the name of a variable; write the name, never the token itself");
    }
  }
  if (const auto path = fields.Text("ca_file")) {
    ca_file = ResolvedPath(context.folder, *path);
    if (!url.empty() && !url.starts_with("https://")) {
      fields.Problem("ca_file", "is for https, and the URL is not; take it out");
    }
  }
}

// Empty if there is none, or a wrong one.
std::string ReadUrl(FieldReader& fields, bool query, std::string_view example) {
  if (!fields.Require("url", example)) return {};
  const std::optional<std::string> url = fields.Text("url");
  if (!url.has_value()) return {};
  const std::string_view fault = UrlFault(*url, query);
  if (fault.empty()) return *url;
  fields.Problem("url", fmt::format("{}, write e.g. {}", fault, example));
  return {};
}

SignalTargetSpec ReadPage(FieldReader fields, std::string_view source, const Context& context) {
  SignalTargetSpec target;
  target.source = source;
  target.url = ReadUrl(fields, true, "\"http://engine-0:8000/metrics\"");
  if (!target.url.empty()) target.name = AuthorityOf(target.url);
  ReadMappingSpec(fields, context, target.mapping);
  if (const auto name = fields.Text("name")) target.name = *name;
  if (const auto model = fields.Text("model")) target.model = *model;
  target.where = ReadLabelTests(fields, "where", context.problems);
  ReadAccess(fields, context, target.url, target.bearer_env, target.ca_file);
  fields.Finish();
  return target;
}

PrometheusSourceSpec ReadQueried(FieldReader fields, std::string_view source,
                                 const Context& context) {
  PrometheusSourceSpec queried;
  queried.source = source;
  ReadMappingSpec(fields, context, queried.mapping);
  if (const auto model = fields.Text("model")) queried.model = *model;
  queried.where = ReadLabelTests(fields, "where", context.problems);
  if (auto split = fields.Texts("split")) {
    queried.split = *std::move(split);
    if (queried.split.empty()) fields.Problem("split", "is empty, write e.g. [instance]");
  }
  fields.Finish();
  return queried;
}

// One map or a list of them; each is read by `read`.
template <typename T, typename Read>
void ReadEach(FieldReader& fields, std::string_view key, std::string_view source,
              const Context& context, std::vector<T>& into, const Read& read) {
  const ConfigNode* node = fields.Find(key);
  if (node == nullptr) return;
  const std::string path = fields.PathOf(key);
  if (node->kind != ConfigNode::Kind::kList) {
    into.push_back(read(FieldReader(*node, path, context.problems), source, context));
    return;
  }
  if (node->items.empty()) fields.Problem(key, "is empty, list its pages or take it out");
  for (std::size_t i = 0; i < node->items.size() && i <= kSignalTargetsMax; ++i) {
    into.push_back(
        read(FieldReader(node->items[i], fmt::format("{}[{}]", path, i), context.problems), source,
             context));
  }
}

// Which source a kind that is built in is of.
std::string_view SourceOfKind(std::string_view kind) {
  const bool gateway = kind.starts_with("envoy") || kind == "modelplane";
  return gateway ? kGatewaySource : kEnginesSource;
}

// Without a word on what there is: of every kind that we know, whatever is found.
std::vector<PrometheusSourceSpec> EveryKind() {
  std::vector<PrometheusSourceSpec> sources;
  for (const std::string_view source : kSources) {
    for (const std::string_view kind : Kinds()) {
      if (SourceOfKind(kind) != source) continue;
      PrometheusSourceSpec queried;
      queried.source = source;
      queried.mapping.kind = kind;
      queried.optional = true;
      sources.push_back(std::move(queried));
    }
  }
  return sources;
}

void CheckEvery(FieldReader& fields, Duration every) {
  if (every >= kEveryMin && every <= kEveryMax) return;
  fields.Problem("every", fmt::format("is {}, it must be from {} to {}", PrintDuration(every),
                                      PrintDuration(kEveryMin), PrintDuration(kEveryMax)));
}

void TakeEvery(FieldReader& fields, Duration& every) {
  if (const auto time = fields.Time("every")) {
    every = *time;
    CheckEvery(fields, every);
  }
}

std::optional<PrometheusSpec> ReadPrometheus(FieldReader& signals, const Context& context) {
  const ConfigNode* node = signals.Find("prometheus");
  if (node == nullptr) return std::nullopt;
  PrometheusSpec spec;
  constexpr std::string_view kUrlExample = "\"http://prometheus:9090\"";
  if (node->kind == ConfigNode::Kind::kMap) {
    FieldReader fields(*node, signals.PathOf("prometheus"), context.problems);
    spec.url = ReadUrl(fields, false, kUrlExample);
    TakeEvery(fields, spec.every);
    ReadAccess(fields, context, spec.url, spec.bearer_env, spec.ca_file);
    for (const std::string_view source : kSources) {
      ReadEach(fields, source, source, context, spec.sources, ReadQueried);
    }
    fields.Finish();
  } else if (const auto url = signals.Text("prometheus")) {
    spec.url = *url;
    if (const std::string_view fault = UrlFault(spec.url); !fault.empty()) {
      signals.Problem("prometheus", fmt::format("{}, write e.g. {}", fault, kUrlExample));
    }
  }
  while (spec.url.ends_with('/')) spec.url.pop_back();
  if (spec.sources.empty()) spec.sources = EveryKind();
  return spec;
}

void ReadKvFull(FieldReader& signals, SignalsSpec& spec) {
  std::optional<FieldReader> fields = signals.Map("kv_full");
  if (!fields.has_value()) return;
  if (const auto fill = fields->Share("fill")) {
    spec.kv_full = *fill;
    if (*fill <= 0) fields->Problem("fill", "is always reached, write e.g. 95%");
  }
  if (const auto time = fields->Time("for")) {
    spec.kv_full_for = *time;
    if (*time > kPhaseMax) fields->Problem("for", "is longer than any step, write e.g. 30s");
  }
  fields->Finish();
}

void ReadDrain(FieldReader& signals, SignalsSpec& spec) {
  std::optional<FieldReader> fields = signals.Map("drain");
  if (!fields.has_value()) return;
  if (const auto within = fields->Time("within")) {
    spec.drain_within = *within;
    if (*within > kPhaseMax) {
      fields->Problem("within", fmt::format("is {}, it must be at most {}", PrintDuration(*within),
                                            PrintDuration(kPhaseMax)));
    }
  }
  if (const auto tolerance = fields->Share("tolerance")) spec.drain_tolerance = *tolerance;
  fields->Finish();
}

// Names tell targets apart, in words and in what is kept.
void CheckNames(FieldReader& fields, const SignalsSpec& spec) {
  std::set<std::pair<std::string, std::string>> seen;
  for (const SignalTargetSpec& target : spec.targets) {
    if (target.name.empty() || seen.insert({target.source, target.name}).second) continue;
    fields.Problem(target.source,
                   fmt::format("has two pages named {}, give each a name of its own: name: TEXT",
                               target.name));
  }
  if (spec.targets.size() > kSignalTargetsMax) {
    fields.Problem("engines", fmt::format("and the others are {} pages, at most {} are possible",
                                          spec.targets.size(), kSignalTargetsMax));
  }
}

}  // namespace

void ReadProductionPages(FieldReader& section, std::string_view folder, Problems& problems,
                         SignalsSpec& spec) {
  const Context context{folder, problems};
  for (const std::string_view key : {kGatewaySource, kEnginesSource}) {
    ReadEach(section, key, kProductionSource, context, spec.targets, ReadPage);
  }
  std::set<std::string> names;
  for (const SignalTargetSpec& target : spec.targets) {
    if (target.source != kProductionSource || target.name.empty()) continue;
    if (names.insert(target.name).second) continue;
    section.Problem("engines", fmt::format("and the others are two pages of production named {}, "
                                           "give each a name of its own: name: TEXT",
                                           target.name));
  }
  if (spec.targets.size() > kSignalTargetsMax) {
    section.Problem("engines", fmt::format("and the others are {} pages, at most {} are possible",
                                           spec.targets.size(), kSignalTargetsMax));
  }
}

void ReadSignals(FieldReader& top, std::string_view folder, Problems& problems,
                 std::optional<SignalsSpec>& signals) {
  std::optional<FieldReader> fields = top.Map("signals");
  if (!fields.has_value()) return;
  const Context context{folder, problems};
  SignalsSpec spec;
  for (const std::string_view source : kSources) {
    ReadEach(*fields, source, source, context, spec.targets, ReadPage);
  }
  spec.prometheus = ReadPrometheus(*fields, context);
  if (spec.targets.empty() && !spec.prometheus.has_value() && !problems.Touches("signals")) {
    top.Problem("signals", fmt::format("name no server, write e.g. {}", kExample));
  }
  TakeEvery(*fields, spec.every);
  if (const auto timeout = fields->Time("timeout")) {
    spec.timeout = *timeout;
    if (*timeout < kEveryMin || *timeout > kTimeoutMax) {
      fields->Problem("timeout",
                      fmt::format("is {}, it must be from {} to {}", PrintDuration(*timeout),
                                  PrintDuration(kEveryMin), PrintDuration(kTimeoutMax)));
    }
  }
  if (const auto judge = fields->Choice("judge", kJudgeModeNames)) {
    spec.judge = static_cast<JudgeMode>(*judge);
  }
  ReadKvFull(*fields, spec);
  ReadDrain(*fields, spec);
  CheckNames(*fields, spec);
  fields->Finish();
  signals = std::move(spec);
}

}  // namespace plimsoll
