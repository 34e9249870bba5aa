// What everything that scrapes shares.
#pragma once

#include <cstddef>

#include "common/base/clock.h"
#include "common/base/scheduler.h"
#include "common/http/transport.h"
#include "coordinator/scrape/page_keeper.h"
#include "coordinator/scrape/signal_log.h"

namespace plimsoll {

// As PageLimits has it for a page; a Prometheus server's answer holds several.
inline constexpr std::size_t kAnswerBytesMax = std::size_t{32} << 20;

// All outlive whoever has it.
struct ScrapeDeps {
  Scheduler& scheduler;
  HttpTransport& http;
  const Clock& clock;  // For labels, and to compare with another machine's clock.
  SignalLog& log;
  PageKeeper* keeper = nullptr;  // Null: pages are not kept.
};

}  // namespace plimsoll
