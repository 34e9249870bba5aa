// JUnit XML and Markdown: what counts as what, and texts that would break the form.
#include <regex>
#include <string>

#include "coordinator/report/junit_report.h"
#include "coordinator/report/markdown_report.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/report/sample_model.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::size_t Count(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

int Attribute(const std::string& xml, const std::string& name) {
  std::smatch match;
  return std::regex_search(xml, match, std::regex(" " + name + "=\"(\\d+)\"")) ? std::stoi(match[1])
                                                                               : -1;
}

// Of a run whose 15 sessions miss; its first try had no data.
ReportModel Missed() {
  ReportModel model = testing::SampleRun();
  model.exit_code = model.verdict.exit_code;
  return model;
}

TEST(JunitReport, CountsWhatTheExitCodeIsAbout) {
  const std::string xml = JunitReport(Missed());
  EXPECT_THAT(xml, StartsWith("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites "));
  EXPECT_EQ(Attribute(xml, "tests"), 13) << "the verdict, three steps with three limits each";
  EXPECT_EQ(static_cast<std::size_t>(Attribute(xml, "tests")), Count(xml, "<testcase "));
  EXPECT_EQ(static_cast<std::size_t>(Attribute(xml, "failures")), Count(xml, "<failure "));
  EXPECT_EQ(static_cast<std::size_t>(Attribute(xml, "errors")), Count(xml, "<error "));
  EXPECT_EQ(static_cast<std::size_t>(Attribute(xml, "skipped")), Count(xml, "<skipped "));
  EXPECT_GT(Attribute(xml, "failures"), 0);
  EXPECT_EQ(Attribute(xml, "errors"), 0) << "the step without data was measured again";
  EXPECT_EQ(Attribute(xml, "skipped"), 4);
  EXPECT_THAT(xml, HasSubstr("name=\"target: 15 sessions hold\""));
  EXPECT_THAT(xml, HasSubstr("timestamp=\"2026-01-01T22:00:00\""));
  EXPECT_THAT(xml, HasSubstr("classname=\"recipe-7.step 1: 10 sessions\" name=\"TTFT\">\n      "
                             "<system-out>"));
}

TEST(JunitReport, ForgivesAMissBeyondTheTarget) {
  ReportModel model = testing::SweptRun();
  model.target = 10;
  Conclude(model);
  model.exit_code = model.verdict.exit_code;
  ASSERT_EQ(*model.exit_code, 0);
  const std::string xml = JunitReport(model);
  EXPECT_EQ(Attribute(xml, "failures"), 0);
  EXPECT_EQ(Attribute(xml, "errors"), 0);
  EXPECT_THAT(xml, HasSubstr("<skipped message=\"fail: "));
}

TEST(JunitReport, NeverPassesAMissingMeasurement) {
  ReportModel model = Missed();
  model.steps.resize(2);  // Its last word on the target is the void step.
  Conclude(model);
  model.exit_code = model.verdict.exit_code;
  const std::string xml = JunitReport(model);
  EXPECT_EQ(Attribute(xml, "errors"), 5) << "the verdict, the step, its three limits";
  EXPECT_THAT(xml, HasSubstr("<error type=\"no data\""));
}

TEST(JunitReport, OfARunWithoutAVerdictIsAnError) {
  ReportModel model = testing::EmptyRun();
  model.exit_code = 4;
  model.stopped_because = "preflight: no such <model>";
  std::string xml = JunitReport(model);
  EXPECT_EQ(Attribute(xml, "tests"), 1);
  EXPECT_EQ(Attribute(xml, "errors"), 1);
  EXPECT_THAT(xml, HasSubstr("type=\"exit 4\" message=\"preflight: no such &lt;model&gt;\""));
  model.exit_code.reset();
  model.stopped_because.clear();
  xml = JunitReport(model);
  EXPECT_THAT(xml, HasSubstr("type=\"not ended\""));
  model = Missed();
  model.exit_code = 5;
  EXPECT_THAT(JunitReport(model), HasSubstr("type=\"exit 5\"")) << "whatever the steps say";
}

TEST(JunitReport, EscapesWhatXmlForbids) {
  EXPECT_EQ(XmlEscaped("a<b>&\"c'"), "a&lt;b&gt;&amp;&quot;c&apos;");
  EXPECT_EQ(XmlEscaped("a\tb\r\nc"), "a&#9;b&#13;&#10;c");
  EXPECT_EQ(XmlEscaped(std::string_view("\0\x01\x0b\x1f|\x7f", 6)),
            "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD|\x7f");
  EXPECT_EQ(XmlEscaped("\xEF\xBF\xBE \xEF\xBF\xBF \xEF\xBF\xBC"),
            "\xEF\xBF\xBD \xEF\xBF\xBD \xEF\xBF\xBC");
  EXPECT_EQ(XmlEscaped("\xED\xA0\x80 \xff \xC3"),
            "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD \xEF\xBF\xBD \xEF\xBF\xBD")
      << "surrogates and bytes that are no UTF-8";
  EXPECT_EQ(XmlEscaped("12.4 → ü 𝄞 ]]>"), "12.4 → ü 𝄞 ]]&gt;");
  EXPECT_EQ(XmlEscaped(""), "");
}

TEST(MarkdownReport, SaysTheVerdictFirst) {
  const ReportModel model = Missed();
  const std::string text = MarkdownReport(model);
  EXPECT_THAT(text, StartsWith("## FAIL: "));
  EXPECT_THAT(text, HasSubstr("| phase | outcome |  |\n| --- | --- | --- |\n"));
  EXPECT_THAT(text, HasSubstr("\n| 10 sessions | pass |"));
  EXPECT_THAT(text, HasSubstr("\n| end | exit 1 | 15 sessions miss"));
  EXPECT_THAT(text, HasSubstr("| 10 | pass |"));
}

TEST(MarkdownReport, GrowsWithItsRun) {
  ReportModel model = testing::EmptyRun();
  const std::string begun = MarkdownReport(model);
  EXPECT_THAT(begun, StartsWith("## RUNNING: recipe-7\n"));
  EXPECT_THAT(begun, Not(HasSubstr("capacity")));
  model.preflight = PreflightSummary{
      .findings = {{FindingLevel::kOk, "model: served"}, {FindingLevel::kWarning, "slow"}}};
  const std::string checked = MarkdownReport(model);
  EXPECT_THAT(checked, HasSubstr("| preflight | ok | 2 findings, 1 of them warnings |"));
  model.steps.push_back(testing::SampleRun().steps[0]);
  Conclude(model);
  const std::string stepped = MarkdownReport(model);
  EXPECT_THAT(stepped, StartsWith("## RUNNING")) << "a step is no end";
  EXPECT_THAT(stepped, HasSubstr("**capacity** so far"));
  EXPECT_GT(stepped.size(), checked.size());
  model.exit_code = 5;
  model.stopped_because = "a person stopped it";
  EXPECT_THAT(MarkdownReport(model), StartsWith("## STOPPED: a person stopped it\n"));
  model = testing::EmptyRun();
  model.exit_code = 4;
  model.stopped_because = "preflight: no";
  EXPECT_THAT(MarkdownReport(model), StartsWith("## COULD NOT RUN: preflight: no\n"));
}

TEST(MarkdownReport, LetsNoTextBreakItsTable) {
  EXPECT_EQ(MarkdownEscaped("a|b\nc"), "a\\|b\\\\nc");
  EXPECT_EQ(MarkdownEscaped("<img src=x> & @team"), "&lt;img src=x&gt; &amp; &#64;team");
  EXPECT_EQ(MarkdownEscaped("[x](http://y) `*_#~!"), "\\[x\\](http://y) \\`\\*\\_\\#\\~\\!");
  ReportModel model = Missed();
  model.run_name = "evil | name\n| injected | row |\n# head";
  model.stopped_because = "a | b\nc";
  const std::string text = MarkdownReport(model);
  EXPECT_THAT(text, Not(HasSubstr("\n| injected")));
  EXPECT_THAT(text, Not(HasSubstr("\n# head")));
  EXPECT_THAT(text, HasSubstr("| end | exit 1 | a \\| b\\\\nc |"));
}

}  // namespace
}  // namespace plimsoll
