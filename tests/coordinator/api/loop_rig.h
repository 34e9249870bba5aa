// An API on a loop of its own thread, over runs in memory, for tests with real sockets.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <thread>

#include "common/loop/event_loop.h"
#include "coordinator/api/api_server.h"
#include "gtest/gtest.h"
#include "tests/coordinator/api/sample_runs.h"

namespace plimsoll::testing {

class LoopRig : public ::testing::Test {
 protected:
  LoopRig() : thread_([this] { loop_.Run(); }) {}
  ~LoopRig() override {
    Do([this] { api_.reset(); });
    loop_.Stop();
    thread_.join();
  }

  // On the loop's thread, where everything of the rig is touched.
  void Do(const std::function<void()>& task) {
    std::promise<void> done;
    loop_.Post([&] {
      task();
      done.set_value();
    });
    done.get_future().wait();
  }
  void Listen(const ApiListen& listen) {
    Do([&] {
      auto api = ApiServer::Listen(loop_, runs_.Deps(), listen);
      ASSERT_TRUE(api.ok()) << api.status();
      api_ = *std::move(api);
      http_ = api_->http_address();
      grpc_ = api_->grpc_address();
    });
  }
  // Ends the API as a coordinator does; returns once its readers have everything.
  void Finish() {
    std::promise<void> done;
    loop_.Post([&] {
      api_->Finish(absl::UnavailableError("the coordinator has ended"), [&] {
        api_.reset();
        done.set_value();
      });
    });
    done.get_future().wait();
  }
  std::uint16_t http_port() const {
    return static_cast<std::uint16_t>(std::stoi(http_.substr(http_.rfind(':') + 1)));
  }

  EventLoop loop_;
  RunsRig runs_;
  std::unique_ptr<ApiServer> api_;
  std::string http_;
  std::string grpc_;
  std::thread thread_;
};

}  // namespace plimsoll::testing
