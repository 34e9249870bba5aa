#include "coordinator/rehearse/moved_clock.h"

#include <unistd.h>

namespace plimsoll {

MovedClock::MovedClock(const RehearsalSettings& settings)
    : step_(settings.wall_step), step_file_(settings.wall_step_file) {
  if (settings.wall_from_s) {
    ahead_ = std::chrono::seconds(*settings.wall_from_s) - real_.WallNow().time_since_epoch();
  }
}

WallTime MovedClock::WallNow() const {
  if (!step_file_.empty() && !stepped_ && ::access(step_file_.c_str(), F_OK) == 0) stepped_ = true;
  return real_.WallNow() + ahead_ + (stepped_ ? step_ : Duration{0});
}

}  // namespace plimsoll
