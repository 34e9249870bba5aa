#include "common/config/quantities.h"

#include <array>
#include <cctype>
#include <charconv>
#include <limits>
#include <optional>
#include <span>

#include "fmt/format.h"

namespace plimsoll {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

constexpr std::array<Unit, 6> kTimeUnits{{{"ns", 1},
                                          {"us", 1'000},
                                          {"ms", 1'000'000},
                                          {"s", 1'000'000'000},
                                          {"m", 60'000'000'000},
                                          {"h", 3'600'000'000'000}}};
constexpr std::array<Unit, 5> kCountUnits{
    {{"", 1}, {"k", 1'000}, {"M", 1'000'000}, {"Ki", 1 << 10}, {"Mi", 1 << 20}}};

// digits / 10^decimals, and what follows the number.
struct Decimal {
  std::uint64_t digits = 0;
  unsigned decimals = 0;
  std::string_view suffix;
};

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

// A name for a message: quoted, and cut where a file holds nonsense of any length.
std::string Quoted(std::string_view text) {
  constexpr std::size_t kShown = 40;
  if (text.size() <= kShown) return fmt::format("\"{}\"", text);
  return fmt::format("\"{}…\"", text.substr(0, kShown));
}

// Reads "12", "12.5" and the trimmed rest. Nothing if no number starts the text or it has more
// than 18 digits in all (which always fit in 64 bits).
std::optional<Decimal> ReadDecimal(std::string_view text) {
  Decimal decimal;
  std::size_t i = 0;
  std::size_t digits = 0;
  bool point = false;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.' && !point && digits > 0) {
      point = true;
    } else if (IsDigit(c)) {
      if (++digits > 18) return std::nullopt;
      decimal.digits = decimal.digits * 10 + static_cast<std::uint64_t>(c - '0');
      if (point) ++decimal.decimals;
    } else {
      break;
    }
  }
  if (digits == 0 || (point && decimal.decimals == 0)) return std::nullopt;
  for (; decimal.decimals > 0 && decimal.digits % 10 == 0; --decimal.decimals) decimal.digits /= 10;
  while (i < text.size() && text[i] == ' ') ++i;
  decimal.suffix = text.substr(i);
  return decimal;
}

constexpr std::uint64_t PowerOfTen(unsigned exponent) {
  std::uint64_t power = 1;
  while (exponent-- > 0) power *= 10;
  return power;
}

// decimal * factor, if that is whole and at most `max`.
std::optional<std::uint64_t> Scaled(const Decimal& decimal, std::uint64_t factor,
                                    std::uint64_t max) {
  std::uint64_t divisor = PowerOfTen(decimal.decimals);
  // Common factors first, so that the product stays small.
  std::uint64_t a = divisor;
  std::uint64_t b = factor;
  while (b != 0) {
    const std::uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  divisor /= a;
  if (decimal.digits % divisor != 0) return std::nullopt;
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(decimal.digits / divisor, factor / a, &product) || product > max) {
    return std::nullopt;
  }
  return product;
}

Status Refuse(std::string_view text, std::string_view what, std::string_view right) {
  return absl::InvalidArgumentError(fmt::format("{} {}, write e.g. {}", Quoted(text), what, right));
}

const Unit* FindUnit(std::span<const Unit> units, std::string_view name) {
  for (const Unit& unit : units) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

// The common part of durations, counts and byte sizes.
StatusOr<std::uint64_t> ParseWithUnit(std::string_view text, std::span<const Unit> units,
                                      std::uint64_t max, std::string_view noun,
                                      std::string_view right) {
  const std::optional<Decimal> decimal = ReadDecimal(text);
  if (!decimal.has_value()) return Refuse(text, fmt::format("is not a {}", noun), right);
  const Unit* unit = FindUnit(units, decimal->suffix);
  if (unit == nullptr) {
    if (decimal->suffix.empty()) return Refuse(text, "has no unit", right);
    return Refuse(text, fmt::format("is a {} in an unknown unit", noun), right);
  }
  const std::optional<std::uint64_t> value = Scaled(*decimal, unit->factor, max);
  if (!value.has_value()) {
    return Refuse(text, fmt::format("is too large or too fine for a {}", noun), right);
  }
  return *value;
}

// Prints in the largest unit that divides the value.
std::string PrintWithUnit(std::uint64_t value, std::span<const Unit> units) {
  const Unit* best = &units.front();
  for (const Unit& unit : units) {
    if (value != 0 && value % unit.factor == 0 && unit.factor > best->factor) best = &unit;
  }
  return fmt::format("{}{}", value / best->factor, best->name);
}

// `value` / 10^decimals without zeros at the end.
std::string PrintDecimal(std::uint64_t value, unsigned decimals) {
  const std::uint64_t one = PowerOfTen(decimals);
  std::string text = fmt::format("{}.{:0{}}", value / one, value % one, decimals);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

// The double nearest to the decimal / `divisor`; exact decimals come out as a literal would.
double ToDouble(const Decimal& decimal, unsigned extra_decimals) {
  const std::string text = fmt::format("{}e-{}", decimal.digits, decimal.decimals + extra_decimals);
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// A double in the fewest digits that give it back, never in exponent form for sane sizes.
std::string PrintPlain(double value) {
  char buffer[64];
  const auto [end, error] =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed);
  return error == std::errc() ? std::string(buffer, end) : fmt::format("{}", value);
}

}  // namespace

StatusOr<Duration> ParseDuration(std::string_view text) {
  const std::optional<Decimal> bare = ReadDecimal(text);
  std::string right = "\"250ms\", \"5.3s\", \"2m\" or \"1h\"";
  if (bare.has_value() && bare->suffix.empty()) {
    right = fmt::format("\"{}s\" or \"{}ms\"", text, text);
  }
  ASSIGN_OR_RETURN(
      const std::uint64_t ns,
      ParseWithUnit(text, kTimeUnits, std::numeric_limits<std::int64_t>::max(), "duration", right));
  return Duration(static_cast<std::int64_t>(ns));
}

std::string PrintDuration(Duration duration) {
  if (duration < Duration::zero()) {
    // The one value without a positive twin is off by a nanosecond in print only.
    const Duration positive = duration == Duration::min() ? Duration::max() : -duration;
    return "-" + PrintDuration(positive);
  }
  const auto ns = static_cast<std::uint64_t>(duration.count());
  if (ns == 0) return "0s";
  if (ns % 60'000'000'000 == 0) return PrintWithUnit(ns, kTimeUnits);
  if (ns >= 1'000'000'000) return PrintDecimal(ns, 9) + "s";
  if (ns >= 1'000'000) return PrintDecimal(ns, 6) + "ms";
  if (ns >= 1'000) return PrintDecimal(ns, 3) + "us";
  return fmt::format("{}ns", ns);
}

StatusOr<double> ParseShare(std::string_view text) {
  const std::optional<Decimal> decimal = ReadDecimal(text);
  if (!decimal.has_value()) return Refuse(text, "is not a share", "\"2%\" or \"50%\"");
  if (decimal->suffix.empty()) {
    return Refuse(text, "has no unit", fmt::format("\"{}%\"", text));
  }
  if (decimal->suffix != "%") {
    return Refuse(text, "is a share in an unknown unit", "\"2%\" or \"50%\"");
  }
  const double share = ToDouble(*decimal, 2);
  if (share > 1) return Refuse(text, "is more than the whole", "at most \"100%\"");
  return share;
}

std::string PrintShare(double share) {
  // The shortest percentage that parses back to the same share.
  for (int decimals = 0; decimals <= 17; ++decimals) {
    std::string text = fmt::format("{:.{}f}%", share * 100, decimals);
    const StatusOr<double> back = ParseShare(text);
    if (back.ok() && *back == share) return text;
  }
  return PrintPlain(share * 100) + "%";
}

StatusOr<double> ParseTokenRate(std::string_view text) {
  const std::optional<Decimal> decimal = ReadDecimal(text);
  if (!decimal.has_value()) return Refuse(text, "is not a rate", "\"10 tok/s\"");
  if (decimal->suffix.empty()) {
    return Refuse(text, "has no unit", fmt::format("\"{} tok/s\"", text));
  }
  if (decimal->suffix != "tok/s") {
    return Refuse(text, "is a rate in an unknown unit", "\"10 tok/s\"");
  }
  return ToDouble(*decimal, 0);
}

StatusOr<std::uint64_t> ParseCount(std::string_view text) {
  return ParseWithUnit(text, kCountUnits, std::numeric_limits<std::uint64_t>::max(), "count",
                       "\"15\", \"64k\" (64,000) or \"64Ki\" (65,536)");
}

StatusOr<Money> ParseMoney(std::string_view text) {
  constexpr std::string_view kRight = "\"14.40 USD\"";
  const std::optional<Decimal> decimal = ReadDecimal(text);
  if (!decimal.has_value()) return Refuse(text, "is not an amount of money", kRight);
  if (decimal->suffix.empty()) {
    return Refuse(text, "has no currency", fmt::format("\"{} USD\"", text));
  }
  bool letters = decimal->suffix.size() == 3;
  for (const char c : decimal->suffix) letters = letters && c >= 'A' && c <= 'Z';
  if (!letters) return Refuse(text, "does not name a currency by three capital letters", kRight);
  const std::optional<std::uint64_t> micros =
      Scaled(*decimal, 1'000'000, std::numeric_limits<std::int64_t>::max());
  if (!micros.has_value()) return Refuse(text, "is too large or too fine for money", kRight);
  return Money{static_cast<std::int64_t>(*micros), std::string(decimal->suffix)};
}

std::string PrintMoney(const Money& money) {
  const std::uint64_t micros = static_cast<std::uint64_t>(money.micros);
  std::string amount = PrintDecimal(micros, 6);
  // Cents are written out, as people do.
  const std::size_t point = amount.find('.');
  if (point == std::string::npos) {
    amount += ".00";
  } else if (amount.size() - point == 2) {
    amount += "0";
  }
  return fmt::format("{} {}", amount, money.currency);
}

}  // namespace plimsoll
