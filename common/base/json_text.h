// JSON as text, where no library fits: a string's escapes, and a check of a value that comes in
// pieces.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace plimsoll {

// `text` as the inside of a JSON string: quotes, backslashes and control characters escaped.
std::string JsonEscaped(std::string_view text);

// Says whether bytes that arrive in pieces, cut anywhere, are one JSON object by RFC 8259 (its
// UTF-8 and surrogates are not looked at). A few bytes of state, whatever the length: the arguments
// of a streamed tool call are checked without being kept.
class JsonObjectChecker {
 public:
  // Objects and arrays within each other; what is deeper counts as broken.
  static constexpr std::uint32_t kDepthMax = 64;

  void Feed(std::string_view piece);
  // No continuation would make it an object.
  bool broken() const { return state_ == State::kBroken; }
  // What was fed is one whole object, white space around it aside.
  bool complete() const { return state_ == State::kDone; }

 private:
  enum class State : std::uint8_t {
    kStart,       // Of the text: the object's brace.
    kKeyOrEnd,    // After "{".
    kKey,         // After "," in an object.
    kColon,       // After a key.
    kValue,       // After ":", or after "," in an array.
    kValueOrEnd,  // After "[".
    kAfterValue,
    kString,
    kEscape,   // After a backslash.
    kUnicode,  // Within \uXXXX.
    kLiteral,  // Within true, false or null.
    kMinus,    // Parts of a number, by what came last.
    kZero,
    kDigits,
    kPoint,
    kFraction,
    kExponent,
    kExponentSign,
    kExponentDigits,
    kDone,
    kBroken,
  };

  void Take(char c);
  void TakeBetween(char c);  // Outside of strings, literals and numbers.
  void TakeInString(char c);
  void TakeInNumber(char c);
  void BeginValue(char c);
  void Open(bool object);
  void Close(bool object);
  bool InObject() const { return (objects_ >> (depth_ - 1) & 1) != 0; }

  State state_ = State::kStart;
  bool key_ = false;  // The string is a key.
  std::uint8_t hex_left_ = 0;
  std::uint32_t depth_ = 0;
  std::uint64_t objects_ = 0;  // Bit d: what was opened at depth d is an object, else an array.
  std::string_view literal_;   // What is still to come of it.
};

}  // namespace plimsoll
