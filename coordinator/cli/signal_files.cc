#include "coordinator/cli/signal_files.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "coordinator/cli/corpus_files.h"
#include "coordinator/signals/builtin_mappings.h"
#include "coordinator/signals/mapping_reader.h"
#include "coordinator/store/page_codec.h"

namespace plimsoll {
namespace {

struct ReadMappingFile {
  std::shared_ptr<const Mapping> mapping;
  std::string text;  // Empty: built in.
};

// Each mapping once, however many targets are read by it.
class Mappings {
 public:
  StatusOr<ReadMappingFile> Get(const MappingSpec& spec) {
    const std::string key = spec.file.empty() ? spec.kind : "file " + spec.file;
    const auto found = read_.find(key);
    if (found != read_.end()) return found->second;
    ReadMappingFile one;
    if (spec.file.empty()) {
      ASSIGN_OR_RETURN(Mapping mapping, BuiltinMapping(spec.kind));
      one.mapping = std::make_shared<const Mapping>(std::move(mapping));
    } else {
      auto text = ReadWholeFile(spec.file, kMappingBytesMax);
      if (!text.ok()) {
        return absl::InvalidArgumentError(
            fmt::format("signals: mapping {}: {}; paths are relative to the scenario's folder",
                        spec.file, MessageOf(text.status())));
      }
      one.text = *std::move(text);
      ASSIGN_OR_RETURN(Mapping mapping, ParseMapping(one.text, spec.file));
      one.mapping = std::make_shared<const Mapping>(std::move(mapping));
    }
    read_.emplace(key, one);
    return one;
  }

 private:
  std::map<std::string, ReadMappingFile> read_;
};

Status ReadToken(const std::string& what, const std::string& variable, const std::string& ca_file,
                 std::string* token) {
  if (!ca_file.empty() && ::access(ca_file.c_str(), R_OK) != 0) {
    return absl::NotFoundError(
        fmt::format("signals: {}: ca_file {}: cannot be read: {}; check the path on this machine",
                    what, ca_file, std::strerror(errno)));
  }
  if (variable.empty()) return absl::OkStatus();
  const char* value = std::getenv(variable.c_str());
  if (value == nullptr || *value == '\0') {
    return absl::NotFoundError(
        fmt::format("signals: the token of {} is not here: set {} in the environment of this "
                    "process",
                    what, variable));
  }
  *token = value;
  return absl::OkStatus();
}

}  // namespace

StatusOr<ScrapePlan> MakeScrapePlan(const SignalsSpec& signals) {
  Mappings mappings;
  ScrapePlan plan{.every = signals.every, .timeout = signals.timeout};
  for (const SignalTargetSpec& target : signals.targets) {
    ASSIGN_OR_RETURN(const ReadMappingFile read, mappings.Get(target.mapping));
    plan.pages.push_back({.source = target.source,
                          .name = target.name,
                          .url = target.url,
                          .bearer_token = "",
                          .ca_file = target.ca_file,
                          .mapping = read.mapping,
                          .mapping_text = read.text,
                          .filter = {.model = target.model, .where = target.where}});
  }
  if (!signals.prometheus.has_value()) return plan;
  plan.prometheus_every = signals.prometheus->every;
  PrometheusTarget prometheus{.url = signals.prometheus->url,
                              .bearer_token = "",
                              .ca_file = signals.prometheus->ca_file,
                              .sources = {}};
  for (const PrometheusSourceSpec& source : signals.prometheus->sources) {
    ASSIGN_OR_RETURN(const ReadMappingFile read, mappings.Get(source.mapping));
    prometheus.sources.push_back({.source = source.source,
                                  .mapping = read.mapping,
                                  .mapping_text = read.text,
                                  .filter = {.model = source.model, .where = {}},
                                  .where = source.where,
                                  .split = source.split,
                                  .optional = source.optional});
  }
  plan.prometheus = std::move(prometheus);
  return plan;
}

Status ReadSignalTokens(const SignalsSpec& signals, ScrapePlan* plan) {
  for (std::size_t i = 0; i < signals.targets.size(); ++i) {
    const SignalTargetSpec& target = signals.targets[i];
    RETURN_IF_ERROR(ReadToken(fmt::format("{} of {}", target.name, target.source),
                              target.bearer_env, target.ca_file, &plan->pages[i].bearer_token));
  }
  if (!signals.prometheus.has_value()) return absl::OkStatus();
  return ReadToken("prometheus", signals.prometheus->bearer_env, signals.prometheus->ca_file,
                   &plan->prometheus->bearer_token);
}

}  // namespace plimsoll
