#include "coordinator/cli/corpus_show.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/text.h"
#include "common/corpus/stats.h"
#include "common/json/json.h"

namespace plimsoll {
namespace {

using Json = nlohmann::ordered_json;

// The manifest's numeric columns, in its order.
std::array<std::pair<const char*, std::uint64_t>, 16> Columns(const Session& session,
                                                              const SessionStats& stats) {
  return {{{"json_bytes", session.json_bytes},
           {"sessions", 1},
           {"requests", stats.requests},
           {"main_requests", stats.main_requests},
           {"subagent_groups", stats.subagent_groups},
           {"subagent_requests", stats.subagent_requests},
           {"median_prompt", stats.median_prompt},
           {"max_prompt", stats.max_prompt},
           {"first_prompt", stats.first_prompt},
           {"input_tokens", stats.input_tokens},
           {"output_tokens", stats.output_tokens},
           {"block_refs", stats.block_refs},
           {"unique_blocks", stats.unique_blocks},
           {"prefix_hit_blocks", stats.prefix_hit_blocks},
           {"duration_s", stats.duration_s},
           {"max_in_flight", stats.max_in_flight}}};
}

// Names come from files: nothing in them may break a line or a column.
std::string NameOfSession(const Session& session) {
  return Printable(session.file.empty() ? session.id : session.file);
}

double Percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

struct TierTotals {
  std::uint64_t sessions = 0;
  std::uint64_t requests = 0;
  std::uint64_t subagents = 0;
  std::uint64_t max_prompt = 0;
  std::uint64_t input_tokens = 0;
  std::uint64_t output_tokens = 0;
  std::uint64_t block_refs = 0;
  std::uint64_t hit_blocks = 0;
  std::vector<double> medians;

  void Add(const SessionStats& stats) {
    ++sessions;
    requests += stats.requests;
    subagents += stats.subagent_groups;
    max_prompt = std::max(max_prompt, stats.max_prompt);
    input_tokens += stats.input_tokens;
    output_tokens += stats.output_tokens;
    block_refs += stats.block_refs;
    hit_blocks += stats.prefix_hit_blocks;
    medians.push_back(static_cast<double>(stats.median_prompt));
  }

  std::string Row(std::string_view name) const {
    return fmt::format("{:<12} {:>8} {:>8} {:>9} {:>13.0f} {:>10} {:>14} {:>13} {:>5.1f}%\n", name,
                       sessions, requests, subagents, Quantile(medians, 0.5), max_prompt,
                       input_tokens, output_tokens, Percent(hit_blocks, block_refs));
  }
};

// Percentiles of what a tier's sessions are like.
std::string SpreadTable(std::string_view name, const CorpusSpread& spread) {
  const std::pair<const char*, const std::vector<double>&> rows[] = {
      {"calls a session", spread.calls},        {"tokens in a call", spread.tokens_in},
      {"tokens out a call", spread.tokens_out}, {"tokens appended", spread.appended},
      {"growth of the prompt", spread.growth},  {"delay s", spread.delay_s},
      {"service time s", spread.service_s},     {"hit rate a session", spread.hit_rate}};
  std::string out = fmt::format("\n{:<22} {:>12} {:>12} {:>12} {:>12} {:>12}\n", name, "p25", "p50",
                                "p75", "p90", "p99");
  for (const auto& [label, values] : rows) {
    out += fmt::format("  {:<20}", label);
    for (const double quantile : {0.25, 0.5, 0.75, 0.9, 0.99}) {
      const double value = Quantile(values, quantile);
      out += fmt::format(" {:>12.{}f}", value, value < 1 && value > -1 ? 3 : value < 100 ? 1 : 0);
    }
    out += '\n';
  }
  const double span = spread.busy_s + spread.idle_s;
  out += fmt::format(
      "  in flight a session: {} at most, {:.2f} on average while busy, {:.3f} with idle stretches "
      "cut to 60 s\n",
      spread.max_in_flight, spread.busy_s > 0 ? spread.in_flight_s / spread.busy_s : 0,
      span > 0 ? spread.in_flight_s / span : 0);
  return out + fmt::format("  rewrites: {:.2f}% of calls; subagents: {:.1f}% of sessions\n",
                           Percent(spread.rewrites, spread.tokens_in.size()),
                           Percent(spread.fan_outs, spread.calls.size()));
}

}  // namespace

std::string CorpusTable(const Corpus& corpus) {
  std::string out = fmt::format("{:<32} {:<6} {:>6} {:>9} {:>9} {:>9} {:>12} {:>6} {:>9} {:>9}\n",
                                "session", "tier", "calls", "subagents", "median", "longest",
                                "tokens in", "cached", "seconds", "in flight");
  TierTotals all;
  std::array<TierTotals, 4> tiers;
  for (const Session& session : corpus.sessions) {
    const SessionStats stats = ComputeStats(session);
    all.Add(stats);
    tiers[static_cast<std::size_t>(session.tier)].Add(stats);
    out += fmt::format("{:<32} {:<6} {:>6} {:>9} {:>9} {:>9} {:>12} {:>5.1f}% {:>9} {:>9}\n",
                       NameOfSession(session), NameOf(session.tier), stats.requests,
                       stats.subagent_groups, stats.median_prompt, stats.max_prompt,
                       stats.input_tokens, Percent(stats.prefix_hit_blocks, stats.block_refs),
                       stats.duration_s, stats.max_in_flight);
  }
  out += fmt::format("\n{:<12} {:>8} {:>8} {:>9} {:>13} {:>10} {:>14} {:>13} {:>6}\n", "tier",
                     "sessions", "calls", "subagents", "median prompt", "longest", "tokens in",
                     "tokens out", "cached");
  for (const Tier tier : {Tier::kHeavy, Tier::kMid, Tier::kLight, Tier::kUnspecified}) {
    const TierTotals& totals = tiers[static_cast<std::size_t>(tier)];
    if (totals.sessions > 0) out += totals.Row(NameOf(tier));
  }
  out += all.Row("all");
  out += "prompts in tokens; cached: by an infinite prefix cache per session\n";
  for (const Tier tier : {Tier::kHeavy, Tier::kMid, Tier::kLight, Tier::kUnspecified}) {
    CorpusSpread spread;
    for (const Session& session : corpus.sessions) {
      if (session.tier == tier) AddSpread(session, &spread);
    }
    if (!spread.calls.empty()) out += SpreadTable(NameOf(tier), spread);
  }
  return out;
}

std::string CorpusTsv(const Corpus& corpus) {
  std::string out = "file\tsha256_json";
  for (const auto& [name, value] : Columns({}, {})) out += fmt::format("\t{}", name);
  out += "\ttier\n";
  for (const Session& session : corpus.sessions) {
    out += fmt::format("{}\t{}", NameOfSession(session), session.sha256_json);
    for (const auto& [name, value] : Columns(session, ComputeStats(session))) {
      out += fmt::format("\t{}", value);
    }
    out += fmt::format("\t{}\n", NameOf(session.tier));
  }
  return out;
}

std::string CorpusJson(const Corpus& corpus, const std::string& digest) {
  Json root;
  root["digest"] = digest;
  root["source"] = corpus.source;
  root["license"] = corpus.license;
  root["models"] = corpus.models;
  root["sessions"] = Json::array();
  for (const Session& session : corpus.sessions) {
    Json line;
    line["id"] = session.id;
    line["file"] = session.file;
    line["sha256_json"] = session.sha256_json;
    for (const auto& [name, value] : Columns(session, ComputeStats(session))) line[name] = value;
    line["tier"] = NameOf(session.tier);
    root["sessions"].push_back(std::move(line));
  }
  // Names may hold any bytes; replaced, they cannot make dump() throw.
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace plimsoll
