// A row's files: the gateway's configuration and the scenario, from the common ones and what the
// row changes; pure.
#pragma once

#include <string>
#include <string_view>

#include "coordinator/rehearse/row.h"

namespace plimsoll::rehearse {

// What stands for itself in settings' values.
struct Places {
  std::string url;     // "http://127.0.0.1:40123/v1"
  std::string folder;  // Absolute, without a slash at its end.
};

// The common settings, small and quick: one light tier, two copies of an engine nearly without
// noise, five measured seconds.
const Settings& CommonGateway();
const Settings& CommonScenario();

// YAML of the common settings with the row's.
std::string GatewayText(const Row& row, const Places& places);
std::string ScenarioText(const Row& row, const Places& places);

// YAML of settings: top-level keys in the order of their first mention, those with a dot below
// them.
std::string YamlOf(const Settings& settings);

}  // namespace plimsoll::rehearse
