// The real plimsoll-gateway process: its line, its stop, its exit codes, its crash.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/raw_client.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;

class Process {
 public:
  explicit Process(std::vector<std::string> args) {
    int out[2];
    if (::pipe2(out, O_CLOEXEC) != 0) std::abort();
    args.insert(args.begin(), PLIMSOLL_BIN_DIR "/plimsoll-gateway");
    std::vector<char*> argv;
    argv.reserve(args.size() + 1);
    for (std::string& arg : args) argv.push_back(arg.data());
    argv.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(out[1], 1);
      ::dup2(out[1], 2);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    ::close(out[1]);
    out_ = ::fdopen(out[0], "r");
  }
  ~Process() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    std::fclose(out_);
  }
  std::string Line() {
    std::array<char, 4096> line{};
    return std::fgets(line.data(), line.size(), out_) ? line.data() : "";
  }
  std::uint16_t Port() {
    const std::string line = Line();
    const std::string start = "plimsoll-gateway: listening on http://127.0.0.1:";
    EXPECT_EQ(line.substr(0, start.size()), start);
    EXPECT_EQ(line.substr(line.rfind('/')), "/v1\n");
    return static_cast<std::uint16_t>(std::atoi(line.c_str() + start.size()));
  }
  void Signal(int number) { ::kill(pid_, number); }
  int ExitCode() {
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  pid_t pid_ = -1;
  FILE* out_ = nullptr;
};

std::string WriteConfig(const std::string& yaml) {
  std::string path =
      ::testing::TempDir() + "gateway_process_" + std::to_string(::getpid()) + ".yaml";
  std::ofstream(path) << yaml;
  return path;
}

TEST(GatewayProcess, ServesOnDefaultsAndStopsOnSignals) {
  for (const int signal : {SIGTERM, SIGINT}) {
    Process gateway({"--port", "0", "--seed", "3"});
    RawClient client(gateway.Port());
    ASSERT_TRUE(client.Request("GET", "/v1/models"));
    EXPECT_THAT(client.ReadAnswer().body, HasSubstr("plimsoll-rehearsal"));
    gateway.Signal(signal);
    EXPECT_EQ(gateway.ExitCode(), 0);
  }
}

TEST(GatewayProcess, CannotListenTwice) {
  Process first({"--port", "0"});
  Process second({"--port", std::to_string(first.Port())});
  EXPECT_THAT(second.Line(), HasSubstr("cannot listen on 127.0.0.1:"));
  EXPECT_EQ(second.ExitCode(), 4);
}

TEST(GatewayProcess, UsageAndConfigurationErrorsAre64) {
  EXPECT_EQ(Process({"--bogus"}).ExitCode(), 64);
  EXPECT_EQ(Process({"--port", "70000"}).ExitCode(), 64);
  EXPECT_EQ(Process({"--config", "/nowhere.yaml"}).ExitCode(), 64);
  Process bad({"--config", WriteConfig("modle: x\n")});
  EXPECT_THAT(bad.Line(), HasSubstr(".yaml:1: modle: is not a known key, did you mean \"model\"?"));
  EXPECT_EQ(bad.ExitCode(), 64);
}

TEST(GatewayProcess, HelpFitsAScreen) {
  Process help({"--help"});
  int lines = 0;
  while (!help.Line().empty()) ++lines;
  EXPECT_GT(lines, 5);
  EXPECT_LE(lines, 24);
  EXPECT_EQ(help.ExitCode(), 0);
}

TEST(GatewayProcess, CrashesOnDemandInTheMiddleOfAnAnswer) {
  Process gateway({"--config",
                   WriteConfig("model: m\n"
                               "faults: [{kind: crash, at: 200ms, from: first_request}]\n"
                               "noise: {call_sigma: 0, session_sigma: 0, drift_sigma: 0, "
                               "cold_share: 0}\n"),
                   "--port", "0"});
  RawClient client(gateway.Port());
  ASSERT_TRUE(client.Request("POST", "/v1/chat/completions", "",
                             R"({"model":"m","stream":true,"max_tokens":1000,"ignore_eos":true,)"
                             R"("messages":[{"role":"user","content":"x"}]})"));
  const auto answer = client.ReadAnswer();
  EXPECT_EQ(answer.status, 200);
  EXPECT_FALSE(answer.whole);
  EXPECT_EQ(gateway.ExitCode(), 70);
}

}  // namespace
}  // namespace plimsoll
