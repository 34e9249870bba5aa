#include "coordinator/store/cell_codec.h"

#include <limits>
#include <utility>

#include "common/base/limits.h"
#include "plimsoll/v1/results.pb.h"

namespace plimsoll {
namespace {

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

}  // namespace

std::string EncodeCell(const Cell& cell) {
  v1::StoredCell out;
  out.set_lane(cell.counts.lane);
  out.set_block(cell.counts.block);
  out.set_tier(cell.counts.tier);
  out.set_ttft_n(cell.counts.ttft_n);
  out.set_ttft_within(cell.counts.ttft_within);
  out.set_rate_n(cell.counts.rate_n);
  out.set_rate_within(cell.counts.rate_within);
  out.set_rate_one_chunk(cell.counts.rate_one_chunk);
  out.set_attempts(cell.counts.attempts);
  out.set_failed(cell.counts.failed);
  out.set_unsent(cell.counts.unsent);
  out.set_tool_answers(cell.counts.tool_answers);
  out.set_tool_invalid(cell.counts.tool_invalid);
  Write(cell.ttft_ns, out.mutable_ttft_ns());
  Write(cell.ttft_sent_ns, out.mutable_ttft_sent_ns());
  Write(cell.rate_mtok_s, out.mutable_rate_mtok_s());
  Write(cell.end_to_end_rate_mtok_s, out.mutable_end_to_end_rate_mtok_s());
  return out.SerializeAsString();
}

StatusOr<Cell> DecodeCell(std::string_view bytes) {
  v1::StoredCell in;
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()) ||
      !in.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return Damaged();
  }
  if (in.lane() >= limits::kLanesMax || in.block() >= limits::kBlocksMax ||
      in.tier() >= limits::kTiersMax || in.ttft_within() > in.ttft_n() ||
      in.rate_within() > in.rate_n() || in.failed() > in.attempts() ||
      in.tool_invalid() > in.tool_answers()) {
    return Damaged();
  }
  Cell cell;
  cell.counts = {.lane = in.lane(),
                 .block = in.block(),
                 .tier = static_cast<std::uint8_t>(in.tier()),
                 .ttft_n = in.ttft_n(),
                 .ttft_within = in.ttft_within(),
                 .rate_n = in.rate_n(),
                 .rate_within = in.rate_within(),
                 .rate_one_chunk = in.rate_one_chunk(),
                 .attempts = in.attempts(),
                 .failed = in.failed(),
                 .unsent = in.unsent(),
                 .tool_answers = in.tool_answers(),
                 .tool_invalid = in.tool_invalid()};
  const struct {
    const v1::StoredHistogram& in;
    Histogram& out;
  } histograms[] = {{in.ttft_ns(), cell.ttft_ns},
                    {in.ttft_sent_ns(), cell.ttft_sent_ns},
                    {in.rate_mtok_s(), cell.rate_mtok_s},
                    {in.end_to_end_rate_mtok_s(), cell.end_to_end_rate_mtok_s}};
  for (const auto& histogram : histograms) {
    auto read = Read(histogram.in);
    if (!read.ok()) return Damaged();
    histogram.out = *std::move(read);
  }
  return cell;
}

}  // namespace plimsoll
