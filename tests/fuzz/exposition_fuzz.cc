// Any bytes are read as a page of metrics, in both syntaxes: they end in a page or in an error.
// What is accepted reads the same again by its known layout, and through a mapping shows no reset.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "coordinator/signals/builtin_mappings.h"
#include "coordinator/signals/exposition.h"
#include "coordinator/signals/identities.h"
#include "coordinator/signals/page_syntax.h"
#include "coordinator/signals/target_sample.h"

namespace {

using namespace plimsoll;

bool Same(const Page& a, const Page& b) {
  if (a.layout != b.layout || a.values.size() != b.values.size()) return false;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    const bool both_nan = std::isnan(a.values[i]) && std::isnan(b.values[i]);
    if (a.values[i] != b.values[i] && !both_nan) return false;
  }
  return a.timestamps_ms == b.timestamps_ms;
}

void Read(std::string_view body, PageSyntax syntax) {
  static const auto mapping = std::make_shared<const Mapping>(*BuiltinMapping("vllm"));
  PageParser parser(PageLimits{
      .bytes_max = 1 << 20, .line_bytes_max = 4096, .labels_max = 16, .series_max = 5000});
  const StatusOr<Page> page = parser.Parse(body, syntax);
  if (!page.ok()) return;
  const StatusOr<Page> again = parser.Parse(body, syntax);
  if (!again.ok() || !Same(*page, *again)) std::abort();
  for (std::size_t i = 0; i < page->layout->size(); ++i) {
    if (page->layout->NameOf(i).empty() || page->layout->TextOf(i).empty()) std::abort();
  }
  TargetReader reader(mapping, {.model = "qwen3-8b", .where = {}});
  const TargetSample samples[] = {reader.Read(*page, MonoTime(), 1ms),
                                  reader.Read(*again, MonoTime() + 1s, 1ms)};
  const TargetReading reading = ReadTarget(*mapping, samples);
  if (reading.continuity != Continuity::kWhole) std::abort();
  (void)CheckSource(CombineTargets(std::span<const TargetReading>(&reading, 1)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  Read(body, PageSyntax::kText);
  Read(body, PageSyntax::kOpenMetrics);
  (void)PageKindOf(body);
  return 0;
}
