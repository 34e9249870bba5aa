#include "coordinator/store/page_codec.h"

#include "coordinator/store/zstd_bytes.h"
#include "plimsoll/v1/pages.pb.h"

namespace plimsoll {
namespace {

constexpr std::size_t kNameBytesMax = std::size_t{64} << 10;
constexpr std::uint32_t kStatusMax = 999;
// An exchange has a time limit of a minute; this only finds damage.
constexpr Duration kTookMax = 1h;

Status Damaged(const char* what) {
  return absl::DataLossError(std::string("a stored ") + what + " is damaged");
}

bool IsSource(std::string_view source) {
  return source == "engines" || source == "gateway" || source == "production";
}

}  // namespace

std::string EncodePageTarget(const KeptPageTarget& target) {
  v1::StoredPageTarget out;
  out.set_source(target.source);
  out.set_name(target.name);
  out.set_url(target.url);
  out.set_kind(target.kind);
  out.set_mapping(target.mapping);
  return out.SerializeAsString();
}

StatusOr<KeptPageTarget> DecodePageTarget(std::string_view bytes) {
  v1::StoredPageTarget in;
  if (!in.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return Damaged("target of pages");
  }
  if (!IsSource(in.source()) || in.name().empty() || in.name().size() > kNameBytesMax ||
      in.url().size() > kNameBytesMax || in.kind().size() > kNameBytesMax ||
      in.mapping().size() > kMappingBytesMax) {
    return Damaged("target of pages");
  }
  return KeptPageTarget{.source = in.source(),
                        .name = in.name(),
                        .url = in.url(),
                        .kind = in.kind(),
                        .mapping = in.mapping()};
}

StatusOr<std::string> EncodePages(const std::vector<KeptPage>& pages) {
  v1::StoredPages out;
  for (const KeptPage& page : pages) {
    v1::StoredPage& stored = *out.add_pages();
    stored.set_wall_ns(page.at.time_since_epoch().count());
    stored.set_took_ns(page.took.count());
    stored.set_http_status(page.http);
    stored.set_content_type(page.content_type);
    stored.set_error(page.error);
    stored.set_body(page.body);
  }
  return Compress(out.SerializeAsString());
}

StatusOr<std::vector<KeptPage>> DecodePages(std::string_view bytes) {
  ASSIGN_OR_RETURN(const std::string raw, Decompress(bytes, kBundleBytesMax));
  v1::StoredPages in;
  if (!in.ParseFromArray(raw.data(), static_cast<int>(raw.size()))) return Damaged("page");
  std::vector<KeptPage> pages;
  pages.reserve(static_cast<std::size_t>(in.pages_size()));
  for (const v1::StoredPage& stored : in.pages()) {
    if (stored.http_status() > kStatusMax || stored.took_ns() < 0 ||
        stored.took_ns() > kTookMax.count() || stored.wall_ns() < 0) {
      return Damaged("page");
    }
    pages.push_back({.at = WallTime(Duration(stored.wall_ns())),
                     .took = Duration(stored.took_ns()),
                     .http = static_cast<std::uint16_t>(stored.http_status()),
                     .content_type = stored.content_type(),
                     .error = stored.error(),
                     .body = stored.body()});
  }
  return pages;
}

}  // namespace plimsoll
