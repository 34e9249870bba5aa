// Variance of a share from the residuals of groups of calls that depend on each other: the pieces
// that one share's interval (proportion.h) and a difference of two (difference.h) are made of.
// Pure.
#pragma once

#include <initializer_list>
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

// What lanes do together at one time, beyond what each lane's own spread within a block counts
// already: max(0, H/(H−2) · Σ over half-blocks of (e_h² + e_h·e_{h−1}) − SquaresOf(cells)), with
// (H − 1)/2 degrees. Nothing for fewer than four half-blocks. `halves` in the order of time.
VarianceTerm OverTime(const std::vector<double>& halves, const std::vector<double>& cells);

// Satterthwaite's degrees of freedom of the terms' sum, at least 1.
double SatterthwaiteDegrees(std::initializer_list<VarianceTerm> terms);

}  // namespace plimsoll
