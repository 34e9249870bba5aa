// The models that a deployment says it serves: GET {url}/models.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/scheduler.h"
#include "common/chat/http_call_transport.h"
#include "common/http/transport.h"
#include "common/plan/plan.h"

namespace plimsoll {

struct ModelsAnswer {
  enum class Kind : std::uint8_t {
    kListed,
    kNoList,       // An answer, but no such list: many gateways have none.
    kUnreachable,  // No connection.
  };
  Kind kind = Kind::kNoList;
  std::vector<std::string> ids;        // Of kListed.
  std::string message;                 // Of the others: what came instead, in a few words.
  TlsTrouble tls = TlsTrouble::kNone;  // Of kUnreachable.
};

// The list in an answer's body; kNoList if it holds none.
ModelsAnswer ParseModels(std::string_view body);

class ModelList final : private TransferObserver {
 public:
  // Longest wait, and largest answer that is read.
  static constexpr Duration kLimit = 5s;
  static constexpr std::size_t kBytesMax = std::size_t{1} << 20;

  // Asks; `done` is called once, later. The references outlive this object, which may be destroyed
  // in `done`.
  ModelList(HttpTransport& http, Scheduler& scheduler, const TargetPlan& target,
            const HttpCallOptions& secrets, std::function<void(const ModelsAnswer&)> done);
  ~ModelList() override;

 private:
  void OnSent(MonoTime) override {}
  void OnUploadDone(MonoTime) override {}
  void OnHeader(std::string_view, std::string_view) override {}
  void OnHeaders(std::uint16_t status, MonoTime) override { status_ = status; }
  void OnBody(std::string_view bytes, MonoTime) override;
  void OnEnd(const TransferEnd& end) override;
  void Finish(const ModelsAnswer& answer);

  std::function<void(const ModelsAnswer&)> done_;
  std::unique_ptr<HttpTransport::Transfer> transfer_;
  Timer limit_;
  std::uint16_t status_ = 0;
  std::string body_;
};

}  // namespace plimsoll
