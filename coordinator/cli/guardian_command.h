// `plimsoll guardian`: started by the coordinator, not by people; see coordinator/hooks/guardian.h.
#pragma once

namespace plimsoll {

// Takes the words after `plimsoll guardian`. 0, 6 if a rollback failed for good, 64 for usage.
int GuardianMain(int argc, const char* const* argv);

}  // namespace plimsoll
