// The curl transport against a raw server, for its tests.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "common/http/curl_transport.h"
#include "tests/common/http/raw_server.h"

namespace plimsoll {

inline constexpr std::string_view kAnswer =
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Odd-Case:  v \r\n\r\nhello";

class Letters : public BodySource {
 public:
  explicit Letters(std::uint64_t size) : size_(size) {}
  std::uint64_t size() const override { return size_; }
  std::size_t Read(char* to, std::size_t capacity) override {
    const std::size_t n = std::min<std::uint64_t>(capacity, size_ - at_);
    for (std::size_t i = 0; i < n; ++i) to[i] = static_cast<char>('a' + (at_ + i) % 26);
    at_ += n;
    return n;
  }

 private:
  std::uint64_t size_;
  std::uint64_t at_ = 0;
};

class Recorder : public TransferObserver {
 public:
  void OnSent(MonoTime at) override { Note("sent", &sent, at); }
  void OnUploadDone(MonoTime at) override { Note("uploaded", &uploaded, at); }
  void OnHeader(std::string_view name, std::string_view value) override {
    headers += std::string(name) + "=" + std::string(value) + ";";
  }
  void OnHeaders(std::uint16_t s, MonoTime at) override {
    status = s;
    Note("headers", &headers_at, at);
    if (on_headers) on_headers();
  }
  void OnBody(std::string_view bytes, MonoTime) override {
    if (body.empty()) log += "body ";
    body += bytes;
    if (on_body) on_body();
  }
  void OnEnd(const TransferEnd& e) override {
    log += "end";
    end = e;
    ended = true;
    if (on_end) on_end();
  }
  void Note(const char* what, MonoTime* stamp, MonoTime at) {
    log += std::string(what) + " ";
    *stamp = at;
  }

  MonoTime sent{}, uploaded{}, headers_at{};
  std::uint16_t status = 0;
  std::string headers, body, log;
  TransferEnd end;
  bool ended = false;
  std::function<void()> on_headers, on_body, on_end;
};

class CurlTransportTest : public testing::Test {
 protected:
  static HttpRequest Post(const std::string& url, std::uint64_t bytes = 10) {
    HttpRequest request;
    request.method = "POST";
    request.url = url;
    request.headers = {{"Content-Type", "application/json"}};
    request.body = std::make_unique<Letters>(bytes);
    return request;
  }
  static HttpRequest Get(const std::string& url) {
    HttpRequest request;
    request.url = url;
    return request;
  }
  // Runs until `done`; fails after 30 s.
  void RunUntil(std::function<bool()> done) {
    const MonoTime limit = loop_.Now() + 30s;
    std::function<void()> look = [&] {
      if (done() || loop_.Now() > limit) return loop_.Stop();
      look_ = loop_.After(1ms, look);
    };
    look();
    loop_.Run();
    EXPECT_TRUE(done());
  }
  void RunFor(Duration d) {
    const Timer stop = loop_.After(d, [&] { loop_.Stop(); });
    loop_.Run();
  }
  // One transfer, to its end.
  Recorder& Do(HttpRequest request) {
    recorder_ = std::make_unique<Recorder>();
    transfer_ = transport_.Start(std::move(request), *recorder_);
    EXPECT_EQ(recorder_->log, "");  // Never from inside Start().
    RunUntil([this] { return recorder_->ended; });
    return *recorder_;
  }

  EventLoop loop_;
  Timer look_;
  CurlTransport transport_{loop_};
  std::unique_ptr<Recorder> recorder_;
  std::unique_ptr<HttpTransport::Transfer> transfer_;
};

}  // namespace plimsoll
