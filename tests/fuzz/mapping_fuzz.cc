// Any text is read as a mapping file: it ends in a mapping or in problems. What is accepted keeps
// the promises of its values, and reads a page.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "coordinator/signals/exposition.h"
#include "coordinator/signals/mapping_reader.h"
#include "coordinator/signals/target_reading.h"

namespace {

using namespace plimsoll;

constexpr std::string_view kPage =
    "vllm:num_requests_running{engine=\"0\",pid=\"1\"} 1\n"
    "vllm:time_to_first_token_seconds_bucket{le=\"5\"} 1\n"
    "vllm:time_to_first_token_seconds_bucket{le=\"+Inf\"} 2\n"
    "sglang:num_queue_reqs 1\nllamacpp:n_busy_slots_per_decode 2\nllamacpp:n_decode_total 5\n"
    "envoy_http_downstream_rq_xx{envoy_response_code_class=\"4\"} 3\na 1\nb{c=\"d\"} 2\n";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const StatusOr<Mapping> mapping = ParseMapping(text, "fuzz.yaml");
  if (!mapping.ok()) return 0;
  if (mapping->kind.empty() || mapping->signals.empty()) std::abort();
  for (const SignalMapping& signal : mapping->signals) {
    if (signal.any.empty() || !(signal.scale > 0)) std::abort();
    if (signal.to.empty() != (signal.derivation == Derivation::kPlain)) std::abort();
  }
  PageParser parser;
  const StatusOr<Page> page = parser.Parse(kPage, PageSyntax::kText);
  if (!page.ok()) std::abort();
  TargetReader reader(std::make_shared<const Mapping>(*mapping), {});
  const TargetSample samples[] = {reader.Read(*page, MonoTime(), 1ms),
                                  reader.Read(*page, MonoTime() + 1s, 1ms)};
  if (ReadTarget(*mapping, samples).continuity != Continuity::kWhole) std::abort();
  return 0;
}
