// The ways in which a wanted signal can be missing: four different statements about a server, two
// about its mapping, and two about numbers that are there and do not hold for the step. Pure.
#pragma once

#include <cstdint>
#include <string_view>

namespace plimsoll {

// Kept with runs: never renumber. The highest is kMissingLast.
enum class Missing : std::uint8_t {
  kNot = 0,        // It is there.
  kNoName = 1,     // The page was read, and no such name is on it.
  kNoSeries = 2,   // The name is there, but no series that the selector or the model asks for.
  kNothing = 3,    // The series are there, and nothing was observed in this time.
  kNoPage = 4,     // The page could not be read.
  kByDesign = 5,   // This kind of server has none; the mapping says why.
  kNotMapped = 6,  // The mapping says neither where it is nor why there is none.
  kReset = 7,      // It was there, and did not count on.
  kNotAll = 8,     // It was there, and is not of all that was sent.
};

inline constexpr Missing kMissingLast = Missing::kNotAll;

// "the name is not on the page".
constexpr std::string_view MissingWords(Missing missing) {
  switch (missing) {
    case Missing::kNot:
      return "there";
    case Missing::kNoName:
      return "the name is not on the page";
    case Missing::kNoSeries:
      return "the name is there, but no series that was asked for";
    case Missing::kNothing:
      return "nothing was observed";
    case Missing::kNoPage:
      return "the page could not be read";
    case Missing::kByDesign:
      return "this kind of server has none";
    case Missing::kNotMapped:
      return "the mapping does not name it";
    case Missing::kReset:
      return "its counters did not count on";
    case Missing::kNotAll:
      return "it is not of all that was sent";
  }
  return "";
}

}  // namespace plimsoll
