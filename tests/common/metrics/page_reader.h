// Reads a /metrics page as a Prometheus server does, and says what is wrong with it.
#pragma once

#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "gtest/gtest.h"

namespace plimsoll::testing {

struct MetricsRead {
  std::map<std::string, double> samples;  // "name{a="b"}" to value.
  std::map<std::string, std::string> help;
  std::map<std::string, std::string> type;
};

// Every line is a HELP, a TYPE or a sample of a series that has both; no sample comes twice;
// counters end in _total, and nothing else does.
inline MetricsRead ReadMetrics(const std::string& page) {
  static const std::regex kComment(R"(# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+))");
  static const std::regex kSample(
      R"re(([a-zA-Z_:][a-zA-Z0-9_:]*)(\{([a-z_]+="([^"\\\n]|\\.)*",?)+\})? (\S+))re");
  MetricsRead read;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_match(line, match, kComment)) {
      auto& texts = match[1] == "HELP" ? read.help : read.type;
      EXPECT_TRUE(texts.emplace(match[2], match[3]).second) << "said twice: " << line;
    } else if (std::regex_match(line, match, kSample)) {
      const std::string name = match[1];
      EXPECT_TRUE(read.help.contains(name) && read.type.contains(name)) << line;
      const bool counter = read.type[name] == "counter";
      EXPECT_EQ(counter, name.ends_with("_total")) << line;
      std::size_t used = 0;
      const std::string number = match[5];
      const double value = std::stod(number, &used);
      EXPECT_EQ(used, number.size()) << line;
      EXPECT_TRUE(read.samples.emplace(name + std::string(match[2]), value).second) << line;
    } else {
      ADD_FAILURE() << "neither comment nor sample: " << line;
    }
  }
  EXPECT_TRUE(page.empty() || page.back() == '\n');
  return read;
}

}  // namespace plimsoll::testing
