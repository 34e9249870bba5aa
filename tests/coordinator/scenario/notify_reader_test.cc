// The section `notify`: webhooks by reference.
#include "coordinator/scenario/notify_reader.h"

#include "coordinator/scenario/scenario_reader.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string With(const std::string& notify) {
  return "name: m\ntarget: {url: \"http://h/v1\", model: x}\ncorpus: {file: a.corpus}\n"
         "mix: {heavy: 25%, light: 75%}\nsweep: {sessions: [2, 4]}\nfleet: {local: 2}\n"
         "bar: {errors: 2%}\n" +
         notify;
}

std::vector<NotifySpec> Read(const std::string& notify) {
  auto read = ParseScenario(With(notify), "s.yaml", "runs/here");
  EXPECT_TRUE(read.ok()) << MessageOf(read.status());
  return read.ok() ? read->notify : std::vector<NotifySpec>{};
}

std::vector<std::string> ProblemsOf(const std::string& notify) {
  Problems problems("s.yaml");
  (void)ReadScenario(With(notify), "", problems);
  return problems.Lines();
}

TEST(NotifyReader, TakesOneOrAListAndItsDefaultsAreAllEvents) {
  EXPECT_THAT(Read(""), IsEmpty());
  const auto one = Read("notify: {url: {env: SLACK}}\n");
  ASSERT_THAT(one, SizeIs(1));
  EXPECT_EQ(one[0].url_env, "SLACK");
  EXPECT_EQ(one[0].form, NotifyForm::kSlack);
  EXPECT_THAT(one[0].on, SizeIs(5));
  EXPECT_EQ(LabelOf(one[0]), "$SLACK");
  const auto two = Read(
      "notify:\n  - {url: {env: A}, on: [verdict, verdict]}\n"
      "  - {url: {file: hook.url}, form: json}\n");
  ASSERT_THAT(two, SizeIs(2));
  EXPECT_THAT(two[0].on, ElementsAre(NotifyEvent::kVerdict));
  EXPECT_EQ(two[1].url_file, "runs/here/hook.url") << "relative to the scenario";
  EXPECT_EQ(two[1].form, NotifyForm::kJson);
}

TEST(NotifyReader, NeverTakesTheUrlItself) {
  const auto problems = ProblemsOf("notify: {url: \"https://hooks.example/T0/SECRET\"}\n");
  ASSERT_THAT(problems, SizeIs(1));
  EXPECT_THAT(problems[0], HasSubstr("s.yaml:8: notify.url: stands in the scenario"));
  EXPECT_THAT(problems[0], Not(HasSubstr("SECRET"))) << "nor is it said";
  EXPECT_THAT(ProblemsOf("notify: {url: {env: \"https://hooks.example/SECRET\"}}\n"),
              ElementsAre(AllOf(HasSubstr("notify.url.env"), Not(HasSubstr("SECRET")))));
}

TEST(NotifyReader, SaysWhatIsWrong) {
  EXPECT_THAT(ProblemsOf("notify: {}\n"), ElementsAre(HasSubstr("notify.url: is missing")));
  EXPECT_THAT(ProblemsOf("notify: []\n"), ElementsAre(HasSubstr("lists 0 webhooks")));
  EXPECT_THAT(ProblemsOf("notify: loud\n"), Not(IsEmpty()));
  EXPECT_THAT(ProblemsOf("notify: {url: {env: A, file: b}}\n"),
              ElementsAre(HasSubstr("a variable and a file")));
  EXPECT_THAT(ProblemsOf("notify: {url: {}}\n"), ElementsAre(HasSubstr("names nothing")));
  EXPECT_THAT(ProblemsOf("notify: {url: {env: A}, on: [verdicts]}\n"),
              ElementsAre(HasSubstr("lists 'verdicts', each must be one of started")));
  EXPECT_THAT(ProblemsOf("notify: {url: {env: A}, on: []}\n"), ElementsAre(HasSubstr("is empty")));
  EXPECT_THAT(ProblemsOf("notify: {url: {env: A}, form: xml}\n"), SizeIs(1));
  EXPECT_THAT(ProblemsOf("notify: [{url: {env: A}, chanel: x}]\n"),
              ElementsAre(HasSubstr("notify[0].chanel")));
}

}  // namespace
}  // namespace plimsoll
