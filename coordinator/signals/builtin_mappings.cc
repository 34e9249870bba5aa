#include "coordinator/signals/builtin_mappings.h"

#include <algorithm>
#include <vector>

#include "common/base/text.h"
#include "coordinator/signals/mapping_reader.h"
#include "coordinator/signals/page.h"
#include "fmt/format.h"

namespace plimsoll {
namespace {

constexpr std::size_t kShownBytes = 60;

std::string Kinds() {
  std::vector<std::string_view> kinds;
  for (const EmbeddedText& one : BuiltinMappingTexts()) kinds.push_back(one.name);
  return fmt::format("{}", fmt::join(kinds, ", "));
}

}  // namespace

StatusOr<Mapping> BuiltinMapping(std::string_view kind) {
  for (const EmbeddedText& one : BuiltinMappingTexts()) {
    if (one.name == kind) return ParseMapping(one.text, fmt::format("{}.yaml (built in)", kind));
  }
  return absl::NotFoundError(
      fmt::format("there is no kind of server \"{}\"; there are {}, or name a mapping file",
                  Printable(kind, kShownBytes), Kinds()));
}

StatusOr<std::string> DetectKind(const Page& page) {
  for (const EmbeddedText& one : BuiltinMappingTexts()) {
    ASSIGN_OR_RETURN(const Mapping mapping, BuiltinMapping(one.name));
    const bool here =
        std::any_of(mapping.detect.begin(), mapping.detect.end(),
                    [&page](const std::string& name) { return !page.layout->Named(name).empty(); });
    if (here) return mapping.kind;
  }
  return absl::NotFoundError(
      fmt::format("the page is of no kind that is known: it has no name of {}", Kinds()));
}

}  // namespace plimsoll
