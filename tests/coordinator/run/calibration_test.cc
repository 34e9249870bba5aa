// What a request, a message and a word cost, from usage.
#include "coordinator/run/calibration.h"

#include <cmath>

#include "gtest/gtest.h"

namespace plimsoll {
namespace {

std::vector<CalibrationPoint> Points(double request, double message, double word) {
  std::vector<CalibrationPoint> points;
  const std::pair<std::uint32_t, std::uint32_t> shapes[] = {
      {150'000, 90}, {128, 2}, {192, 4}, {2048, 2}, {256, 12}};
  for (const auto& [words, messages] : shapes) {
    points.push_back(
        {words, messages,
         static_cast<std::uint32_t>(std::lround(request + message * messages + word * words))});
  }
  return points;
}

TEST(Calibration, FindsWhatATemplateAdds) {
  for (const auto& [request, message, word] :
       {std::tuple{11.0, 4.0, 1.0}, {0.0, 0.0, 1.0}, {3.0, 5.0, 1.31}, {-2.0, 9.0, 0.97}}) {
    const auto points = Points(request, message, word);
    const auto fit = FitTemplate(points);
    ASSERT_TRUE(fit.has_value());
    EXPECT_NEAR(fit->per_request, request, 1);
    EXPECT_NEAR(fit->per_message, message, 0.2);
    EXPECT_NEAR(fit->per_word, word, 1e-3);
    EXPECT_LT(WorstShareOff(*fit, points), 0.01);
    EXPECT_NEAR(fit->Expected(1000, 10), request + 10 * message + 1000 * word, 2);
  }
}

TEST(Calibration, SaysNothingWhereThePointsDoNot) {
  EXPECT_FALSE(FitTemplate({}).has_value());
  EXPECT_FALSE(FitTemplate({{10, 1, 20}, {20, 2, 40}}).has_value()) << "two points";
  EXPECT_FALSE(FitTemplate({{10, 1, 20}, {10, 1, 20}, {10, 1, 20}}).has_value()) << "one kind";
  EXPECT_FALSE(FitTemplate({{10, 2, 1}, {20, 2, 2}, {30, 2, 3}}).has_value()) << "one length";
  EXPECT_FALSE(FitTemplate({{10, 1, 1}, {20, 2, 2}, {30, 3, 3}}).has_value()) << "one ratio";
}

TEST(Calibration, AServerThatMakesNumbersUpIsFarOff) {
  const std::vector<CalibrationPoint> points = {
      {128, 2, 900}, {192, 4, 31}, {2048, 2, 1200}, {256, 12, 7}};
  const auto fit = FitTemplate(points);
  ASSERT_TRUE(fit.has_value());
  EXPECT_GT(WorstShareOff(*fit, points), 0.5);
}

}  // namespace
}  // namespace plimsoll
