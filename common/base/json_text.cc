#include "common/base/json_text.h"

#include <fmt/format.h>

namespace plimsoll {
namespace {

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}
bool IsHex(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool IsSpace(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

}  // namespace

std::string JsonEscaped(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      escaped.push_back('\\');
      escaped.push_back(c);
    } else if (static_cast<unsigned char>(c) < 0x20) {
      escaped += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      escaped.push_back(c);
    }
  }
  return escaped;
}

void JsonObjectChecker::Feed(std::string_view piece) {
  for (const char c : piece) {
    if (state_ == State::kBroken) return;
    Take(c);
  }
}

void JsonObjectChecker::Take(char c) {
  switch (state_) {
    case State::kString:
    case State::kEscape:
    case State::kUnicode:
      return TakeInString(c);
    case State::kLiteral:
      if (c != literal_.front()) {
        state_ = State::kBroken;
        return;
      }
      literal_.remove_prefix(1);
      if (literal_.empty()) state_ = State::kAfterValue;
      return;
    case State::kMinus:
    case State::kZero:
    case State::kDigits:
    case State::kPoint:
    case State::kFraction:
    case State::kExponent:
    case State::kExponentSign:
    case State::kExponentDigits:
      return TakeInNumber(c);
    default:
      return TakeBetween(c);
  }
}

void JsonObjectChecker::TakeInString(char c) {
  if (state_ == State::kUnicode) {
    if (!IsHex(c)) {
      state_ = State::kBroken;
    } else if (--hex_left_ == 0) {
      state_ = State::kString;
    }
    return;
  }
  if (state_ == State::kEscape) {
    if (c == 'u') {
      hex_left_ = 4;
      state_ = State::kUnicode;
    } else {
      const bool known = std::string_view("\"\\/bfnrt").find(c) != std::string_view::npos;
      state_ = known ? State::kString : State::kBroken;
    }
    return;
  }
  if (c == '"') {
    state_ = key_ ? State::kColon : State::kAfterValue;
  } else if (c == '\\') {
    state_ = State::kEscape;
  } else if (static_cast<unsigned char>(c) < 0x20) {
    state_ = State::kBroken;
  }
}

void JsonObjectChecker::TakeInNumber(char c) {
  const bool digit = IsDigit(c);
  switch (state_) {
    case State::kMinus:
      state_ = c == '0' ? State::kZero : digit ? State::kDigits : State::kBroken;
      return;
    case State::kPoint:
      state_ = digit ? State::kFraction : State::kBroken;
      return;
    case State::kExponent:
      state_ = digit                  ? State::kExponentDigits
               : c == '+' || c == '-' ? State::kExponentSign
                                      : State::kBroken;
      return;
    case State::kExponentSign:
      state_ = digit ? State::kExponentDigits : State::kBroken;
      return;
    default:
      break;
  }
  // From here on the number may end with what came before.
  if (digit && state_ != State::kZero) return;
  const bool whole = state_ == State::kZero || state_ == State::kDigits;
  if (c == '.' && whole) {
    state_ = State::kPoint;
  } else if ((c == 'e' || c == 'E') && state_ != State::kExponentDigits) {
    state_ = State::kExponent;
  } else {
    state_ = State::kAfterValue;
    TakeBetween(c);
  }
}

void JsonObjectChecker::TakeBetween(char c) {
  if (IsSpace(c)) return;
  const State before = state_;
  state_ = State::kBroken;  // Unless something below fits.
  switch (before) {
    case State::kStart:
      if (c == '{') Open(true);
      return;
    case State::kKeyOrEnd:
    case State::kKey:
      if (c == '}' && before == State::kKeyOrEnd) return Close(true);
      if (c != '"') return;
      key_ = true;
      state_ = State::kString;
      return;
    case State::kColon:
      if (c == ':') state_ = State::kValue;
      return;
    case State::kValueOrEnd:
      if (c == ']') return Close(false);
      return BeginValue(c);
    case State::kValue:
      return BeginValue(c);
    case State::kAfterValue:
      if (c == '}' || c == ']') return Close(c == '}');
      if (c == ',') state_ = InObject() ? State::kKey : State::kValue;
      return;
    default:
      return;  // After the object's end.
  }
}

void JsonObjectChecker::BeginValue(char c) {
  if (c == '{' || c == '[') return Open(c == '{');
  if (c == '"') {
    key_ = false;
    state_ = State::kString;
  } else if (c == '-') {
    state_ = State::kMinus;
  } else if (IsDigit(c)) {
    state_ = c == '0' ? State::kZero : State::kDigits;
  } else if (c == 't' || c == 'f' || c == 'n') {
    literal_ = c == 't' ? "rue" : c == 'f' ? "alse" : "ull";
    state_ = State::kLiteral;
  }
}

void JsonObjectChecker::Open(bool object) {
  if (depth_ == kDepthMax) return;
  const std::uint64_t bit = std::uint64_t{1} << depth_++;
  objects_ = object ? objects_ | bit : objects_ & ~bit;
  state_ = object ? State::kKeyOrEnd : State::kValueOrEnd;
}

void JsonObjectChecker::Close(bool object) {
  if (InObject() != object) return;
  state_ = --depth_ == 0 ? State::kDone : State::kAfterValue;
}

}  // namespace plimsoll
