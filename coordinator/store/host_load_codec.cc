#include "coordinator/store/host_load_codec.h"

#include <cmath>
#include <optional>

#include "plimsoll/v1/results.pb.h"

namespace plimsoll {
namespace {

std::optional<double> Share(bool there, double value) {
  if (!there || !std::isfinite(value) || value < 0) return std::nullopt;
  return value;
}
std::optional<std::int64_t> Span(bool there, std::int64_t ns) {
  if (!there || ns < 0) return std::nullopt;
  return ns;
}
std::optional<std::uint64_t> Count(bool there, std::uint64_t count) {
  return there ? std::optional(count) : std::nullopt;
}

}  // namespace

void WriteHostLoad(const HostLoad& load, v1::StoredHostLoad& out) {
  if (load.cores_used_max) out.set_cores_used_max(*load.cores_used_max);
  if (load.cores) out.set_cores(*load.cores);
  if (load.thread_share_max) out.set_thread_share_max(*load.thread_share_max);
  if (load.throttled_ns) out.set_throttled_ns(*load.throttled_ns);
  if (load.stolen_ns) out.set_stolen_ns(*load.stolen_ns);
  if (load.descriptors_max) out.set_descriptors_max(*load.descriptors_max);
  if (load.descriptors_limit) out.set_descriptors_limit(*load.descriptors_limit);
  if (load.ports_max) out.set_ports_max(*load.ports_max);
  if (load.ports_limit) out.set_ports_limit(*load.ports_limit);
}

HostLoad ReadHostLoad(const v1::StoredHostLoad& in) {
  return {.cores_used_max = Share(in.has_cores_used_max(), in.cores_used_max()),
          .cores = Share(in.has_cores(), in.cores()),
          .thread_share_max = Share(in.has_thread_share_max(), in.thread_share_max()),
          .throttled_ns = Span(in.has_throttled_ns(), in.throttled_ns()),
          .stolen_ns = Span(in.has_stolen_ns(), in.stolen_ns()),
          .descriptors_max = Count(in.has_descriptors_max(), in.descriptors_max()),
          .descriptors_limit = Count(in.has_descriptors_limit(), in.descriptors_limit()),
          .ports_max = Count(in.has_ports_max(), in.ports_max()),
          .ports_limit = Count(in.has_ports_limit(), in.ports_limit())};
}

}  // namespace plimsoll
