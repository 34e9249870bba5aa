// A small disk for one program: a tmpfs in a user and a mount namespace of its own, which is gone
// with the program. No right on this machine is needed where the kernel allows such namespaces.
#pragma once

#include <string>
#include <vector>

#include "common/base/status.h"

namespace plimsoll::rehearse {

// Exit code of RunOnSmallDisk() where the namespaces are not allowed.
inline constexpr int kNoSmallDisk = 125;
inline constexpr char kNoSmallDiskWords[] = "no small disk here: ";

// Becomes `argv` with a disk of `megabytes` mounted on `folder`, which exists. Returns only if that
// is not possible: kNoSmallDisk, after saying why on standard error.
int RunOnSmallDisk(const std::string& folder, int megabytes, const std::vector<std::string>& argv);

// Fills the file system of `folder`, as the process sees it, to the last byte.
Status FillDiskOf(int pid, const std::string& folder);

}  // namespace plimsoll::rehearse
