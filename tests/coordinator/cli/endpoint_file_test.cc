#include "coordinator/cli/endpoint_file.h"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <unistd.h>

#include "coordinator/cli/live_client.h"
#include "gtest/gtest.h"
#include "tests/coordinator/store/temp_folder.h"

namespace plimsoll {
namespace {

class EndpointFileTest : public ::testing::Test {
 protected:
  std::string Path() const { return folder_.path() + "/" + kEndpointFileName; }
  void Put(const std::string& text) { std::ofstream(Path()) << text; }
  std::string Read() const {
    std::ifstream file(Path());
    return {std::istreambuf_iterator<char>(file), {}};
  }

  TempFolder folder_;
};

TEST_F(EndpointFileTest, IsThereWhileItsCoordinatorIs) {
  EXPECT_FALSE(FindCoordinator(folder_.path()).has_value());
  {
    const auto file = EndpointFile::Write(
        folder_.path(), {.run_id = "r1", .http = "127.0.0.1:1", .grpc = "127.0.0.1:2"});
    ASSERT_TRUE(file.ok()) << file.status();
    const auto found = FindCoordinator(folder_.path());
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->run_id, "r1");
    EXPECT_EQ(found->http, "127.0.0.1:1");
    EXPECT_EQ(found->grpc, "127.0.0.1:2");
    EXPECT_TRUE(found->here);
  }
  EXPECT_FALSE(std::filesystem::exists(Path()));
}

TEST_F(EndpointFileTest, OneThatAKilledCoordinatorLeftIsStale) {
  const auto file = EndpointFile::Write(folder_.path(), {.run_id = "r1", .http = "127.0.0.1:1"});
  ASSERT_TRUE(file.ok());
  const std::string text = Read();
  const std::string pid = fmt::format("\"pid\": {}", getpid());
  ASSERT_NE(text.find(pid), std::string::npos) << text;
  // No such process; then our id, but given to another process since.
  Put(std::string(text).replace(text.find(pid), pid.size(), "\"pid\": 99999999"));
  EXPECT_FALSE(FindCoordinator(folder_.path()).has_value());
  const std::size_t ticks = text.find("ticks\": ") + 8;
  Put(std::string(text).insert(ticks, "1"));
  EXPECT_FALSE(FindCoordinator(folder_.path()).has_value());
  Put(text);
  EXPECT_TRUE(FindCoordinator(folder_.path()).has_value());
}

TEST_F(EndpointFileTest, OneOfAnotherMachineIsFoundAndNotAsked) {
  Put(R"({"run": "r1", "http": "127.0.0.1:1", "host": "elsewhere.example", "pid": 1})");
  const auto found = FindCoordinator(folder_.path());
  ASSERT_TRUE(found.has_value());
  EXPECT_FALSE(found->here);
}

TEST_F(EndpointFileTest, GarbageIsNoCoordinator) {
  for (const char* text : {"", "{", "[]", "{}", "null", "{\"pid\": \"x\", \"host\": 3}",
                           "{\"pid\": -5, \"process_start_ticks\": -1}", "\xff\xff"}) {
    Put(text);
    const auto found = FindCoordinator(folder_.path());
    EXPECT_FALSE(found.has_value() && found->here) << text;
  }
}

TEST(LiveClient, ACoordinatorThatIsGoneIsUnavailable) {
  const auto answer = AskCoordinator("127.0.0.1:1", "/healthz", AnswerForm::kText);
  EXPECT_TRUE(absl::IsUnavailable(answer.status())) << answer.status();
}

TEST(LiveClient, IdsBecomeOneSegment) {
  EXPECT_EQ(EscapeSegment("a-b_c.9~"), "a-b_c.9~");
  EXPECT_EQ(EscapeSegment("a/b c\xff"), "a%2Fb%20c%FF");
}

}  // namespace
}  // namespace plimsoll
