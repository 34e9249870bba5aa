#include "common/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace plimsoll {

void CheckFailed(const char* file, int line, const char* expression) {
  std::fprintf(stderr, "plimsoll: internal error: %s:%d: %s\n", file, line, expression);
  std::abort();
}

}  // namespace plimsoll
