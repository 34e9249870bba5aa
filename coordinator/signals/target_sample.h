// What one page of one target says, cut down to the signals of its mapping: a few hundred numbers,
// where the page had thousands. Pure.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/base/time.h"
#include "coordinator/signals/mapping.h"
#include "coordinator/signals/page.h"
#include "coordinator/signals/selection.h"

namespace plimsoll {

struct TargetSample {
  // The middle of the HTTP exchange: the page describes some instant inside it.
  MonoTime at{};
  Duration uncertainty{};  // Half of the exchange.
  Status status;           // Not OK: the page could not be read, and nothing below is set.
  std::shared_ptr<const Selection> selection;
  std::vector<double> values;        // As Selection::Values has them.
  std::optional<double> start_time;  // Of the process, seconds since 1970; absent: not said.

  bool readable() const { return selection != nullptr; }
};

// Turns pages of one target into samples. A target is one server's page: one process, or one of
// its processes, never a load balancer's choice of several.
class TargetReader {
 public:
  // `mapping` is shared with other targets of the source, and never null.
  TargetReader(std::shared_ptr<const Mapping> mapping, SourceFilter filter);

  // `started` is what an answer's head said of the start (llama.cpp's Process-Start-Time-Unix); it
  // stands in where the page does not say it.
  TargetSample Read(const Page& page, MonoTime at, Duration uncertainty,
                    std::optional<double> started = std::nullopt);
  // Of a page that could not be had or read; `status` is not OK.
  static TargetSample Unreadable(Status status, MonoTime at, Duration uncertainty);

  const Mapping& mapping() const { return *mapping_; }

 private:
  std::shared_ptr<const Mapping> mapping_;
  SourceFilter filter_;
  std::shared_ptr<const PageLayout> layout_;  // That selection_ is of.
  std::shared_ptr<const Selection> selection_;
};

}  // namespace plimsoll
