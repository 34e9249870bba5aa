// The API's pages over HTTP: JSON by protobuf's mapping, text for `curl` with "Accept: text/plain",
// server-sent events for who watches. docs/api.md describes every page.
#pragma once

#include <functional>
#include <string>

#include "common/http/server/http_server.h"
#include "coordinator/api/http_routes.h"
#include "coordinator/api/results.h"
#include "coordinator/api/watch_hub.h"

namespace plimsoll {

class HttpApi {
 public:
  // Both outlive it; `metrics` makes the /metrics page.
  HttpApi(const Results& results, WatchHub& hub, std::function<std::string()> metrics);

  // Answers, or begins to. On the loop's thread, as everything here.
  void Handle(const HttpServerRequest& request, HttpResponder responder);

 private:
  StatusOr<std::string> Page(const ApiRequest& request, bool text) const;
  void Watch(const std::string& run, HttpResponder responder);

  const Results& results_;
  WatchHub& hub_;
  const std::function<std::string()> metrics_;
};

}  // namespace plimsoll
