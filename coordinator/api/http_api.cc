#include "coordinator/api/http_api.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "common/loop/logging.h"
#include "common/metrics/metrics_page.h"
#include "coordinator/api/agent_table.h"
#include "coordinator/api/api_json.h"
#include "coordinator/api/api_messages.h"
#include "coordinator/report/json_report.h"
#include "coordinator/report/run_list.h"
#include "plimsoll/v1/api.pb.h"

namespace plimsoll {
namespace {

constexpr char kText[] = "text/plain; charset=utf-8";
constexpr char kJson[] = "application/json";

HttpHeaders HeadersOf(std::string type) {
  return {{"Content-Type", std::move(type)},
          {"Cache-Control", "no-store"},
          {"X-Content-Type-Options", "nosniff"}};
}

void SendError(const Status& status, bool text, HttpResponder responder) {
  HttpHeaders headers = HeadersOf(text ? kText : kJson);
  if (absl::IsUnimplemented(status)) headers.emplace_back("Allow", "GET, HEAD");
  responder.Send(HttpStatusOf(status), headers,
                 text ? std::string(MessageOf(status)) + "\n" : ErrorJson(status));
}

template <typename Message, typename... Values>
StatusOr<std::string> JsonPage(const Values&... values) {
  Message message;
  ToApi(values..., &message);
  ASSIGN_OR_RETURN(std::string json, ToJson(message));
  return json + "\n";
}

const char* EventName(const v1::RunEvent& event) {
  switch (event.event_case()) {
    case v1::RunEvent::kRun:
      return "run";
    case v1::RunEvent::kStep:
      return "step";
    default:
      return "live";
  }
}

// Server-sent events. A browser's EventSource dials again when the answer ends, so the end is said:
// "end" (or "failed", with the error) is the last event.
class EventStream final : public WatchSink {
 public:
  explicit EventStream(HttpResponder responder) : responder_(std::move(responder)) {}

  HttpResponder& responder() { return responder_; }

  void Send(const v1::RunEvent& event) override {
    Begin();
    const auto json = ToJson(event);
    if (!json.ok()) return LogError("{}", MessageOf(json.status()));
    responder_.Write(fmt::format("event: {}\ndata: {}\n\n", EventName(event), *json));
  }
  void KeepAlive() override { responder_.Write(": nothing new\n\n"); }
  bool lagging() const override { return responder_.unsent() > 0; }
  void End(const Status& status) override {
    Begin();
    responder_.Write(status.ok() ? "event: end\ndata: {}\n\n"
                                 : fmt::format("event: failed\ndata: {}\n", ErrorJson(status)));
    responder_.End();
  }
  void Cut() override { responder_.Abort(); }

 private:
  void Begin() {
    if (!std::exchange(begun_, true)) responder_.StartStream(200, HeadersOf("text/event-stream"));
  }

  HttpResponder responder_;
  bool begun_ = false;
};

}  // namespace

HttpApi::HttpApi(const Results& results, WatchHub& hub, std::function<std::string()> metrics)
    : results_(results), hub_(hub), metrics_(std::move(metrics)) {}

void HttpApi::Handle(const HttpServerRequest& request, HttpResponder responder) {
  const bool text = WantsText(request.Header("accept"));
  const auto asked = ParseApiRequest(request.method, request.target);
  if (!asked.ok()) return SendError(asked.status(), text, std::move(responder));
  if (asked->page == ApiPage::kWatch) {
    if (request.method == "GET") return Watch(asked->run, std::move(responder));
    return responder.Send(200, HeadersOf("text/event-stream"), "");
  }
  const auto page = Page(*asked, text);
  if (!page.ok()) return SendError(page.status(), text, std::move(responder));
  const bool metrics = asked->page == ApiPage::kMetrics;
  const bool plain = text || asked->page == ApiPage::kHealth;
  responder.Send(200, HeadersOf(metrics ? kMetricsContentType : plain ? kText : kJson), *page);
}

StatusOr<std::string> HttpApi::Page(const ApiRequest& request, bool text) const {
  switch (request.page) {
    case ApiPage::kRuns: {
      const auto live = results_.Live();
      const std::string live_id = live ? live->run_id : "";
      ASSIGN_OR_RETURN(const std::vector<RunInfo> runs, results_.List(request.limit));
      return text ? RunList(runs, live_id) : JsonPage<v1::ListRunsResponse>(runs, live_id);
    }
    case ApiPage::kRun: {
      ASSIGN_OR_RETURN(const RunView view, results_.Get(request.run));
      return text ? RunText(view) : JsonPage<v1::Run>(view);
    }
    case ApiPage::kReport: {
      ASSIGN_OR_RETURN(const RunView view, results_.Get(request.run));
      return JsonReport(view.model);
    }
    case ApiPage::kAgents: {
      const auto live = results_.Live();
      if (!text) return JsonPage<v1::ListAgentsResponse>(live);
      return live && live->status ? AgentTable(live->status->agents)
                                  : std::string("no run is going on here\n");
    }
    case ApiPage::kHealth: {
      RETURN_IF_ERROR(results_.List(1).status());
      return std::string("ok\n");
    }
    case ApiPage::kMetrics:
      return metrics_();
    case ApiPage::kWatch:
      break;
  }
  return absl::InternalError("a page without an answer");
}

void HttpApi::Watch(const std::string& run, HttpResponder responder) {
  // Shared with the hub, which may outlive this call with it.
  const auto stream = std::make_shared<EventStream>(std::move(responder));
  const auto id = hub_.Add(run, stream);
  if (!id.ok()) return SendError(id.status(), false, std::move(stream->responder()));
  stream->responder().OnHangUp([this, gone = *id] { hub_.Remove(gone); });
}

}  // namespace plimsoll
