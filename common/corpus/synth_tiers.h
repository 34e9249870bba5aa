// The published statistics of recorded coding agents as data, and how the generator's prompts move
// so that their lengths come out as published. Internal to synth.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

#include "common/corpus/session.h"

namespace plimsoll {

// What a recorded quantity is below which share of its values: the published percentiles, with the
// smallest and the largest value. Between two of them the logarithm is interpolated.
inline constexpr std::array<double, 9> kShares{0, 0.10, 0.25, 0.50, 0.75, 0.90, 0.95, 0.99, 1};
struct Table {
  std::array<double, 9> values;
  double offset = 0;  // Added before the logarithm, so that 0 has one.

  double At(double share) const {
    std::size_t i = 0;
    while (i + 2 < kShares.size() && share >= kShares[i + 1]) ++i;
    const double part = (share - kShares[i]) / (kShares[i + 1] - kShares[i]);
    const double low = std::log(values[i] + offset);
    return std::exp(low + part * (std::log(values[i + 1] + offset) - low)) - offset;
  }
};

// How a tier's prompts grow and shrink, chosen so that their lengths over all calls come out as
// published; see synth_test.
struct Fit {
  double level;       // Correlation of a session's first prompt with its number of calls.
  double first;       // Factor on the published first prompts, …
  double ceiling;     // … and on the published longest ones, above which history is compacted
  double compact;     // with this chance a call.
  double rewrite;     // Chance of a rewrite at any other call.
  double left;        // Share of a prompt that a compaction leaves, at least; 0.3 more at most.
  double fresh;       // Share of the rewrites that bring the largest additions.
  double rewritten;   // Length of a rewritten prompt by the one before, at least; 0.2 more at most.
  double early = 0;   // Chance that of two mirrored calls the larger addition comes first.
  double longer = 0;  // Chance that a session is drawn twice and the longer prompts are taken.
};

// Per tier, of the 710 public sessions.
struct TierShape {
  Tier tier;
  const char* name;
  Table calls;     // A session's, its subagents' included.
  Table first;     // Tokens of a session's first prompt.
  Table longest;   // Tokens of its longest.
  Table appended;  // Tokens of a prompt beyond what it shares with the one before it.
  Table answer;    // Output tokens.
  Table service;   // Milliseconds.
  Table delay;     // Milliseconds.
  double lost;     // Share of calls that lose over a tenth of the prompt before: the rewrites.
  double halved;   // Share of the rewrites that are compactions.
  double fan_out;  // Share of sessions that start subagents.
  Fit fit;
};

inline constexpr TierShape kLight{
    .tier = Tier::kLight,
    .name = "light",
    .calls = {{3, 7, 14, 29, 58, 101, 143, 209, 252}},
    .first = {{8000, 12'639, 15'393, 18'512, 21'098, 29'454, 42'945, 60'848, 64'971}},
    .longest = {{15'000, 35'479, 54'089, 73'300, 104'042, 134'572, 173'056, 465'320, 706'227}},
    .appended = {{64, 227, 361, 625, 1529, 4250, 7996, 33'116, 697'351}},
    .answer = {{1, 94, 125, 201, 368, 769, 1410, 3911, 12'625}},
    .service = {{1000, 3100, 3830, 5290, 8470, 15'770, 25'680, 60'700, 193'190}},
    .delay = {{0, 0, 220, 1770, 7810, 73'490, 221'800, 1'890'560, 71'878'920}, 10},
    .lost = 125.0 / 7823,
    .halved = 30.0 / 125,
    .fan_out = 3.0 / 180,
    .fit = {.level = 0.05,
            .first = 1.05,
            .ceiling = 2.23,
            .compact = 0.096,
            .rewrite = 0.0026,
            .left = 0.226,
            .fresh = 0.92,
            .rewritten = 0.95,
            .early = 0.6,
            .longer = 0.7}};
inline constexpr TierShape kMid{
    .tier = Tier::kMid,
    .name = "mid",
    .calls = {{3, 14, 31, 71, 116, 188, 252, 410, 561}},
    .first = {{12'000, 16'612, 18'892, 21'638, 71'001, 106'442, 117'099, 130'152, 136'383}},
    .longest = {{75'000, 112'013, 130'366, 147'024, 156'995, 167'513, 186'539, 382'335, 622'801}},
    .appended = {{64, 225, 364, 711, 1732, 4256, 8906, 60'711, 516'234}},
    .answer = {{1, 106, 140, 214, 407, 843, 1435, 3641, 18'195}},
    .service = {{1000, 3270, 4090, 5660, 9310, 16'770, 25'610, 60'020, 283'330}},
    .delay = {{0, 0, 130, 2040, 13'850, 114'900, 251'140, 1'775'110, 77'580'100}, 10},
    .lost = 611.0 / 31'419,
    .halved = 169.0 / 611,
    .fan_out = 14.0 / 352,
    .fit = {.level = 0,
            .first = 0.931,
            .ceiling = 1.10,
            .compact = 0.328,
            .rewrite = 0.0091,
            .left = 0.274,
            .fresh = 1,
            .rewritten = 0.867}};
inline constexpr TierShape kHeavy{
    .tier = Tier::kHeavy,
    .name = "heavy",
    .calls = {{3, 5, 8, 26, 66, 184, 234, 235, 242}},
    .first = {{40'000, 65'024, 128'640, 218'232, 323'299, 492'577, 610'850, 833'174, 851'858}},
    .longest = {{142'000, 156'723, 240'304, 294'776, 420'767, 563'205, 777'361, 879'255, 894'371}},
    .appended = {{64, 259, 443, 802, 1733, 4215, 7918, 134'928, 580'065}},
    .answer = {{1, 109, 138, 247, 544, 1143, 1798, 3665, 13'442}},
    .service = {{1500, 4640, 5800, 8410, 13'960, 24'610, 38'030, 66'720, 300'000}},
    .delay = {{0, 0, 130, 1910, 13'850, 117'930, 336'070, 3'131'250, 71'729'310}, 10},
    .lost = 166.0 / 10'092,
    .halved = 1.0 / 166,
    .fan_out = 0,
    .fit = {.level = -0.645,
            .first = 0.885,
            .ceiling = 1.074,
            .compact = 0.182,
            .rewrite = 0.0104,
            .left = 0.1,
            .fresh = 0.464,
            .rewritten = 0.7}};

}  // namespace plimsoll
