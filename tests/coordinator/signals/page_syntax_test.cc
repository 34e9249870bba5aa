// Which syntax an answer's Content-Type asks for.
#include "coordinator/signals/page_syntax.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using testing::HasSubstr;

TEST(PageSyntax, IsWhatTheAnswerSays) {
  const std::pair<const char*, PageSyntax> cases[] = {
      {"text/plain; version=0.0.4; charset=utf-8", PageSyntax::kText},
      {"text/plain;version=0.0.4", PageSyntax::kText},
      {"Text/Plain; Charset=\"utf-8\"; VERSION=\"0.0.4\"", PageSyntax::kText},
      {"text/plain", PageSyntax::kText},
      {"text/plain; version=1.0.0; escaping=allow-utf-8; charset=utf-8", PageSyntax::kText},
      {"text/plain; version=0.0.4; escaping=underscores; q=0.5", PageSyntax::kText},
      {"application/openmetrics-text; version=1.0.0; charset=utf-8", PageSyntax::kOpenMetrics},
      {"application/openmetrics-text; version=0.0.1", PageSyntax::kOpenMetrics},
      {"application/openmetrics-text", PageSyntax::kOpenMetrics},
      {" APPLICATION/OpenMetrics-Text ;q=0.5;escaping=values;version=1.0.0",
       PageSyntax::kOpenMetrics},
  };
  for (const auto& [type, syntax] : cases) {
    const StatusOr<PageKind> kind = PageKindOf(type);
    ASSERT_TRUE(kind.ok()) << type;
    EXPECT_EQ(kind->syntax, syntax) << type;
    EXPECT_EQ(kind->warning, "") << type;
  }
}

TEST(PageSyntax, MissingOrOddTypesAreReadAsTextWithAWarning) {
  for (const char* type : {"", "   ", "application/octet-stream", "text/plain; version=9"}) {
    const StatusOr<PageKind> kind = PageKindOf(type);
    ASSERT_TRUE(kind.ok()) << type;
    EXPECT_EQ(kind->syntax, PageSyntax::kText) << type;
    EXPECT_THAT(kind->warning, HasSubstr("read as Prometheus text 0.0.4")) << type;
  }
}

TEST(PageSyntax, WhatIsSurelyNoPageIsRefusedInWords) {
  const std::pair<const char*, const char*> cases[] = {
      {"text/html; charset=utf-8", "is HTML"},
      {"application/json", "is JSON"},
      {"application/problem+json", "is JSON"},
      {"application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; "
       "encoding=delimited",
       "is protobuf"},
      {"application/openmetrics-text; version=2.0.0", "OpenMetrics 2.0.0, only 1.0"},
  };
  for (const auto& [type, words] : cases) {
    const StatusOr<PageKind> kind = PageKindOf(type);
    ASSERT_FALSE(kind.ok()) << type;
    EXPECT_THAT(std::string(MessageOf(kind.status())), HasSubstr(words)) << type;
  }
}

}  // namespace
}  // namespace plimsoll
