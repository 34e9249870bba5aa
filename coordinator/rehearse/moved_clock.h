// The coordinator's clock: the operating system's, whose wall clock a rehearsal may begin elsewhere
// and let jump. What is monotonic is never touched.
#pragma once

#include <atomic>
#include <string>

#include "common/base/clock.h"
#include "common/base/real_clock.h"
#include "coordinator/rehearse/rehearsal_settings.h"

namespace plimsoll {

class MovedClock final : public Clock {
 public:
  // Begins where the settings say, now.
  explicit MovedClock(const RehearsalSettings& settings);

  MonoTime MonoNow() const override { return real_.MonoNow(); }
  // Looks for the file that makes it jump, until it was there once.
  WallTime WallNow() const override;

 private:
  RealClock real_;
  Duration ahead_{};
  const Duration step_;
  const std::string step_file_;
  mutable std::atomic<bool> stepped_{false};
};

}  // namespace plimsoll
