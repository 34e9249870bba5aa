// How long a prompt is to the server: its words, and what the chat template adds. Fitted by
// preflight's calibration calls; the identity where none was possible.
#pragma once

#include <cstdint>

namespace plimsoll {

struct TemplateFit {
  double per_request = 0;  // Tokens.
  double per_message = 0;
  double per_word = 1;
  friend bool operator==(const TemplateFit&, const TemplateFit&) = default;

  // Tokens that usage should report for a prompt of so many words in so many messages.
  double Expected(std::uint32_t words, std::uint32_t messages) const {
    return per_request + per_message * messages + per_word * words;
  }
};

}  // namespace plimsoll
