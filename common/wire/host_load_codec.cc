#include "common/wire/host_load_codec.h"

#include <cmath>
#include <optional>
#include <string_view>

#include "plimsoll/v1/records.pb.h"

namespace plimsoll {
namespace {

using wire::Checks;

// More cores than any machine has: what is larger is no measurement.
constexpr double kCoresMax = 1e6;

std::optional<double> Cores(bool there, double value, std::string_view field, Checks* checks) {
  if (!there) return std::nullopt;
  checks->Require(std::isfinite(value) && value >= 0 && value <= kCoresMax, field,
                  "finite, not negative, at most a million");
  return value;
}

std::optional<std::int64_t> Span(bool there, std::int64_t ns, std::string_view field,
                                 Checks* checks) {
  if (!there) return std::nullopt;
  return checks->Span(ns, field).count();
}

std::optional<std::uint64_t> Count(bool there, std::uint64_t count) {
  return there ? std::optional(count) : std::nullopt;
}

}  // namespace

void ToProto(const HostLoad& load, v1::HostLoad* out) {
  out->Clear();
  if (load.cores_used_max) out->set_cores_used_max(*load.cores_used_max);
  if (load.cores) out->set_cores(*load.cores);
  if (load.thread_share_max) out->set_thread_share_max(*load.thread_share_max);
  if (load.throttled_ns) out->set_throttled_ns(*load.throttled_ns);
  if (load.stolen_ns) out->set_stolen_ns(*load.stolen_ns);
  if (load.descriptors_max) out->set_descriptors_max(*load.descriptors_max);
  if (load.descriptors_limit) out->set_descriptors_limit(*load.descriptors_limit);
  if (load.ports_max) out->set_ports_max(*load.ports_max);
  if (load.ports_limit) out->set_ports_limit(*load.ports_limit);
}

HostLoad ReadHostLoad(const v1::HostLoad& in, Checks* checks) {
  HostLoad load;
  load.cores_used_max =
      Cores(in.has_cores_used_max(), in.cores_used_max(), "host.cores_used_max", checks);
  load.cores = Cores(in.has_cores(), in.cores(), "host.cores", checks);
  load.thread_share_max =
      Cores(in.has_thread_share_max(), in.thread_share_max(), "host.thread_share_max", checks);
  load.throttled_ns = Span(in.has_throttled_ns(), in.throttled_ns(), "host.throttled_ns", checks);
  load.stolen_ns = Span(in.has_stolen_ns(), in.stolen_ns(), "host.stolen_ns", checks);
  load.descriptors_max = Count(in.has_descriptors_max(), in.descriptors_max());
  load.descriptors_limit = Count(in.has_descriptors_limit(), in.descriptors_limit());
  load.ports_max = Count(in.has_ports_max(), in.ports_max());
  load.ports_limit = Count(in.has_ports_limit(), in.ports_limit());
  return load;
}

}  // namespace plimsoll
