#include "coordinator/serverjudge/observed.h"

#include <algorithm>
#include <utility>

#include "coordinator/signals/censoring.h"
#include "fmt/format.h"

namespace plimsoll {
namespace {

bool AddTo(BucketCounts& all, const std::vector<BucketCounts>& some) {
  for (const BucketCounts& counts : some) {
    if (all.edges.empty() && all.n == 0) {
      all = counts;
    } else if (!all.Merge(counts)) {
      return false;
    }
  }
  return true;
}

// What may still become an observation of a span.
void AddOpen(Signal signal, const SpanReading& span, const SpanReading* engines,
             const SpanReading* gateway, Observed& out) {
  if (signal == Signal::kTokenGap) return;  // Gaps are counted as they come.
  OpenAtEnd open =
      OpenWithoutObservation(signal, span.whole, gateway == nullptr ? nullptr : &gateway->whole);
  if (!open.most && engines != nullptr) {
    open = OpenWithoutObservation(signal, engines->whole, nullptr);
  }
  if (!open.most && span.after) {
    // Whatever was open, it became an observation before the page that came later, or never.
    std::uint64_t later = 0;
    for (const BucketCounts& counts : span.after->Of(signal).reading.histograms) later += counts.n;
    open = {.most = later, .how = "observed until the step's last call had ended"};
  }
  if (!open.most) {
    out.why_not = fmt::format("nobody knows how many requests were open at the end: {}", open.how);
    return;
  }
  out.open += *open.most;
  out.how = open.how;
}

}  // namespace

std::uint64_t CountAtMost(const BucketCounts& counts, std::ptrdiff_t edge) {
  if (edge < 0) return 0;
  if (static_cast<std::size_t>(edge) >= counts.at_most.size()) return counts.n;
  return counts.at_most[static_cast<std::size_t>(edge)];
}

Observed Observe(Signal signal, const SourceStep& source, const SourceStep& engines,
                 const SourceStep& gateway) {
  Observed out{.signal = signal, .per_request = signal != Signal::kTokenGap};
  bool all_after = true;
  BucketCounts after;
  for (std::size_t i = 0; i < source.spans.size(); ++i) {
    const SpanReading& span = source.spans[i];
    bool same = AddTo(out.all, span.whole.Of(signal).reading.histograms);
    for (const SourceReading& block : span.blocks) {
      BucketCounts counts;
      same = same && AddTo(counts, block.Of(signal).reading.histograms);
      out.blocks.push_back(std::move(counts));
    }
    if (span.after) same = same && AddTo(after, span.after->Of(signal).reading.histograms);
    all_after = all_after && span.after.has_value();
    if (!same || (after.n > 0 && !SameEdges(after.edges, out.all.edges))) {
      out.why_not = "its histograms have different buckets, and those must not be added up";
      return out;
    }
    AddOpen(signal, span, i < engines.spans.size() ? &engines.spans[i] : nullptr,
            i < gateway.spans.size() ? &gateway.spans[i] : nullptr, out);
    if (!out.why_not.empty()) return out;
  }
  if (all_after) out.after = std::move(after);
  if (out.all.repaired)
    out.why_not = "its buckets contradict each other: one fell below the one before it";
  return out;
}

namespace {

constexpr std::string_view kNotAll = "a copy is not scraped, or a page stands still";

// What an observation of a histogram, or an increase of a counter, is one of.
struct Requests {
  double seen = 0;
  std::uint64_t sent = 0;
  std::string_view what;  // "first tokens".
  std::string_view got;   // "calls got one".
};

std::string NotAll(const Requests& requests, double open, const SourceStep& source) {
  if (HasSeenAll(requests.seen, open, static_cast<double>(requests.sent), source)) return "";
  return fmt::format("it observed {:.0f} {}, and {} {}: {}", requests.seen, requests.what,
                     requests.sent, requests.got, kNotAll);
}

// At most so many that were open are to be observed yet.
double ToCome(const Observed& seen, const SourceStep& engines, const SourceStep& gateway) {
  const double open = OpenAtTheEnds(engines, gateway).value_or(static_cast<double>(seen.open));
  return seen.after ? std::min(open, static_cast<double>(seen.after->n)) : open;
}

std::uint64_t EndedWell(const ClientLoad& load) {
  return load.ok + load.evals.answered_ns.size();
}

// By its count of finished requests; empty without one.
std::string UnseenFinished(const SourceStep& source, const SourceStep& engines,
                           const SourceStep& gateway, const ClientLoad& load) {
  if (!source.Has(Signal::kFinished) || !source.Trusted(Signal::kFinished)) return "";
  return NotAll({.seen = source.Increase(Signal::kFinished),
                 .sent = EndedWell(load),
                 .what = "finished requests",
                 .got = "calls ended well"},
                OpenAtTheEnds(engines, gateway).value_or(load.in_flight), source);
}

std::string UnseenFirstTokens(const Observed& seen, const SourceStep& source,
                              const SourceStep& engines, const SourceStep& gateway,
                              const ClientLoad& load) {
  return NotAll({.seen = static_cast<double>(seen.all.n),
                 .sent = load.first_tokens + load.evals.answered_ns.size(),
                 .what = "first tokens",
                 .got = "calls got one"},
                ToCome(seen, engines, gateway), source);
}

std::string UnseenOfGaps(const SourceStep& source, const SourceStep& engines,
                         const SourceStep& gateway, const ClientLoad& load) {
  if (source.Has(Signal::kTtft)) {
    const Observed first = Observe(Signal::kTtft, source, engines, gateway);
    if (!first.why_not.empty()) return first.why_not;
    return UnseenFirstTokens(first, source, engines, gateway, load);
  }
  if (source.Has(Signal::kFinished) && source.Trusted(Signal::kFinished)) {
    return UnseenFinished(source, engines, gateway, load);
  }
  return "nobody knows of how many requests its gaps are: it counts neither first tokens nor "
         "finished requests";
}

}  // namespace

bool HasSeenAll(double seen, double open, double sent, const SourceStep& source) {
  return seen + open >= sent * source.Covered() * (1 - kCountsApartShare);
}

std::optional<double> OpenAtTheEnds(const SourceStep& engines, const SourceStep& gateway) {
  if (gateway.Has(Signal::kOpenRequests)) return gateway.Last(Signal::kOpenRequests);
  if (!engines.Has(Signal::kRunning) || !engines.Has(Signal::kWaiting)) return std::nullopt;
  return engines.Last(Signal::kRunning) + engines.Last(Signal::kWaiting);
}

std::string Unseen(Signal signal, const Observed& seen, const SourceStep& source,
                   const SourceStep& engines, const SourceStep& gateway, const ClientLoad& load) {
  if (signal == Signal::kTokenGap) return UnseenOfGaps(source, engines, gateway, load);
  if (signal == Signal::kTtft) return UnseenFirstTokens(seen, source, engines, gateway, load);
  const std::string finished = UnseenFinished(source, engines, gateway, load);
  if (!finished.empty()) return finished;
  // Some have none of an answer of one token, or in one chunk; nobody knows of how many evals.
  return NotAll({.seen = static_cast<double>(seen.all.n),
                 .sent = load.ok - std::min(load.ok, load.one_chunk),
                 .what = "answers",
                 .got = "calls ended well in more than one chunk"},
                ToCome(seen, engines, gateway), source);
}

}  // namespace plimsoll
