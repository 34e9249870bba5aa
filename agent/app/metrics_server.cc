#include "agent/app/metrics_server.h"

#include <utility>

#include <fmt/format.h>

#include "common/metrics/metrics_page.h"
#include "common/rpc/endpoint.h"

namespace plimsoll {
namespace {

void Answer(const HttpServerRequest& request, HttpResponder responder,
            const std::function<std::string()>& page) {
  if (request.Path() != "/metrics") {
    return responder.Send(404, {{"Content-Type", "text/plain"}}, "there is only /metrics here\n");
  }
  if (request.method != "GET" && request.method != "HEAD") {
    return responder.Send(405, {{"Content-Type", "text/plain"}, {"Allow", "GET, HEAD"}},
                          "the page is read only, use GET\n");
  }
  responder.Send(200, {{"Content-Type", kMetricsContentType}, {"Cache-Control", "no-store"}},
                 page());
}

}  // namespace

StatusOr<std::unique_ptr<MetricsServer>> MetricsServer::Listen(EventLoop& loop,
                                                               const std::string& listen,
                                                               std::function<std::string()> page) {
  auto endpoint = ParseEndpoint(listen);
  if (!endpoint.ok()) return Annotate(endpoint.status(), "--metrics");
  if (!IsLoopback(*endpoint)) {
    return absl::InvalidArgumentError(fmt::format(
        "--metrics {}: the page is plain text, so it is listened to on loopback only, such as "
        "127.0.0.1:{}; to scrape it from elsewhere put a proxy with TLS before it, or tunnel",
        listen, endpoint->port));
  }
  HttpServerOptions options;
  options.host = endpoint->host;
  options.port = endpoint->port;
  options.head_max = std::size_t{16} << 10;
  options.body_max = std::size_t{64} << 10;
  options.connections_max = 16;
  auto server = HttpServer::Listen(
      loop, options,
      [page = std::move(page)](const HttpServerRequest& request, HttpResponder responder) {
        Answer(request, std::move(responder), page);
      });
  if (!server.ok()) return Annotate(server.status(), "--metrics " + listen);
  auto metrics = std::unique_ptr<MetricsServer>(new MetricsServer());
  metrics->server_ = *std::move(server);
  endpoint->port = metrics->server_->port();
  metrics->address_ = ToText(*endpoint);
  return metrics;
}

}  // namespace plimsoll
