// SignalFeed over the network: a scraper on an event loop and a thread of its own, so that neither
// a slow page nor the work of reading one delays the run's loop, and a busy run's loop delays no
// page.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "common/base/clock.h"
#include "coordinator/run/signal_feed.h"
#include "coordinator/scrape/page_keeper.h"
#include "coordinator/scrape/scraper.h"

namespace plimsoll {

class ScrapeThread final : public SignalFeed {
 public:
  // What became of the pages that were to be kept; once it has stopped.
  struct Kept {
    std::uint64_t pages = 0;
    std::uint64_t left_out = 0;
    std::size_t bytes = 0;  // Compressed.
    Status status;          // Of the first write that failed.
  };

  // `clock` outlives it. `sink` is called on the scraper's thread, nothing more after Stop();
  // without one no page is kept. Begins to ask at once.
  ScrapeThread(ScrapePlan plan, const Clock& clock, std::optional<PageKeeper::Sink> sink);
  ~ScrapeThread() override;  // Stops.

  // Cuts what is under way, writes the pages that are still gathered and ends the thread. What was
  // read stays. Does nothing the second time.
  void Stop();
  Kept kept() const;
  // What is odd about pages that are read all the same.
  std::vector<std::string> Notes() const;

  SignalHistory Between(MonoTime from, MonoTime to) const override;
  bool AskedSince(MonoTime at) const override;
  void AskNow() override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace plimsoll
