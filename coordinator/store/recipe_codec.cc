#include "coordinator/store/recipe_codec.h"

#include <algorithm>
#include <utility>

#include "plimsoll/v1/results.pb.h"

namespace plimsoll {
namespace {

constexpr std::size_t kCurrencyBytesMax = 8;
constexpr std::size_t kDigestDigits = 64;

Status Damaged(const char* what) {
  return absl::DataLossError(std::string("a stored ") + what + " is damaged");
}

bool IsDigest(std::string_view text) {
  return text.size() == kDigestDigits && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace

std::string EncodeRecipe(const KeptRecipe& recipe) {
  v1::StoredRecipe out;
  out.set_note(recipe.note);
  for (const RecipeFile& file : recipe.files) {
    v1::StoredRecipeFile& stored = *out.add_files();
    stored.set_path(file.path);
    stored.set_contents(file.bytes);
    stored.set_digest(file.digest);
    stored.set_secrets_left_out(file.secrets_left_out);
  }
  return out.SerializeAsString();
}

StatusOr<KeptRecipe> DecodeRecipe(std::string_view bytes) {
  v1::StoredRecipe in;
  // Paths and notes come on top of the files; far more than that is none of ours.
  if (bytes.size() > 2 * kRecipeBytesMax ||
      !in.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
      in.files_size() > static_cast<int>(kRecipeFilesMax)) {
    return Damaged("recipe");
  }
  KeptRecipe recipe{.note = in.note(), .files = {}};
  for (const v1::StoredRecipeFile& stored : in.files()) {
    if (!IsDigest(stored.digest())) return Damaged("recipe");
    recipe.files.push_back({.path = stored.path(),
                            .bytes = stored.contents(),
                            .digest = stored.digest(),
                            .secrets_left_out = stored.secrets_left_out()});
  }
  return recipe;
}

void WriteCost(const std::optional<CostSettings>& cost, v1::StoredRun* out) {
  if (!cost) return;
  v1::StoredCost* stored = out->mutable_cost();
  stored->set_nodes(cost->nodes);
  stored->set_per_node_hour_micros(cost->micros);
  stored->set_currency(cost->currency);
}

StatusOr<std::optional<CostSettings>> ReadCost(const v1::StoredRun& in) {
  if (!in.has_cost()) return std::optional<CostSettings>();
  const v1::StoredCost& cost = in.cost();
  if (cost.nodes() == 0 || cost.per_node_hour_micros() <= 0 ||
      cost.currency().size() > kCurrencyBytesMax) {
    return Damaged("price");
  }
  return std::optional(CostSettings{
      .nodes = cost.nodes(), .micros = cost.per_node_hour_micros(), .currency = cost.currency()});
}

}  // namespace plimsoll
