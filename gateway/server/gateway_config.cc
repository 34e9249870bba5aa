#include "gateway/server/gateway_config.h"

#include <charconv>
#include <cmath>
#include <exception>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

namespace plimsoll {
namespace {

std::optional<double> NumberOf(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return {};
  return value;
}

std::optional<Duration> DurationOf(std::string_view text) {
  const std::size_t unit_at = text.find_last_of("0123456789.") + 1;
  if (unit_at == 0) return {};
  const std::optional<double> number = NumberOf(text.substr(0, unit_at));
  const std::string_view unit = text.substr(unit_at);
  const double scale = unit == "ms"  ? 1e-3
                       : unit == "s" ? 1
                       : unit == "m" ? 60
                       : unit == "h" ? 3600
                                     : 0;
  if (!number || scale == 0 || *number < 0 || *number * scale > 1e8) return {};
  return FromSeconds(*number * scale);
}

// Reads one mapping key by key, and keeps the problems instead of stopping at the first.
class Reader {
 public:
  explicit Reader(std::string_view file) : file_(file) {}

  void Problem(const YAML::Node& at, std::string_view path, std::string_view what) {
    problems_ += fmt::format("{}{}:{}: {}: {}", problems_.empty() ? "" : "\n", file_,
                             at.Mark().line + 1, path, what);
  }
  const std::string& problems() const { return problems_; }

  using Setter = std::function<void(const YAML::Node& value, const std::string& path)>;
  struct Key {
    std::string_view name;
    Setter set;
  };
  void Mapping(const YAML::Node& node, const std::string& path, const std::vector<Key>& keys) {
    if (!node.IsMap()) return Problem(node, path, "expected a mapping");
    for (const auto& entry : node) {
      const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : "?";
      const std::string below = path.empty() ? name : fmt::format("{}.{}", path, name);
      bool known = false;
      for (const Key& key : keys) {
        if (key.name != name) continue;
        key.set(entry.second, below);
        known = true;
      }
      if (!known) {
        std::string names;
        for (const Key& key : keys)
          names += fmt::format("{}{}", names.empty() ? "" : ", ", key.name);
        Problem(entry.first, below, fmt::format("unknown key; known here: {}", names));
      }
    }
  }

  template <typename Number>
  Setter To(Number* to, double least, double most) {
    return [=, this](const YAML::Node& value, const std::string& path) {
      const auto number = value.IsScalar() ? NumberOf(value.Scalar()) : std::nullopt;
      const bool whole = std::is_integral_v<Number>;
      if (!number || (whole && *number != std::floor(*number))) {
        return Problem(value, path, whole ? "expected a whole number" : "expected a number");
      }
      if (*number < least || *number > most) {
        return Problem(value, path, fmt::format("expected {} to {}", least, most));
      }
      *to = static_cast<Number>(*number);
    };
  }
  Setter To(std::string* to) {
    return [=, this](const YAML::Node& value, const std::string& path) {
      if (!value.IsScalar() || value.Scalar().empty()) {
        return Problem(value, path, "expected a text");
      }
      *to = value.Scalar();
    };
  }
  Setter To(bool* to) {
    return [=, this](const YAML::Node& value, const std::string& path) {
      const std::string text = value.IsScalar() ? value.Scalar() : "";
      if (text != "true" && text != "false") return Problem(value, path, "expected true or false");
      *to = text == "true";
    };
  }
  Setter To(Duration* to) {
    return [=, this](const YAML::Node& value, const std::string& path) {
      const auto duration = value.IsScalar() ? DurationOf(value.Scalar()) : std::nullopt;
      if (!duration) return Problem(value, path, "expected a duration such as 250ms, 20s or 2m");
      *to = *duration;
    };
  }

 private:
  std::string_view file_;
  std::string problems_;
};

void ReadEngine(Reader& r, const YAML::Node& node, const std::string& path, EngineConfig* e) {
  Duration base = FromSeconds(e->prefill_base_s);
  r.Mapping(node, path,
            {{"copies", r.To(&e->copies, 1, 256)},
             {"running_max", r.To(&e->running_max, 1, 1e6)},
             {"prefill_tokens_per_s", r.To(&e->prefill_tokens_per_s, 1, 1e9)},
             {"prefill_base", r.To(&base)},
             {"decode_tokens_per_s", r.To(&e->decode_tokens_per_s, 1, 1e6)},
             {"decode_slowdown", r.To(&e->decode_slowdown, 0, 1000)},
             {"decode_during_prefill", r.To(&e->decode_during_prefill, 0, 1)},
             {"kv_blocks", r.To(&e->kv_blocks, 1, 1e8)},
             {"prefix_cache", r.To(&e->prefix_cache)}});
  e->prefill_base_s = ToSeconds(base);
}

void ReadNoise(Reader& r, const YAML::Node& node, const std::string& path, NoiseConfig* n) {
  r.Mapping(node, path,
            {{"call_sigma", r.To(&n->call_sigma, 0, 3)},
             {"session_sigma", r.To(&n->session_sigma, 0, 3)},
             {"drift_sigma", r.To(&n->drift_sigma, 0, 3)},
             {"drift_time", r.To(&n->drift_time)},
             {"cold_share", r.To(&n->cold_share, 0, 1)},
             {"cold_factor", r.To(&n->cold_factor, 0.01, 1000)}});
}

constexpr std::pair<std::string_view, FaultKind> kKinds[] = {
    {"refuse", FaultKind::kRefuse},     {"error_after_200", FaultKind::kErrorAfter200},
    {"truncate", FaultKind::kTruncate}, {"crash", FaultKind::kCrash},
    {"html", FaultKind::kHtml},         {"bad_tool_calls", FaultKind::kBadToolCalls}};

void ReadFault(Reader& r, const YAML::Node& node, const std::string& path, FaultRule* rule) {
  std::string kind;
  std::string from = "start";
  r.Mapping(node, path,
            {{"kind", r.To(&kind)},
             {"at", r.To(&rule->at)},
             {"for", r.To(&rule->span)},
             {"from", r.To(&from)},
             {"probability", r.To(&rule->probability, 0, 1)},
             {"status", r.To(&rule->status, 400, 599)},
             {"retry_after", r.To(&rule->retry_after)},
             {"after_tokens", r.To(&rule->after_tokens, 0, 1e6)}});
  bool known = false;
  for (const auto& [name, value] : kKinds) {
    if (name == kind) {
      rule->kind = value;
      known = true;
    }
  }
  if (!known) {
    r.Problem(node, path + ".kind",
              fmt::format("'{}' is not a fault; expected refuse, error_after_200, truncate, crash, "
                          "html or bad_tool_calls",
                          kind));
  }
  if (from != "start" && from != "first_request") {
    r.Problem(node, path + ".from", "expected start or first_request");
  }
  if (kind == "html" && rule->probability < 1) {
    r.Problem(node, path + ".probability", "html answers every request of its time");
  }
  rule->from_first_request = from == "first_request";
}

void ReadFaults(Reader& r, const YAML::Node& node, const std::string& path, GatewayConfig* config) {
  if (!node.IsSequence()) return r.Problem(node, path, "expected a list");
  for (std::size_t i = 0; i < node.size(); ++i) {
    ReadFault(r, node[i], fmt::format("{}[{}]", path, i), &config->faults.emplace_back());
  }
}

void ReadSwitches(Reader& r, const YAML::Node& node, const std::string& path,
                  OutputSwitches* switches) {
  const std::string word = node.IsScalar() ? node.Scalar() : "";
  if (word == "honour") {
    *switches = OutputSwitches::kHonour;
  } else if (word == "ignore") {
    *switches = OutputSwitches::kIgnore;
  } else if (word == "reject") {
    *switches = OutputSwitches::kReject;
  } else {
    r.Problem(node, path, "expected honour, ignore or reject");
  }
}

void ReadTemplate(Reader& r, const YAML::Node& node, const std::string& path,
                  GatewayConfig* config) {
  r.Mapping(node, path,
            {{"request_tokens", r.To(&config->template_request_tokens, 0, 1e6)},
             {"message_tokens", r.To(&config->template_message_tokens, 0, 1e6)},
             {"tokens_per_word", r.To(&config->tokens_per_word, 0.01, 100)}});
}

void ReadAll(Reader& r, const YAML::Node& root, GatewayConfig* config) {
  bool html = false;
  const auto listen = [&](const YAML::Node& node, const std::string& path) {
    r.Mapping(node, path, {{"host", r.To(&config->host)}, {"port", r.To(&config->port, 0, 65535)}});
  };
  r.Mapping(
      root, "",
      {{"listen", listen},
       {"prefix", r.To(&config->prefix)},
       {"model", r.To(&config->model)},
       {"context_limit", r.To(&config->context_limit, 1, 1e8)},
       {"output_natural", r.To(&config->output_natural, 1, 1e7)},
       {"stop_probability", r.To(&config->stop_probability, 0, 0.999)},
       {"output_switches",
        [&](const auto& n, const auto& p) { ReadSwitches(r, n, p, &config->output_switches); }},
       {"tool_call_probability", r.To(&config->tool_call_probability, 0, 1)},
       {"template", [&](const auto& n, const auto& p) { ReadTemplate(r, n, p, config); }},
       {"seed", r.To(&config->seed, 0, 9e15)},
       {"engine", [&](const auto& n, const auto& p) { ReadEngine(r, n, p, &config->engine); }},
       {"noise", [&](const auto& n, const auto& p) { ReadNoise(r, n, p, &config->engine.noise); }},
       {"faults", [&](const auto& n, const auto& p) { ReadFaults(r, n, p, config); }},
       {"html", r.To(&html)}});
  if (html) config->faults.push_back({.kind = FaultKind::kHtml});
  if (config->prefix.front() != '/' || config->prefix.back() == '/') {
    r.Problem(root, "prefix", "expected a path such as /v1");
  }
}

}  // namespace

// yaml-cpp throws; nothing of it leaves this file.
StatusOr<GatewayConfig> ParseGatewayConfig(std::string_view yaml, std::string_view file) {
  GatewayConfig config;
  try {
    const YAML::Node root = YAML::Load(std::string(yaml));
    if (root.IsNull()) return config;
    Reader reader(file);
    ReadAll(reader, root, &config);
    if (!reader.problems().empty()) return absl::InvalidArgumentError(reader.problems());
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(
        fmt::format("{}:{}: {}", file, error.mark.line + 1, error.msg));
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(fmt::format("{}: {}", file, error.what()));
  }
  return config;
}

StatusOr<GatewayConfig> LoadGatewayConfig(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return absl::NotFoundError(fmt::format("{}: cannot be read", file));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (in.bad()) return absl::NotFoundError(fmt::format("{}: cannot be read", file));
  return ParseGatewayConfig(text, file);
}

}  // namespace plimsoll
