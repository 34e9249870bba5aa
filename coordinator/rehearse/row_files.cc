#include "coordinator/rehearse/row_files.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace plimsoll::rehearse {
namespace {

// Plain search, since a value may bring the mark in again.
std::string Replaced(std::string text, std::string_view mark, const std::string& by) {
  for (std::size_t at = text.find(mark); at != std::string::npos;
       at = text.find(mark, at + by.size())) {
    text.replace(at, mark.size(), by);
  }
  return text;
}

Settings Joined(const Settings& common, const Settings& more) {
  Settings all = common;
  for (const auto& setting : more) {
    const auto same = std::find_if(all.begin(), all.end(),
                                   [&](const auto& one) { return one.first == setting.first; });
    same == all.end() ? all.push_back(setting) : void(same->second = setting.second);
  }
  return all;
}

std::string Filled(const Settings& settings, const Row& row, const Places& places) {
  std::string text = YamlOf(settings);
  const std::string root = places.url.substr(0, places.url.rfind('/'));
  text = Replaced(std::move(text), "{url}", places.url);
  text = Replaced(std::move(text), "{root}", root);
  text = Replaced(std::move(text), "{folder}", places.folder);
  return Replaced(std::move(text), "{name}", row.name);
}

}  // namespace

const Settings& CommonGateway() {
  static const Settings settings = {
      {"listen", "{host: 127.0.0.1, port: 0}"},
      {"metrics", "[vllm, envoy]"},
      {"stats_flush", "200ms"},
      {"engine.copies", "2"},
      {"engine.prefill_tokens_per_s", "200000"},
      {"engine.prefill_base", "70ms"},
      {"engine.decode_tokens_per_s", "200"},
      {"engine.decode_slowdown", "0"},
      {"noise", "{call_sigma: 0.1, session_sigma: 0.1, drift_sigma: 0, cold_share: 0}"},
  };
  return settings;
}

const Settings& CommonScenario() {
  static const Settings settings = {
      {"name", "{name}"},
      {"target.url", "{url}"},
      {"target.model", "plimsoll-rehearsal"},
      {"target.affinity", "{play: X-Session-ID}"},
      {"target.connect_timeout", "2s"},
      {"target.idle_timeout", "10s"},
      {"target.call_deadline", "20s"},
      {"corpus", "{synthetic: agentx, seed: 1, heavy: 0, light: 8, scale: 40}"},
      {"mix", "{light: 100%}"},
      {"sweep.sessions", "[6]"},
      {"sweep.target", "6"},
      {"sweep.warm_up", "1s"},
      {"sweep.measure", "5s"},
      {"sweep.block", "1s"},
      {"sweep.drain_limit", "3s"},
      {"sweep.prime_limit", "1s"},
      {"sweep.extend", "off"},
      {"sweep.fail_early", "off"},
      {"bar", "{ttft_p50: 5s, interactivity_p50: 10 tok/s, errors: 10%}"},
      {"fleet", "{local: 1}"},
      {"replay", "{output: {tokens: 10}}"},
      {"failure", "{back_off_min: 100ms, back_off_max: 200ms}"},
      {"seed", "7"},
  };
  return settings;
}

std::string YamlOf(const Settings& settings) {
  std::string text;
  Settings left = settings;
  while (!left.empty()) {
    const std::string first = left.front().first;
    const std::size_t dot = first.find('.');
    if (dot == std::string::npos) {
      text += fmt::format("{}: {}\n", first, left.front().second);
      left.erase(left.begin());
      continue;
    }
    const std::string top = first.substr(0, dot + 1);
    text += fmt::format("{}:\n", first.substr(0, dot));
    for (const auto& [key, value] : left) {
      if (key.starts_with(top)) text += fmt::format("  {}: {}\n", key.substr(dot + 1), value);
    }
    std::erase_if(left, [&](const auto& one) { return one.first.starts_with(top); });
  }
  return text;
}

std::string GatewayText(const Row& row, const Places& places) {
  return Filled(Joined(CommonGateway(), row.gateway), row, places);
}

std::string ScenarioText(const Row& row, const Places& places) {
  return Filled(Joined(CommonScenario(), row.scenario), row, places);
}

}  // namespace plimsoll::rehearse
