#include "coordinator/store/cell_codec.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "common/base/limits.h"
#include "coordinator/judge/bar.h"
#include "plimsoll/v1/results.pb.h"

namespace plimsoll {
namespace {

// Earlier versions wrote none and other counts.
constexpr std::uint32_t kCellVersion = 2;

Status Damaged() {
  return absl::DataLossError("a stored cell is damaged");
}

void Write(const Histogram& histogram, v1::StoredHistogram* out) {
  const Histogram::Parts parts = histogram.ToParts();
  std::uint32_t before = 0;
  for (const Histogram::Bucket& bucket : parts.buckets) {
    out->add_index_steps(bucket.index - before);
    out->add_counts(bucket.count);
    before = bucket.index;
  }
  out->set_overflow(parts.overflow);
  out->set_min(parts.min);
  out->set_max(parts.max);
  out->set_sum_high(parts.sum_high);
  out->set_sum_low(parts.sum_low);
}

StatusOr<Histogram> Read(const v1::StoredHistogram& in) {
  if (in.index_steps_size() != in.counts_size()) return Damaged();
  Histogram::Parts parts;
  std::uint64_t index = 0;
  for (int i = 0; i < in.counts_size(); ++i) {
    index += in.index_steps(i);
    if (index >= Histogram::kBuckets) return Damaged();
    parts.buckets.push_back({static_cast<std::uint32_t>(index), in.counts(i)});
  }
  parts.overflow = in.overflow();
  parts.min = in.min();
  parts.max = in.max();
  parts.sum_high = in.sum_high();
  parts.sum_low = in.sum_low();
  return Histogram::FromParts(std::move(parts));
}

void WriteLadders(const std::vector<PartCounts>& parts, v1::StoredCell* out) {
  const bool any = std::any_of(parts.begin(), parts.end(), [](const PartCounts& part) {
    return part.hits_at != decltype(part.hits_at){};
  });
  if (!any) return;
  for (const PartCounts& part : parts) {
    for (const std::uint32_t hits : part.hits_at) out->add_part_hits_ladder(hits);
  }
}

// A higher threshold lets more calls in, or of a speed fewer.
bool IsLadder(const PartCounts& part) {
  bool up = part.hits <= part.n;
  bool down = up;
  for (std::size_t i = 0; i < kThresholds; ++i) {
    if (part.HitsAt(i) > part.n) return false;
    if (i == 0) continue;
    up = up && part.HitsAt(i - 1) <= part.HitsAt(i);
    down = down && part.HitsAt(i - 1) >= part.HitsAt(i);
  }
  return up || down;
}

void Write(const std::vector<PartCounts>& parts, v1::StoredCell* out) {
  bool spread = false;
  for (const PartCounts& part : parts) {
    out->add_part_n(part.n);
    out->add_part_hits(part.hits);
    spread = spread || part.hits_strict != part.hits || part.hits_loose != part.hits;
  }
  WriteLadders(parts, out);
  if (!spread) return;
  for (const PartCounts& part : parts) {
    out->add_part_hits_strict(part.hits_strict);
    out->add_part_hits_loose(part.hits_loose);
  }
}

StatusOr<std::vector<PartCounts>> ReadParts(const v1::StoredCell& in) {
  const int size = in.part_n_size();
  const bool spread = in.part_hits_strict_size() > 0 || in.part_hits_loose_size() > 0;
  if (size > static_cast<int>(kBarLimitsMax) || in.part_hits_size() != size ||
      (spread && (in.part_hits_strict_size() != size || in.part_hits_loose_size() != size))) {
    return Damaged();
  }
  constexpr int kRungs = static_cast<int>(kThresholds) - 1;
  const bool ladder = in.part_hits_ladder_size() > 0;
  if (ladder && in.part_hits_ladder_size() != size * kRungs) return Damaged();
  std::vector<PartCounts> parts;
  for (int i = 0; i < size; ++i) {
    const std::uint32_t hits = in.part_hits(i);
    PartCounts part{.n = in.part_n(i),
                    .hits = hits,
                    .hits_strict = spread ? in.part_hits_strict(i) : hits,
                    .hits_loose = spread ? in.part_hits_loose(i) : hits};
    for (int k = 0; ladder && k < kRungs; ++k) {
      part.hits_at[static_cast<std::size_t>(k)] = in.part_hits_ladder(i * kRungs + k);
    }
    if (ladder && !IsLadder(part)) return Damaged();
    if (part.hits_strict > hits || part.hits_loose < hits || part.hits_loose > part.n) {
      return Damaged();
    }
    parts.push_back(part);
  }
  return parts;
}

}  // namespace

std::string EncodeCell(const Cell& cell) {
  v1::StoredCell out;
  out.set_lane(cell.counts.lane);
  out.set_block(cell.counts.block);
  out.set_half(cell.counts.half);
  out.set_tier(cell.counts.tier);
  out.set_ttft_n(cell.counts.ttft_n);
  out.set_rate_n(cell.counts.rate_n);
  out.set_rate_one_chunk(cell.counts.rate_one_chunk);
  out.set_attempts(cell.counts.attempts);
  out.set_failed(cell.counts.failed);
  out.set_unsent(cell.counts.unsent);
  out.set_tool_answers(cell.counts.tool_answers);
  out.set_tool_invalid(cell.counts.tool_invalid);
  out.set_version(kCellVersion);
  out.set_end_to_end_n(cell.counts.end_to_end_n);
  out.set_answer_n(cell.counts.answer_n);
  Write(cell.counts.parts, &out);
  Write(cell.ttft_ns, out.mutable_ttft_ns());
  Write(cell.ttft_sent_ns, out.mutable_ttft_sent_ns());
  Write(cell.rate_mtok_s, out.mutable_rate_mtok_s());
  Write(cell.end_to_end_rate_mtok_s, out.mutable_end_to_end_rate_mtok_s());
  Write(cell.answer_ns, out.mutable_answer_ns());
  return out.SerializeAsString();
}

StatusOr<Cell> DecodeCell(std::string_view bytes) {
  v1::StoredCell in;
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()) ||
      !in.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return Damaged();
  }
  if (in.version() < kCellVersion) {
    return absl::FailedPreconditionError(
        "its cells were stored by an earlier version of plimsoll, which counted them in another "
        "way; its report and its records can still be read");
  }
  if (in.version() > kCellVersion) {
    return absl::FailedPreconditionError(
        "its cells were stored by a later version of plimsoll; read them with that one");
  }
  if (in.lane() >= limits::kLanesMax || in.block() >= limits::kBlocksMax || in.half() > 1 ||
      in.tier() >= limits::kTiersMax || in.failed() > in.attempts() ||
      in.tool_invalid() > in.tool_answers()) {
    return Damaged();
  }
  Cell cell;
  cell.counts = {.lane = in.lane(),
                 .block = in.block(),
                 .half = static_cast<std::uint8_t>(in.half()),
                 .tier = static_cast<std::uint8_t>(in.tier()),
                 .ttft_n = in.ttft_n(),
                 .rate_n = in.rate_n(),
                 .rate_one_chunk = in.rate_one_chunk(),
                 .end_to_end_n = in.end_to_end_n(),
                 .answer_n = in.answer_n(),
                 .attempts = in.attempts(),
                 .failed = in.failed(),
                 .unsent = in.unsent(),
                 .tool_answers = in.tool_answers(),
                 .tool_invalid = in.tool_invalid()};
  ASSIGN_OR_RETURN(cell.counts.parts, ReadParts(in));
  const struct {
    const v1::StoredHistogram& in;
    Histogram& out;
  } histograms[] = {{in.ttft_ns(), cell.ttft_ns},
                    {in.ttft_sent_ns(), cell.ttft_sent_ns},
                    {in.rate_mtok_s(), cell.rate_mtok_s},
                    {in.end_to_end_rate_mtok_s(), cell.end_to_end_rate_mtok_s},
                    {in.answer_ns(), cell.answer_ns}};
  for (const auto& histogram : histograms) {
    auto read = Read(histogram.in);
    if (!read.ok()) return Damaged();
    histogram.out = *std::move(read);
  }
  return cell;
}

}  // namespace plimsoll
