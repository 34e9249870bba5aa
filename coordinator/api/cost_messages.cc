#include "coordinator/api/cost_messages.h"

#include <cmath>

#include "common/base/text.h"
#include "plimsoll/v1/api.pb.h"

namespace plimsoll {
namespace {

void Fill(const Figure& figure, v1::Figure* out) {
  if (figure.value && std::isfinite(*figure.value)) out->set_value(*figure.value);
  out->set_why_not(ValidUtf8(figure.why_not));
}

void Fill(const TokenFigures& figures, v1::TokenFigures* out) {
  Fill(figures.all, out->mutable_all());
  Fill(figures.cached, out->mutable_cached_in());
  Fill(figures.uncached, out->mutable_uncached_in());
  Fill(figures.out, out->mutable_out());
}

}  // namespace

void ToApi(const Cost& cost, v1::Cost* out) {
  out->Clear();
  if (cost.settings) {
    out->set_nodes(cost.settings->nodes);
    out->set_per_node_hour(static_cast<double>(cost.settings->micros) * 1e-6);
    out->set_currency(ValidUtf8(cost.settings->currency));
  }
  if (cost.sessions) out->set_sessions(*cost.sessions);
  Fill(cost.per_session_hour, out->mutable_per_session_hour());
  Fill(cost.per_mtok, out->mutable_per_million_tokens());
  Fill(cost.mtok_per_hour, out->mutable_million_tokens_per_hour());
  Fill(cost.sessions_per_node, out->mutable_sessions_per_node());
  Fill(cost.mtok_per_node_hour, out->mutable_million_tokens_per_node_hour());
}

void ToApi(const KeptRecipe& recipe, v1::Recipe* out) {
  out->Clear();
  out->set_note(ValidUtf8(recipe.note));
  for (const RecipeFile& file : recipe.files) {
    v1::RecipeFile* to = out->add_files();
    to->set_path(ValidUtf8(file.path));
    to->set_text(ValidUtf8(file.bytes));
    to->set_sha256(ValidUtf8(file.digest));
    to->set_secrets_left_out(file.secrets_left_out);
  }
}

}  // namespace plimsoll
