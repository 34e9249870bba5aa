// nlohmann's JSON values, read and written where speed does not matter. Include this, not
// nlohmann's own header: the class and its parser are instantiated once, in json.cc, and not in
// each file.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

extern template class nlohmann::basic_json<>;
extern template nlohmann::json nlohmann::json::parse(const std::string&,
                                                     nlohmann::json::parser_callback_t, bool, bool);
extern template nlohmann::json nlohmann::json::parse(std::string&,
                                                     nlohmann::json::parser_callback_t, bool, bool);
extern template nlohmann::json nlohmann::json::parse(std::string&&,
                                                     nlohmann::json::parser_callback_t, bool, bool);
extern template nlohmann::json nlohmann::json::parse(const std::string_view&,
                                                     nlohmann::json::parser_callback_t, bool, bool);
extern template nlohmann::json nlohmann::json::parse(std::string_view&,
                                                     nlohmann::json::parser_callback_t, bool, bool);
