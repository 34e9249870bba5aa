// The mapping files that ship: those of deploy/signals, embedded at build.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "common/base/status.h"
#include "coordinator/signals/mapping.h"

namespace plimsoll {

struct Page;

struct EmbeddedText {
  std::string_view name;  // "vllm": the file's name without .yaml, which is its kind.
  std::string_view text;
};

// In the order of their names.
std::span<const EmbeddedText> BuiltinMappingTexts();

// NotFound, naming those there are, if none of ours is of this kind.
StatusOr<Mapping> BuiltinMapping(std::string_view kind);

// The kind of ours that a page is of: the first one of whose names it has. NotFound: none.

StatusOr<std::string> DetectKind(const Page& page);

}  // namespace plimsoll
