#include "coordinator/scrape/prometheus_pages.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "fmt/format.h"

namespace plimsoll {
namespace {

constexpr std::string_view kUp = "up";
constexpr std::string_view kTook = "scrape_duration_seconds";

// In a regular expression (RE2's) inside a quoted text: both take backslashes away.
std::string RegexText(std::string_view text) {
  constexpr std::string_view kSpecial = R"(\.+*?()|[]{}^$)";
  std::string out;
  for (const char c : text) {
    if (kSpecial.find(c) != std::string_view::npos) out += "\\\\";
    if (c == '\\' || c == '"') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

std::string AnyOf(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) {
    if (!out.empty()) out += '|';
    out += RegexText(text);
  }
  return out;
}

std::string MatcherOf(const LabelTest& test) {
  switch (test.op) {
    case LabelTest::Op::kIn:
      return fmt::format("{}=~\"{}\"", test.label, AnyOf(test.values));
    case LabelTest::Op::kNotIn:
      return fmt::format("{}!~\"{}\"", test.label, AnyOf(test.values));
    case LabelTest::Op::kPrefix:
      return fmt::format("{}=~\"({}).*\"", test.label, AnyOf(test.values));
  }
  return {};
}

// As a label's value stands on a page.
void AppendQuoted(std::string_view value, std::string& out) {
  out += '"';
  for (const char c : value) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  out += '"';
}

std::string_view LabelOf(const PrometheusSeries& series, std::string_view name) {
  const auto found = std::find_if(series.labels.begin(), series.labels.end(),
                                  [name](const auto& label) { return label.first == name; });
  return found == series.labels.end() ? std::string_view() : std::string_view(found->second);
}

// "name{a=\"1\"} ", all of a line but the value.
std::string LineOf(std::string_view name, const PrometheusSeries& series) {
  std::string line(name);
  char before = '{';
  for (const auto& [label, value] : series.labels) {
    if (label == "__name__") continue;
    line += before;
    line += label;
    line += '=';
    AppendQuoted(value, line);
    before = ',';
  }
  line += before == ',' ? "} " : " ";
  return line;
}

std::string TargetOf(const PrometheusSeries& series, const std::vector<std::string>& split) {
  std::string target;
  for (const std::string& label : split) {
    const std::string_view value = LabelOf(series, label);
    if (value.empty()) continue;
    if (!target.empty()) target += '/';
    target += value;
  }
  return target;
}

}  // namespace

std::vector<std::string> SeriesNames(const Mapping& mapping) {
  std::set<std::string> names;
  const auto add = [&names](const std::vector<Alternative>& any, bool histogram) {
    for (const Alternative& one : any) {
      if (histogram) {
        for (const char* suffix : {"_bucket", "_count", "_sum"}) names.insert(one.name + suffix);
        continue;
      }
      names.insert(one.name);
      names.insert(one.plus.begin(), one.plus.end());
    }
  };
  for (const SignalMapping& signal : mapping.signals) {
    add(signal.any, TraitsOf(signal.signal).kind == SignalKind::kHistogram);
    add(signal.to, false);
  }
  if (!mapping.start_time.empty()) names.insert(mapping.start_time);
  return {names.begin(), names.end()};
}

std::string PagesQuery(const std::vector<std::string>& names, const std::vector<LabelTest>& where,
                       Duration window) {
  std::string query =
      fmt::format("{{__name__=~\"{}|{}|{}\"", AnyOf(names), RegexText(kUp), RegexText(kTook));
  for (const LabelTest& test : where) query += "," + MatcherOf(test);
  const auto seconds = static_cast<std::int64_t>(std::ceil(ToSeconds(window)));
  return query + fmt::format("}}[{}s]", std::max<std::int64_t>(seconds, 1));
}

std::string QueryBody(std::string_view query) {
  std::string body = "query=";
  for (const char c : query) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    if (plain) {
      body += c;
    } else {
      body += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return body;
}

std::map<std::string, std::vector<PrometheusPage>> PagesIn(
    const std::vector<PrometheusSeries>& series, const std::vector<std::string>& split) {
  struct Parts {
    PrometheusPage page;
    std::vector<std::string> lines;
  };
  std::map<std::string, std::map<WallTime, Parts>> targets;
  for (const PrometheusSeries& one : series) {
    const std::string_view name = LabelOf(one, "__name__");
    if (name.empty()) continue;
    std::map<WallTime, Parts>& instants = targets[TargetOf(one, split)];
    const std::string line = LineOf(name, one);
    for (const PrometheusPoint& point : one.points) {
      Parts& parts = instants[point.at];
      const double value = NumberIn(point.text);
      if (name == kUp) {
        parts.page.up = value > 0;
      } else if (name == kTook) {
        if (value > 0 && value < 3600) parts.page.took = FromSeconds(value);
      } else {
        parts.lines.push_back(line + point.text + "\n");
      }
    }
  }
  std::map<std::string, std::vector<PrometheusPage>> pages;
  for (auto& [target, instants] : targets) {
    for (auto& [at, parts] : instants) {
      // The server's order is its own affair: pages that are alike must look alike.
      std::sort(parts.lines.begin(), parts.lines.end());
      parts.page.at = at;
      for (const std::string& line : parts.lines) parts.page.text += line;
      pages[target].push_back(std::move(parts.page));
    }
  }
  return pages;
}

}  // namespace plimsoll
