// This process and its children ahead of everybody else on the machine, as on one of their own.
#pragma once

#include <string>

namespace plimsoll::bench {

// Real-time scheduling for as long as it lives. The kernel lets such processes have 95% of a
// second and then takes the cores from them for what is left of it (sched_rt_runtime_us): gaps of
// 50 ms that belong to the rule, not to what is measured. Where it may be lifted it is, and put
// back at the end, also of one by a signal. One at a time.
class AheadOfOthers {
 public:
  AheadOfOthers();
  ~AheadOfOthers();
  AheadOfOthers(const AheadOfOthers&) = delete;
  AheadOfOthers& operator=(const AheadOfOthers&) = delete;
  // What could not be had, in a line for people; empty: all of it.
  const std::string& missing() const { return missing_; }

 private:
  std::string missing_;
};

}  // namespace plimsoll::bench
