// Pages for tests: the samples in testdata/, and pages written in the test.
#pragma once

#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "coordinator/signals/builtin_mappings.h"
#include "coordinator/signals/exposition.h"
#include "coordinator/signals/mapping_reader.h"
#include "coordinator/signals/source_reading.h"
#include "coordinator/signals/target_sample.h"
#include "gtest/gtest.h"

namespace plimsoll {

inline std::string TestData(const std::string& name) {
  std::ifstream file(std::string(PLIMSOLL_SOURCE_DIR "/tests/coordinator/signals/testdata/") + name,
                     std::ios::binary);
  EXPECT_TRUE(file.good()) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

inline Page PageFrom(const std::string& text, PageSyntax syntax = PageSyntax::kText) {
  PageParser parser;
  StatusOr<Page> page = parser.Parse(text, syntax);
  EXPECT_TRUE(page.ok()) << MessageOf(page.status()) << "\n" << text.substr(0, 400);
  return page.ok() ? *std::move(page) : Page{.layout = std::make_shared<PageLayout>()};
}

// The value of the series that TextOf prints so; NaN without one.
inline double ValueOf(const Page& page, const std::string& series) {
  for (std::size_t i = 0; i < page.layout->size(); ++i) {
    if (page.layout->TextOf(i) == series) return page.values[i];
  }
  ADD_FAILURE() << "no series " << series;
  return 0;
}

inline Mapping MappingFrom(const std::string& yaml) {
  StatusOr<Mapping> mapping = ParseMapping(yaml, "test.yaml");
  EXPECT_TRUE(mapping.ok()) << MessageOf(mapping.status());
  return mapping.ok() ? *std::move(mapping) : Mapping();
}

inline Mapping Builtin(const std::string& kind) {
  StatusOr<Mapping> mapping = BuiltinMapping(kind);
  EXPECT_TRUE(mapping.ok()) << MessageOf(mapping.status());
  return mapping.ok() ? *std::move(mapping) : Mapping();
}

// Pages of one target, `gap` apart; an empty text is a page that could not be read.
inline std::vector<TargetSample> SamplesOf(const Mapping& mapping,
                                           const std::vector<std::string>& pages,
                                           const SourceFilter& filter = {}, Duration gap = 60s) {
  TargetReader reader(std::make_shared<const Mapping>(mapping), filter);
  PageParser parser;
  std::vector<TargetSample> samples;
  MonoTime at{};
  for (const std::string& text : pages) {
    const StatusOr<Page> page = parser.Parse(text, PageSyntax::kText);
    if (text.empty()) {
      samples.push_back(TargetReader::Unreadable(absl::UnavailableError("no answer"), at, 1ms));
    } else if (page.ok()) {
      samples.push_back(reader.Read(*page, at, 1ms));
    } else {
      ADD_FAILURE() << MessageOf(page.status());
    }
    at += gap;
  }
  return samples;
}

inline TargetReading ReadingOf(const Mapping& mapping, const std::vector<std::string>& pages,
                               const SourceFilter& filter = {}, Duration gap = 60s) {
  return ReadTarget(mapping, SamplesOf(mapping, pages, filter, gap));
}

// Sample pages of one kind: "before", "after".
inline TargetReading SampleReading(const std::string& kind, const std::string& stem,
                                   const std::vector<std::string>& states) {
  std::vector<std::string> pages;
  pages.reserve(states.size());
  for (const std::string& state : states) {
    pages.push_back(TestData(fmt::format("{}.{}.prom", stem, state)));
  }
  return ReadingOf(Builtin(kind), pages);
}

inline SourceReading SourceOf(const TargetReading& target) {
  return CombineTargets(std::span<const TargetReading>(&target, 1));
}

}  // namespace plimsoll
