#include "coordinator/cli/export_pages.h"

#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/json/json.h"
#include "coordinator/store/page_repo.h"

namespace plimsoll {
namespace {

using Json = nlohmann::ordered_json;

void AppendPage(const KeptPageTarget& target, const KeptPage& page, std::string* text) {
  Json line;
  line["source"] = target.source;
  line["target"] = target.name;
  line["url"] = target.url;
  line["kind"] = target.kind;
  line["wall_ns"] = page.at.time_since_epoch().count();
  line["took_ns"] = page.took.count();
  line["http_status"] = page.http == 0 ? Json() : Json(page.http);
  line["content_type"] = page.content_type.empty() ? Json() : Json(page.content_type);
  line["error"] = page.error.empty() ? Json() : Json(page.error);
  line["body"] = page.body;
  // Bytes that are no UTF-8 become U+FFFD: JSON has no others.
  *text += line.dump(-1, ' ', false, Json::error_handler_t::replace);
  *text += '\n';
}

}  // namespace

Status WritePages(Store& store, const std::string& run, OutputFile& out) {
  const PageRepo repo(store);
  ASSIGN_OR_RETURN(const auto listed, repo.Targets(run));
  if (listed.empty()) {
    return absl::NotFoundError(fmt::format(
        "run {} has no pages of metrics: its scenario had no signals, or an earlier version ran it",
        run));
  }
  std::map<std::uint32_t, KeptPageTarget> targets(listed.begin(), listed.end());
  std::string text;
  return repo.ScanPages(run, [&](const keys::PagesKey& key, const std::vector<KeptPage>& pages) {
    const auto target = targets.find(key.target);
    if (target == targets.end()) {
      return absl::DataLossError(
          fmt::format("target {} of the run's pages is not there", key.target));
    }
    text.clear();
    for (const KeptPage& page : pages) AppendPage(target->second, page, &text);
    return out.Write(text);
  });
}

}  // namespace plimsoll
