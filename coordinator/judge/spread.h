// Variance of a share from the residuals of groups of calls that depend on each other: the pieces
// that one share's interval (proportion.h) and a difference of two (difference.h) are made of.
// Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <vector>

namespace plimsoll {

// Σ of squares over groups, with the factor G/(G−1) that estimating the share asks for; 0 for fewer
// than two groups.
double SquaresOf(const std::vector<double>& residuals);

// A variance as far as its groups can tell it.
struct VarianceTerm {
  double variance = 0;
  double degrees = 1;  // Of freedom.
};

// Fewer slices of time than this tell nothing of what lanes have in common.
inline constexpr std::size_t kSlicesMin = 4;

// What lanes do together from one slice of time to the next, beyond what each of them does alone.
// With d_lh the change of lane l's residual from slice h−1 to slice h,
//
//   T = max(0, c · H/(H−1) · ½ · Σ over h of ((Σ over l of d_lh)² − Σ over l of d_lh²))
//
// von Neumann's mean square of successive differences (1941), less the lanes' own. Changes are
// blind to what lasts: the engine's slow drift belongs to the path that an interval is about, and
// is no error of it. They also lose what a queue hands on to the next slice: c = 1.3, which
// calibration found. 2(H−1)²/(3H−4) degrees, those of the mean square of H independent values.
// Nothing, with 0 degrees, for fewer than kSlicesMin slices. `residuals`: of each lane, by slice;
// all of one length.
VarianceTerm Together(const std::map<std::uint32_t, std::vector<double>>& residuals);

// Satterthwaite's degrees of freedom of the terms' sum, at least 1.
double SatterthwaiteDegrees(std::initializer_list<VarianceTerm> terms);

}  // namespace plimsoll
