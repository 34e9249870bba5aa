#include "common/plan/context_words.h"

#include <fmt/format.h>

namespace plimsoll {
namespace {

double Percent(std::uint64_t part, std::uint64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) * 100 : 0;
}

}  // namespace

std::string LeftOutWords(const ContextCounts& c, std::string_view tier, OverLimit policy) {
  if (policy == OverLimit::kSend) {
    return fmt::format("{} of {} {} calls ({:.1f}%)", c.calls_over, c.calls, tier,
                       Percent(c.calls_over, c.calls));
  }
  std::string text =
      fmt::format("{} of {} {} sessions, {} of {} calls ({:.1f}%), {:.1f}% of prompt tokens",
                  c.sessions_dropped, c.sessions, tier, c.calls_left_out, c.calls,
                  Percent(c.calls_left_out, c.calls), Percent(c.tokens_left_out, c.tokens));
  if (c.calls_over > 0) text += fmt::format(", {} calls over it are sent", c.calls_over);
  return text;
}

}  // namespace plimsoll
