// PLIMSOLL_CHECK: an invariant of our own code, always on. Input never reaches one: what a file, a
// peer or a person can cause is a Status, a record's outcome or a counter.
#pragma once

namespace plimsoll {

[[noreturn]] void CheckFailed(const char* file, int line, const char* expression);

}  // namespace plimsoll

#define PLIMSOLL_CHECK(condition)                                              \
  do {                                                                         \
    if (!(condition)) ::plimsoll::CheckFailed(__FILE__, __LINE__, #condition); \
  } while (false)
