#include "coordinator/cli/recipe_files.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "common/config/secrets.h"
#include "common/wire/corpus_codec.h"
#include "coordinator/cli/corpus_files.h"

namespace plimsoll {
namespace {

constexpr std::string_view kWhatToDo =
    "recipe files are kept with the run, so each must be there when it starts (paths are relative "
    "to the scenario's folder); or take it out of recipe.files";

}  // namespace

StatusOr<KeptRecipe> ReadRecipe(const Recipe& recipe, const std::string& folder) {
  if (recipe.files.size() > kRecipeFilesMax) {
    return absl::InvalidArgumentError(
        fmt::format("recipe.files: names {} files, at most {} are kept with a run; name a folder's "
                    "few that differ between recipes",
                    recipe.files.size(), kRecipeFilesMax));
  }
  KeptRecipe kept{.note = recipe.note, .files = {}};
  std::string wrong;
  std::size_t left = kRecipeBytesMax - std::min(kRecipeBytesMax, recipe.note.size());
  for (const std::string& path : recipe.files) {
    const auto bytes = ReadWholeFile((std::filesystem::path(folder) / path).string(), left);
    if (!bytes.ok()) {
      const bool large = absl::IsResourceExhausted(bytes.status());
      wrong += fmt::format("{}recipe.files: {}: {}; {}", wrong.empty() ? "" : "\n", path,
                           MessageOf(bytes.status()),
                           large ? fmt::format("recipe files are kept with the run, at most {} "
                                               "bytes of all; take it out of recipe.files",
                                               kRecipeBytesMax)
                                 : std::string(kWhatToDo));
      continue;
    }
    WithoutSecrets kept_text = LeaveOutSecrets(*bytes);
    // Paths and marks may take more room than what they stand for.
    left -= std::min(left, std::max(bytes->size(), kept_text.text.size()) + path.size());
    kept.files.push_back({.path = path,
                          .bytes = std::move(kept_text.text),
                          .digest = Sha256Hex(*bytes),
                          .secrets_left_out = static_cast<std::uint32_t>(kept_text.lines.size())});
  }
  if (!wrong.empty()) return absl::InvalidArgumentError(wrong);
  return kept;
}

std::vector<std::string> SecretsSaid(const KeptRecipe& recipe) {
  std::vector<std::string> lines;
  for (const RecipeFile& file : recipe.files) {
    if (file.secrets_left_out == 0) continue;
    lines.push_back(fmt::format(
        "warning: recipe: {} value{} of {} look{} like a secret and {} not "
        "kept; name a variable or a file instead",
        file.secrets_left_out, file.secrets_left_out == 1 ? "" : "s", file.path,
        file.secrets_left_out == 1 ? "s" : "", file.secrets_left_out == 1 ? "is" : "are"));
  }
  return lines;
}

}  // namespace plimsoll
