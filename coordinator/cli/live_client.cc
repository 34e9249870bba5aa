#include "coordinator/cli/live_client.h"

#include <utility>

#include <fmt/format.h>

#include "coordinator/cli/fetch.h"

namespace plimsoll {
namespace {

// It answers within milliseconds; a stopped process, never.
constexpr Duration kPatience = 5s;
constexpr std::size_t kBodyBytesMax = std::size_t{64} << 20;

StatusOr<std::string> Read(Fetched answer, const std::string& address) {
  if (!answer.ended) {
    return absl::UnavailableError(fmt::format("the coordinator at {} does not answer", address));
  }
  std::string& body = answer.body;
  if (answer.status == 200) return std::move(body);
  while (!body.empty() && body.back() == '\n') body.pop_back();
  if (answer.status == 404) return absl::NotFoundError(body);
  if (answer.status == 400 || answer.status == 414) return absl::InvalidArgumentError(body);
  return absl::InternalError(fmt::format("the coordinator at {} says: {}", address, body));
}

}  // namespace

StatusOr<std::string> AskCoordinator(const std::string& address, std::string_view target,
                                     AnswerForm form) {
  HttpRequest request;
  request.url = fmt::format("http://{}{}", address, target);
  const bool text = form == AnswerForm::kText;
  request.headers.emplace_back("Accept", text ? "text/plain" : "application/json");
  request.connect_timeout = kPatience;
  return Read(Fetch(std::move(request), kPatience, kBodyBytesMax), address);
}

std::string EscapeSegment(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    escaped += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return escaped;
}

}  // namespace plimsoll
