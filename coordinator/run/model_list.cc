#include "coordinator/run/model_list.h"

#include <utility>

#include <fmt/format.h>

#include "common/json/json.h"

namespace plimsoll {
namespace {

ModelsAnswer NoList(std::string message) {
  return {.kind = ModelsAnswer::Kind::kNoList, .ids = {}, .message = std::move(message)};
}

}  // namespace

ModelsAnswer ParseModels(std::string_view body) {
  const auto json = nlohmann::json::parse(body.begin(), body.end(), nullptr, false);
  const auto data = json.is_object() ? json.find("data") : json.end();
  if (!json.is_object() || data == json.end() || !data->is_array()) {
    return NoList("the answer holds no list");
  }
  ModelsAnswer answer{.kind = ModelsAnswer::Kind::kListed, .ids = {}, .message = {}};
  for (const auto& model : *data) {
    if (!model.is_object()) continue;
    const auto id = model.find("id");
    if (id != model.end() && id->is_string()) answer.ids.push_back(id->get<std::string>());
  }
  if (answer.ids.empty()) return NoList("the list is empty");
  return answer;
}

ModelList::ModelList(HttpTransport& http, Scheduler& scheduler, const TargetPlan& target,
                     const HttpCallOptions& secrets, std::function<void(const ModelsAnswer&)> done)
    : done_(std::move(done)) {
  HttpRequest request;
  request.url = target.url + "/models";
  request.headers.emplace_back("Accept", "application/json");
  if (!secrets.bearer_token.empty()) {
    request.headers.emplace_back("Authorization", "Bearer " + secrets.bearer_token);
  }
  for (const auto& header : target.headers) request.headers.push_back(header);
  request.ca_file = target.ca_file;
  request.connect_timeout = target.connect_timeout;
  limit_ = scheduler.After(kLimit, [this] { Finish(NoList("it did not come in time")); });
  transfer_ = http.Start(std::move(request), *this);
}

ModelList::~ModelList() = default;

void ModelList::OnBody(std::string_view bytes, MonoTime) {
  body_.append(bytes.substr(0, kBytesMax - std::min(kBytesMax, body_.size())));
}

void ModelList::OnEnd(const TransferEnd& end) {
  const bool no_connection =
      end.result == TransferResult::kConnectError || end.tls != TlsTrouble::kNone;
  if (status_ == 0 && no_connection) {
    return Finish({.kind = ModelsAnswer::Kind::kUnreachable,
                   .ids = {},
                   .message = end.message,
                   .tls = end.tls});
  }
  if (end.result != TransferResult::kOk) return Finish(NoList(end.message));
  if (status_ != 200) return Finish(NoList(fmt::format("HTTP {}", status_)));
  Finish(ParseModels(body_));
}

// Whoever is told may destroy this.
void ModelList::Finish(const ModelsAnswer& answer) {
  limit_.Cancel();
  transfer_.reset();
  if (const auto done = std::exchange(done_, nullptr)) done(answer);
}

}  // namespace plimsoll
