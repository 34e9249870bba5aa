// Where a share, measured at a few numbers of sessions, crosses what the bar asks for: a monotone
// fit through the steps, then straight lines between them, and never a number beyond them. Pure.
// The capacity is made of these, and so is the truth that the calibration holds it against.
//
//   fit       more load is not better: the share within a limit does not rise with sessions, the
//             share of bad calls does not fall. Where measured steps say otherwise, neighbours are
//             pooled to their weighted mean (pool adjacent violators), which keeps the order of the
//             two edges of a band and the share between them.
//   crossing  between the last step whose fitted share is still good (equal is good) and the next,
//             where the straight line between the two meets what is asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace plimsoll {

struct SharePoint {
  double sessions = 0;
  double share = 0;   // 0…1.
  double weight = 1;  // Calls behind it; not positive or not finite counts as 1.
};

enum class Trend : std::uint8_t {
  kFalls,  // A share of good calls: at least p0 is good.
  kRises,  // A share of bad calls: at most p0 is good.
};

// A number of sessions as far as the measured steps can tell it.
struct CapacityEnd {
  // Stored: never renumber.
  enum class Kind : std::uint8_t {
    kBelow = 1,    // Under `sessions`, the first step measured: open below.
    kAt = 2,       // `sessions`.
    kAtLeast = 3,  // Not reached at `sessions`, the last step measured: open above.
  };
  Kind kind = Kind::kAt;
  double sessions = 0;
  // Mean that the whole sessions kept open (of kBelow and kAtLeast: that step). Absent: not known.
  std::optional<double> requests_in_flight;
  bool interpolated = false;  // requests_in_flight is from the steps on either side.

  bool open() const { return kind != Kind::kAt; }
  // Rounded down.
  std::uint32_t whole() const;
  friend bool operator==(const CapacityEnd&, const CapacityEnd&) = default;
};
// In the order in which sessions rise: kBelow, then kAt, then kAtLeast.
bool Less(const CapacityEnd& a, const CapacityEnd& b);

// A crossing lies so much under the next step at least, so that it is never rounded up to it.
inline constexpr double kJustUnder = 1e-6;

// The fit: one point for each number of sessions, ascending. Points that are no numbers are left
// out; several of the same sessions count together.
std::vector<SharePoint> MonotoneFit(std::vector<SharePoint> points, Trend trend);

// Where the fit through `points` crosses p0. Absent: no point, or p0 is not a number.
std::optional<CapacityEnd> LocateCrossing(const std::vector<SharePoint>& points, double p0,
                                          Trend trend);
// The same as a number. Absent also where it lies outside of the points.
std::optional<double> CrossingOf(const std::vector<SharePoint>& points, double p0, Trend trend);

}  // namespace plimsoll
