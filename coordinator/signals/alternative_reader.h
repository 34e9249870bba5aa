// Reads the ways to find a signal on a page, part of a mapping file (mapping_reader.h). Pure.
#pragma once

#include <string>
#include <vector>

#include "common/config/document.h"
#include "common/config/problems.h"
#include "coordinator/signals/mapping.h"

namespace plimsoll {

// `node` is a name, or a list of names and maps, at `path`. `kind` is what the names must be of.
std::vector<Alternative> ReadAlternatives(const ConfigNode& node, const std::string& path,
                                          SignalKind kind, Problems& problems);

}  // namespace plimsoll
