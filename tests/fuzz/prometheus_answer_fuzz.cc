// Whatever an answer of a Prometheus server's API holds: it ends in pages or a refusal, and each
// page is read or refused as any page of metrics is.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "coordinator/scrape/prometheus_pages.h"
#include "coordinator/signals/exposition.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plimsoll;
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  const std::string url = "http://prom:9090";
  const PrometheusAsked asked{url, "say how"};
  (void)ParseTimeAnswer(200, body, asked);
  const auto series = ParseSeriesAnswer(200, body, asked);
  if (!series.ok()) return 0;
  PageParser parser;
  for (const auto& [target, pages] : PagesIn(*series, {"job", "instance"})) {
    for (const PrometheusPage& page : pages) (void)parser.Parse(page.text, PageSyntax::kText);
  }
  return 0;
}
