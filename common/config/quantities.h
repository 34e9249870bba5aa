// Quantities as people write them, to values and back. A bare number where a unit is needed is
// refused with the right form. Parsing is exact: nothing is rounded, what does not fit is refused.
// Where there is a Print, Print(Parse(x)) denotes the same value as x, and Parse(Print(v)) == v for
// every v that Parse can give.
//
//   durations    250ms  5.3s  2m  1h            units: ns us ms s m h
//   shares       50%  2.5%                      0% to 100%
//   rates        10 tok/s                       tokens per second
//   counts       15  64k  1.5M  64Ki  1Mi       k and M by 1,000, Ki and Mi by 1,024
//   money        14.40 USD                      three capital letters name the currency
//
// Every refusal is InvalidArgument, its message fit to follow "path: ", e.g.
// "\"250\" has no unit, write e.g. \"250s\" or \"250ms\"".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/status.h"
#include "common/base/time.h"

namespace plimsoll {

// Never negative.
StatusOr<Duration> ParseDuration(std::string_view text);
std::string PrintDuration(Duration duration);

// 0…1.
StatusOr<double> ParseShare(std::string_view text);
std::string PrintShare(double share);

// Tokens per second, >= 0.
StatusOr<double> ParseTokenRate(std::string_view text);

// Whole, no unit needed.
StatusOr<std::uint64_t> ParseCount(std::string_view text);

struct Money {
  std::int64_t micros = 0;  // Millionths of the currency's unit.
  std::string currency;     // "USD".
  friend bool operator==(const Money&, const Money&) = default;
};
StatusOr<Money> ParseMoney(std::string_view text);
std::string PrintMoney(const Money& money);

}  // namespace plimsoll
