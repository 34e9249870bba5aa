// Every shape of an answer through the whole client on a real socket: scripted server, libcurl,
// decompression, event stream, chunks, one outcome. Each shape comes in several cuts of its bytes,
// which must all lead to the same.
#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "common/base/rng.h"
#include "common/chat/answer_reader.h"
#include "common/chat/http_call_transport.h"
#include "common/http/curl_transport.h"
#include "common/loop/event_loop.h"
#include "tests/common/chat/recorded_answers.h"
#include "tests/common/chat/stream_shapes.h"
#include "tests/common/http/raw_server.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;

enum class Cut { kWhole, kBytes, kRandom, kGzip, kGzipRandom, kDeflate };

std::vector<std::string> Pieces(const std::string& body, Cut cut, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<std::string> pieces;
  for (std::size_t at = 0; at < body.size();) {
    std::size_t n = body.size();
    if (cut == Cut::kBytes && body.size() < 8'000) n = 1;
    if (cut == Cut::kRandom || cut == Cut::kGzipRandom)
      n = 1 + rng.Below(rng.Below(2) == 0 ? 5 : 900);
    pieces.push_back(body.substr(at, n));
    at += n;
  }
  return pieces;
}

// Each piece flushed, as a proxy compresses a stream. `window`: 31 gzip, 15 deflate.
std::vector<std::string> Compress(const std::vector<std::string>& pieces, int window) {
  z_stream z{};
  EXPECT_EQ(deflateInit2(&z, 9, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::vector<std::string> packed;
  for (std::size_t i = 0; i <= pieces.size(); ++i) {
    const std::string text = i < pieces.size() ? pieces[i] : "";
    std::string out(deflateBound(&z, text.size()) + 64, '\0');
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    z.avail_in = static_cast<uInt>(text.size());
    z.next_out = reinterpret_cast<Bytef*>(out.data());
    z.avail_out = static_cast<uInt>(out.size());
    deflate(&z, i < pieces.size() ? Z_SYNC_FLUSH : Z_FINISH);
    out.resize(out.size() - z.avail_out);
    packed.push_back(std::move(out));
  }
  deflateEnd(&z);
  return packed;
}

std::string Chunked(const std::string& bytes) {
  return bytes.empty() ? "" : fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes);
}
std::string Head(const Shape& shape, const std::string& encoding = "") {
  std::string head = "HTTP/1.1 " + shape.status + "\r\nTransfer-Encoding: chunked\r\n";
  if (!shape.type.empty()) head += "Content-Type: " + shape.type + "\r\n";
  if (!encoding.empty()) head += "Content-Encoding: " + encoding + "\r\n";
  return head + "\r\n";
}

// What goes over the wire, a write each. Each piece is an HTTP chunk of its own, which is how it
// reaches the client's parser, whatever the socket makes of it.
std::vector<std::string> Writes(const Shape& shape, Cut cut, std::uint64_t seed) {
  std::vector<std::string> pieces = Pieces(shape.body, cut, seed);
  std::string encoding;
  if (cut == Cut::kGzip || cut == Cut::kGzipRandom) encoding = "gzip";
  if (cut == Cut::kDeflate) encoding = "deflate";
  if (!encoding.empty()) pieces = Compress(pieces, encoding == "gzip" ? 31 : 15);
  std::vector<std::string> writes = {Head(shape, encoding)};
  for (const std::string& piece : pieces) writes.push_back(Chunked(piece));
  writes.emplace_back("0\r\n\r\n");
  if (cut != Cut::kWhole) return writes;
  std::string all;
  for (const std::string& write : writes) all += write;
  return {all};
}

class StreamShapeTest : public testing::Test, public CallObserver {
 protected:
  StreamShapeTest() {
    prompt_.tokens = 70;
    prompt_.spans = {{9, 0, 2}};
    prompt_.messages = {{Role::kUser, 0, 70}};
    target_.url = server_.url().substr(0, server_.url().rfind("/chat"));
    target_.model = "m";
  }
  void OnCallEnded(const CallResult& result) override {
    result_ = result;
    call_.reset();
    loop_.Stop();
  }
  // One call, answered with `writes`; then the server waits for more (or for the hang-up).
  CallResult Run(std::vector<std::string> writes) {
    {
      const std::lock_guard lock(mutex_);
      writes_ = std::move(writes);
    }
    if (transport_ == nullptr) {
      transport_ = std::make_unique<HttpCallTransport>(http_, loop_, target_, HttpCallOptions{});
    }
    CallRequest request;
    request.prompt = &prompt_;
    request.released = loop_.Now();
    result_.reset();
    call_ = transport_->Start(request, *this);
    const Timer stuck = loop_.After(60s, [this] { loop_.Stop(); });
    loop_.Run();
    EXPECT_TRUE(result_.has_value()) << "no end";
    return result_.value_or(CallResult{});
  }
  void Check(const std::vector<Shape>& shapes);

  std::atomic<bool> stop_server_{false};
  std::mutex mutex_;
  std::vector<std::string> writes_;  // Guarded by mutex_.
  std::string head_;                 // Of the last request; guarded by mutex_.
  RawServer server_{[this](RawConnection& c) {
    while (c.ReadRequest()) {
      std::vector<std::string> writes;
      {
        const std::lock_guard lock(mutex_);
        writes = writes_;
        head_ = c.head();
      }
      for (const std::string& write : writes) c.Write(write);
    }
  }};
  Prompt prompt_;
  TargetPlan target_;
  EventLoop loop_;
  CurlTransport http_{loop_};
  std::unique_ptr<HttpCallTransport> transport_;
  std::unique_ptr<CallTransport::Call> call_;
  std::optional<CallResult> result_;
};

void ExpectShape(const CallResult& r, const Shape& shape) {
  EXPECT_EQ(r.outcome, shape.outcome) << r.message;
  EXPECT_EQ(r.chunks, shape.chunks);
  EXPECT_THAT(r.message, HasSubstr(shape.says));
  EXPECT_EQ(r.tokens_in, shape.tokens_in);
  EXPECT_EQ(r.tokens_out, shape.tokens_out);  // Never the length that was asked for [row 4].
  EXPECT_EQ(r.tokens_first_chunk, shape.tokens_first_chunk);
  EXPECT_EQ(r.flags & (kCapReached | kToolCallPresent), shape.flags);
  EXPECT_LE(r.sent, r.headers);
  EXPECT_LE(r.headers, r.end);
  // [rows 32, 33, 39: a TTFT of 0 or missing values summed up as 0; row 34: scripted server]
  EXPECT_EQ(r.first_token == CallResult::kNever, shape.chunks == 0);
  EXPECT_EQ(r.last_token == CallResult::kNever, shape.chunks == 0);
  if (shape.chunks == 0) return;
  EXPECT_LE(r.headers, r.first_chunk);
  EXPECT_LE(r.first_chunk, r.first_token);
  EXPECT_LE(r.first_token, r.last_token);
  EXPECT_LE(r.last_token, r.end);
}

void StreamShapeTest::Check(const std::vector<Shape>& shapes) {
  const char* given = std::getenv("PLIMSOLL_TEST_SEED");
  const std::uint64_t base = given == nullptr ? 1 : std::strtoull(given, nullptr, 10);
  const std::vector<std::pair<Cut, std::uint64_t>> cuts = {
      {Cut::kWhole, 0},         {Cut::kBytes, 0}, {Cut::kRandom, base},
      {Cut::kRandom, base + 1}, {Cut::kGzip, 0},  {Cut::kGzipRandom, base + 2},
      {Cut::kDeflate, 0}};
  for (const Shape& shape : shapes) {
    for (const auto& [cut, seed] : cuts) {
      SCOPED_TRACE(fmt::format("{}, cut {}, seed {}", shape.name, static_cast<int>(cut), seed));
      const CallResult r = Run(Writes(shape, cut, seed));
      ExpectShape(r, shape);
      // [row 26, genai-bench#100: 4,008,080 tok/s] What came in one read has one stamp.
      if (cut == Cut::kWhole && shape.body.size() < 8'000) {
        EXPECT_EQ(r.first_token, r.last_token);
      }
    }
  }
}

TEST_F(StreamShapeTest, Tokens) {
  Check(TokenShapes());
}
TEST_F(StreamShapeTest, Ends) {
  Check(EndShapes());
}
TEST_F(StreamShapeTest, Errors) {
  Check(ErrorShapes());
}
TEST_F(StreamShapeTest, Framing) {
  Check(FramingShapes());
}

TEST_F(StreamShapeTest, CompressionIsAskedFor) {
  Run(Writes(TokenShapes()[0], Cut::kWhole, 0));
  const std::lock_guard lock(mutex_);
  EXPECT_THAT(head_, HasSubstr("Accept-Encoding: gzip, deflate\r\n"));
}

// The connection broke instead of the message ending: only "[DONE]" makes that an answer.
TEST_F(StreamShapeTest, BrokenConnections) {
  const Shape shape = TokenShapes()[0];
  for (const bool done : {false, true}) {
    const std::size_t size =
        shape.body.size() - (done ? 0 : std::string("data: [DONE]\n\n").size());
    RawServer server([&](RawConnection& c) {
      if (c.ReadRequest()) c.Write(Head(shape) + Chunked(shape.body.substr(0, size)));
    });
    target_.url = server.url().substr(0, server.url().rfind("/chat"));
    transport_.reset();
    EXPECT_EQ(Run({}).outcome, done ? Outcome::kOk : Outcome::kTruncated);
  }
}

// "[DONE]" ends the call though the message never does; its token stamps are untouched.
TEST_F(StreamShapeTest, AnOpenMessageAfterDoneHoldsNobodyUp) {
  const Shape shape = TokenShapes()[0];
  const CallResult r = Run({Head(shape), Chunked(shape.body)});
  EXPECT_EQ(r.outcome, Outcome::kOk) << r.message;
  EXPECT_EQ(r.chunks, 2u);
  EXPECT_LT(r.end - r.last_token, 20s);  // The idle limit is a minute.
}

TEST_F(StreamShapeTest, StreamsThatNeverStartOrNeverEnd) {
  target_.idle_timeout = 150ms;
  const Shape shape = TokenShapes()[0];
  const auto run = [&](std::vector<std::string> writes) { return Run(std::move(writes)); };
  CallResult r = run({});
  EXPECT_EQ(r.outcome, Outcome::kIdleTimeout);
  EXPECT_EQ(r.http_status, 0);
  r = run({Head(shape)});
  EXPECT_EQ(r.outcome, Outcome::kIdleTimeout);
  EXPECT_THAT(r.message, HasSubstr("no byte of a body came"));
  r = run({Head(shape), Chunked(": ping\n\n")});
  EXPECT_EQ(r.outcome, Outcome::kIdleTimeout);
  EXPECT_THAT(r.message, HasSubstr("it began: : ping"));
  EXPECT_EQ(r.first_token, CallResult::kNever);
  r = run({Head(shape), Chunked(EndShapes()[0].body)});  // A finish reason is not yet the end.
  EXPECT_EQ(r.outcome, Outcome::kIdleTimeout);
  EXPECT_EQ(r.chunks, 1u);
}

TEST_F(StreamShapeTest, AStreamWithoutEndMeetsTheDeadline) {
  target_.call_deadline = 300ms;
  const Shape shape = TokenShapes()[0];
  const std::string token = Chunked(shape.body.substr(0, shape.body.find("[DONE]") - 6));
  RawServer server([&](RawConnection& c) {
    if (!c.ReadRequest()) return;
    c.Write(Head(shape));
    for (int i = 0; i < 10'000; ++i) {  // Until the client hangs up: a write then fails.
      c.Write(token);
      c.Pause(5);
      if (stop_server_) return;
    }
  });
  target_.url = server.url().substr(0, server.url().rfind("/chat"));
  const CallResult r = Run({});
  stop_server_ = true;
  EXPECT_EQ(r.outcome, Outcome::kDeadline);
  EXPECT_GT(r.chunks, 0u);
}

// A few kilobytes that become gigabytes. The client stops at its bound, and holds no more of it.
TEST_F(StreamShapeTest, DecompressionBombsAreBounded) {
  for (const bool one_event : {true, false}) {
    Shape bomb = TokenShapes()[0];
    std::vector<std::string> pieces = {"data: "};
    const std::string part = std::string(1 << 20, ' ') + (one_event ? "" : "\n:");
    for (int i = 0; i < (one_event ? 64 : 300); ++i) pieces.push_back(part);
    std::vector<std::string> writes = {Head(bomb, "gzip")};
    for (const std::string& packed : Compress(pieces, 31)) writes.push_back(Chunked(packed));
    const CallResult r = Run(std::move(writes));
    EXPECT_EQ(r.outcome, Outcome::kStreamError);
    EXPECT_THAT(r.message, HasSubstr(one_event ? "over 16 MiB" : "over 256 MiB"));
  }
}

TEST_F(StreamShapeTest, ABrokenEncodingIsAnErrorInWords) {
  const Shape shape = TokenShapes()[0];
  std::vector<std::string> writes = Writes(shape, Cut::kGzip, 0);
  writes[1] = Chunked("this is not gzip at all, whatever the header says");
  CallResult r = Run(std::move(writes));
  EXPECT_EQ(r.outcome, Outcome::kStreamError) << r.message;
  EXPECT_NE(r.message, "");
  r = Run({Head(shape, "martian"), Chunked(shape.body), "0\r\n\r\n"});
  EXPECT_EQ(r.outcome, Outcome::kStreamError) << r.message;
}

TEST_F(StreamShapeTest, RecordedAnswersOverTheWire) {
  for (const RecordedAnswer& want : RecordedAnswers()) {
    const bool chunked = want.head.find("Transfer-Encoding: chunked") != std::string::npos;
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      SCOPED_TRACE(fmt::format("{} seed {}", want.name, seed));
      std::vector<std::string> writes = {
          want.head};  // As recorded; the body lost its framing there.
      for (std::string& piece : Pieces(want.body, seed == 0 ? Cut::kBytes : Cut::kRandom, seed)) {
        writes.push_back(chunked ? Chunked(piece) : std::move(piece));
      }
      if (chunked) writes.emplace_back("0\r\n\r\n");
      const CallResult r = Run(std::move(writes));
      EXPECT_EQ(r.outcome, want.outcome) << r.message;
      EXPECT_EQ(r.chunks, want.chunks);
      EXPECT_EQ(r.tokens_in, want.tokens_in);
      EXPECT_EQ(r.tokens_out, want.tokens_out);
    }
  }
}

}  // namespace
}  // namespace plimsoll
