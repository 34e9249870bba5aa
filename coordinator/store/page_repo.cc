#include "coordinator/store/page_repo.h"

#include "fmt/format.h"

namespace plimsoll {

Status PageRepo::PutTarget(const keys::PageTargetKey& key, const KeptPageTarget& target) {
  return store_.Commit({{keys::Encode(key), EncodePageTarget(target)}}, Durability::kLogged);
}

StatusOr<std::vector<std::pair<std::uint32_t, KeptPageTarget>>> PageRepo::Targets(
    std::string_view run) const {
  std::vector<std::pair<std::uint32_t, KeptPageTarget>> targets;
  Status damaged;
  RETURN_IF_ERROR(
      store_.Scan(keys::PageTargetsOf(run), [&](std::string_view bytes, std::string_view value) {
        const auto key = keys::DecodePageTarget(bytes);
        StatusOr<KeptPageTarget> target = DecodePageTarget(value);
        if (!key.has_value() || !target.ok()) {
          damaged = absl::DataLossError(fmt::format("run {}: a target of pages is damaged", run));
          return false;
        }
        targets.emplace_back(key->target, *std::move(target));
        return true;
      }));
  RETURN_IF_ERROR(damaged);
  return targets;
}

Status PageRepo::PutPages(const keys::PagesKey& key, std::string bytes) {
  return store_.Commit({{keys::Encode(key), std::move(bytes)}}, Durability::kLogged);
}

Status PageRepo::ScanPages(
    std::string_view run,
    const std::function<Status(const keys::PagesKey&, const std::vector<KeptPage>&)>& visit) const {
  Status ended;
  RETURN_IF_ERROR(
      store_.Scan(keys::PagesOf(run), [&](std::string_view bytes, std::string_view value) {
        const auto key = keys::DecodePages(bytes);
        if (!key.has_value()) {
          ended = absl::DataLossError(fmt::format("run {}: a key of pages is damaged", run));
          return false;
        }
        const StatusOr<std::vector<KeptPage>> pages = DecodePages(value);
        ended = pages.ok() ? visit(*key, *pages)
                           : Annotate(pages.status(), fmt::format("pages {} of target {}",
                                                                  key->bundle, key->target));
        return ended.ok();
      }));
  return ended;
}

}  // namespace plimsoll
