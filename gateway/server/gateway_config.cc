#include "gateway/server/gateway_config.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/config/document.h"
#include "common/config/field_reader.h"
#include "gateway/engine/engine.h"
#include "gateway/faults/fault_reader.h"

namespace plimsoll {
namespace {

template <typename From, typename To>
void Take(const std::optional<From>& from, To& to) {
  if (from.has_value()) to = static_cast<To>(*from);
}

void ReadListen(FieldReader& top, GatewayConfig* config) {
  std::optional<FieldReader> fields = top.Map("listen");
  if (!fields) return;
  Take(fields->Text("host"), config->host);
  Take(fields->Count("port", 0, 65'535), config->port);
  fields->Finish();
}

void ReadEngine(FieldReader& top, EngineConfig* e) {
  std::optional<FieldReader> fields = top.Map("engine");
  if (!fields) return;
  Take(fields->Count("copies", 1, Engine::kCopiesMax), e->copies);
  Take(fields->Count("running_max", 1, 1'000'000), e->running_max);
  Take(fields->Number("prefill_tokens_per_s", 1, 1e9), e->prefill_tokens_per_s);
  if (const auto base = fields->Time("prefill_base")) e->prefill_base_s = ToSeconds(*base);
  Take(fields->Number("decode_tokens_per_s", 1, 1e6), e->decode_tokens_per_s);
  Take(fields->Number("decode_slowdown", 0, 1000), e->decode_slowdown);
  Take(fields->Fraction("decode_during_prefill"), e->decode_during_prefill);
  Take(fields->Count("kv_blocks", 1, 100'000'000), e->kv_blocks);
  Take(fields->Flag("prefix_cache"), e->prefix_cache);
  fields->Finish();
}

void ReadNoise(FieldReader& top, NoiseConfig* n) {
  std::optional<FieldReader> fields = top.Map("noise");
  if (!fields) return;
  Take(fields->Number("call_sigma", 0, 3), n->call_sigma);
  Take(fields->Number("session_sigma", 0, 3), n->session_sigma);
  Take(fields->Number("drift_sigma", 0, 3), n->drift_sigma);
  Take(fields->Time("drift_time"), n->drift_time);
  Take(fields->Fraction("cold_share"), n->cold_share);
  Take(fields->Number("cold_factor", 0.01, 1000), n->cold_factor);
  fields->Finish();
}

void ReadTemplate(FieldReader& top, GatewayConfig* config) {
  std::optional<FieldReader> fields = top.Map("template");
  if (!fields) return;
  Take(fields->Count("request_tokens", 0, 1'000'000), config->template_request_tokens);
  Take(fields->Count("message_tokens", 0, 1'000'000), config->template_message_tokens);
  Take(fields->Number("tokens_per_word", 0.01, 100), config->tokens_per_word);
  fields->Finish();
}

// How long answers are, and what is in them.
void ReadAnswers(FieldReader& top, GatewayConfig* config) {
  Take(top.Count("output_natural", 1, 10'000'000), config->output_natural);
  Take(top.Number("stop_probability", 0, 0.999), config->stop_probability);
  constexpr std::array<std::string_view, 3> kSwitches = {"honour", "ignore", "reject"};
  if (const auto choice = top.Choice("output_switches", kSwitches)) {
    config->output_switches = *choice == 0   ? OutputSwitches::kHonour
                              : *choice == 1 ? OutputSwitches::kIgnore
                                             : OutputSwitches::kReject;
  }
  Take(top.Fraction("tool_call_probability"), config->tool_call_probability);
  ReadTemplate(top, config);
}

// One kind, or a list of them.
void ReadMetrics(FieldReader& top, GatewayConfig* config) {
  const ConfigNode* const node = top.Find("metrics");
  if (node == nullptr) return;
  std::vector<MetricKind> kinds;
  if (node->kind == ConfigNode::Kind::kList) {
    const auto names = top.Texts("metrics");
    if (!names) return;
    for (const std::string& name : *names) {
      const auto kind = MetricKindNamed(name);
      if (!kind) {
        return top.Problem("metrics", fmt::format("\"{}\" is none of {}", name,
                                                  fmt::join(kMetricKindNames, ", ")));
      }
      kinds.push_back(*kind);
    }
  } else if (const auto choice = top.Choice("metrics", kMetricKindNames)) {
    kinds.push_back(static_cast<MetricKind>(*choice));
  } else {
    return;
  }
  if (kinds.empty()) return top.Problem("metrics", "is empty, write e.g. [vllm, envoy]");
  if (std::count_if(kinds.begin(), kinds.end(), IsEngine) > 1) {
    return top.Problem("metrics", "names several engines, which are all alike: name one");
  }
  config->metrics = std::move(kinds);
}

void ReadAll(const ConfigNode& root, Problems& problems, GatewayConfig* config) {
  FieldReader top(root, "", problems);
  ReadListen(top, config);
  Take(top.Text("prefix"), config->prefix);
  if (config->prefix.front() != '/' || config->prefix.back() == '/') {
    top.Problem("prefix", "must be a path such as /v1");
  }
  Take(top.Text("model"), config->model);
  Take(top.Count("context_limit", 1, 100'000'000), config->context_limit);
  ReadAnswers(top, config);
  ReadMetrics(top, config);
  Take(top.Time("stats_flush"), config->stats_flush);
  Take(top.Count("retries", 0, 10), config->retries);
  Take(top.Text("answers"), config->answers_file);
  Take(top.Count("seed", 0, std::numeric_limits<std::uint64_t>::max()), config->seed);
  ReadEngine(top, &config->engine);
  ReadNoise(top, &config->engine.noise);
  config->faults = ReadFaults(top, config->engine.copies, problems);
  if (top.Flag("html").value_or(false)) config->faults.push_back({.kind = FaultKind::kHtml});
  top.Finish();
}

}  // namespace

StatusOr<GatewayConfig> ParseGatewayConfig(std::string_view yaml, std::string_view file) {
  GatewayConfig config;
  Problems problems{std::string(file)};
  const std::optional<ConfigNode> root = ParseDocument(yaml, problems);
  if (root && root->kind != ConfigNode::Kind::kNull) ReadAll(*root, problems, &config);
  RETURN_IF_ERROR(problems.ToStatus());
  return config;
}

StatusOr<GatewayConfig> LoadGatewayConfig(const std::string& file) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) {
    return absl::NotFoundError(fmt::format("{}: is a folder, name the file in it", file));
  }
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    return absl::NotFoundError(
        fmt::format("{}: cannot be read: {}; check the path", file, std::strerror(errno)));
  }
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (in.bad()) return absl::NotFoundError(fmt::format("{}: cannot be read", file));
  ASSIGN_OR_RETURN(GatewayConfig config, ParseGatewayConfig(text, file));
  if (!config.answers_file.empty()) {
    const auto path = std::filesystem::path(file).parent_path() / config.answers_file;
    ASSIGN_OR_RETURN(config.answers, AnswerBook::Load(path.string()));
  }
  return config;
}

}  // namespace plimsoll
