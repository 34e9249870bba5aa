#include "tests/common/chat/stream_shapes.h"

#include <utility>

namespace plimsoll {
namespace {

std::string Data(const std::string& payload) {
  return "data: " + payload + "\n\n";
}
std::string Delta(const std::string& delta, const std::string& finish = "null", int index = 0) {
  return Data(R"({"id":"c","choices":[{"index":)" + std::to_string(index) + R"(,"delta":)" + delta +
              R"(,"finish_reason":)" + finish + "}]}");
}
std::string Text(const std::string& text) {
  return Delta(R"({"content":")" + text + "\"}");
}
std::string Tool(int index, const std::string& function) {
  return Delta(R"({"tool_calls":[{"index":)" + std::to_string(index) + R"(,"function":)" +
               function + "}]}");
}
std::string Usage(int in, int out) {
  return R"("usage":{"prompt_tokens":)" + std::to_string(in) + R"(,"completion_tokens":)" +
         std::to_string(out) + "}";
}

const std::string kRole = Delta(R"({"role":"assistant","content":""})");
const std::string kStop = Delta("{}", "\"stop\"");
const std::string kDone = Data("[DONE]");
const std::string kEnd = kStop + kDone;
const std::string kMessage = R"({"choices":[{"message":{"role":"assistant","content":"hi there"},)"
                             R"("finish_reason":"stop"}],)" +
                             Usage(7, 2) + "}";

}  // namespace

std::vector<Shape> TokenShapes() {
  using enum Outcome;
  return {
      // [row 1, vllm#3759; row 2, vllm#15106; row 12, sglang#29251]
      {"role first", kRole + Text("a") + Text("b") + kEnd, kOk, 2},
      {"role twice, null content",
       kRole + Delta(R"({"role":"assistant","content":null})") + Text("a") + kEnd, kOk, 1},
      {"empty deltas", Delta("{}") + Text("") + Text("a") + Text("") + kEnd, kOk, 1},
      // [row 7, nvcf PR#1826: keep-alives were timed]
      {"comments", ": ping\n\n" + Text("a") + ":\n: x\n\n" + kEnd, kOk, 1},
      // [rows 21, 28, 29: reasoning ignored: vllm#43739, inference-perf#559, guidellm#737]
      {"reasoning",
       Delta(R"({"reasoning":"h"})") + Delta(R"({"reasoning":"m"})") + Text("a") + kEnd, kOk, 3},
      {"reasoning_content", Delta(R"({"reasoning_content":"h","content":null})") + Text("a") + kEnd,
       kOk, 2},
      {"reasoning only", Delta(R"({"reasoning_content":"h"})") + kEnd, kOk, 1},
      // [row 7: refusal text was not counted]
      {"refusal", Delta(R"({"refusal":"I "})") + Delta(R"({"refusal":"will not"})") + kEnd, kOk, 2},
      {"content in parts",
       Delta(R"({"content":[{"type":"text","text":""}]})") +
           Delta(R"({"content":[{"type":"text","text":"a"}]})") + kEnd,
       kOk, 1},
      {"reasoning in parts",
       Delta(R"({"content":[{"type":"thinking","thinking":)"
             R"([{"type":"text","text":"h"}]}]})") +
           kEnd,
       kOk, 1},
      // [row 20, aiperf parity notes: a tool call beside prose; inference-perf: tool calls unseen]
      {"tool call in pieces",
       kRole + Tool(0, R"({"name":"f","arguments":""})") + Tool(0, R"({"arguments":"{\"a\""})") +
           Tool(0, R"({"arguments":":1}"})") + Delta("{}", "\"tool_calls\"") + kDone,
       kOk, 3, "", kAbsentTokens, kAbsentTokens, kAbsentTokens, kToolCallPresent},
      {"two tool calls by turns, and prose",
       Text("so") + Tool(0, R"({"name":"f"})") + Tool(1, R"({"name":"g"})") +
           Tool(0, R"({"arguments":"{}"})") + Tool(1, R"({"arguments":"{}"})") + kEnd,
       kOk, 5, "", kAbsentTokens, kAbsentTokens, kAbsentTokens, kToolCallPresent},
      {"two tool calls in a chunk",
       Delta(R"({"tool_calls":[{"index":0,"function":{"name":"f"}},)"
             R"({"index":1,"function":{"name":"g"}}]})") +
           kEnd,
       kOk, 1, "", kAbsentTokens, kAbsentTokens, kAbsentTokens, kToolCallPresent},
      {"an empty piece of a tool call", Tool(0, R"({"arguments":""})") + kEnd, kOk, 0, "",
       kAbsentTokens, kAbsentTokens, kAbsentTokens, kToolCallPresent},
      // Usage. [row 4, sglang PR#38868; rows 25, 18: a chunk is not a token; table 2.2: usage with
      // the last delta missed by vLLM]
      {"usage in its own chunk",
       Text("a") + kStop + Data("{\"choices\":[]," + Usage(9, 5) + "}") + kDone, kOk, 1, "", 9, 5},
      {"usage with the last delta",
       Text("a") +
           Data(R"({"choices":[{"delta":{"content":"b"},)"
                R"("finish_reason":"length"}],)" +
                Usage(9, 5) + "}") +
           kDone,
       kOk, 2, "", 9, 5, kAbsentTokens, kCapReached},
      {"usage with every chunk",
       Data(R"({"choices":[{"delta":{"content":"a b c"}}],)" + Usage(9, 3) + "}") +
           Data(R"({"choices":[{"delta":{"content":"d"}}],)" + Usage(9, 4) + "}") + kEnd,
       kOk, 2, "", 9, 4, 3},
      {"usage null, then absent",
       Data(R"({"choices":[{"delta":{"content":"a"}}],"usage":null})") + kEnd, kOk, 1},
      // [row 22, sglang#20451: zero is not "not reported"]
      {"usage of zero", Text("a") + Data("{\"choices\":[]," + Usage(0, 0) + "}") + kEnd, kOk, 1, "",
       0, 0},
      {"several choices",
       Delta(R"({"content":"a"})", "null", 0) + Delta(R"({"content":"b"})", "null", 1) +
           Delta("{}", "\"stop\"", 0) + Delta(R"({"content":"c"})", "\"length\"", 1),
       kOk, 3, "", kAbsentTokens, kAbsentTokens, kAbsentTokens, kCapReached},
      {"content after the finish reason", Text("a") + kStop + Text("b") + kDone, kOk, 2},
      {"whole answer in one chunk",
       Data(R"({"choices":[{"delta":{"role":"assistant","content":"hi"},)"
            R"("finish_reason":"stop"}]})") +
           kDone,
       kOk, 1},
      {"message instead of delta", Data(kMessage) + kDone, kOk, 1, "", 7, 2, 2},
      {"text instead of delta", Data(R"({"choices":[{"text":"a","finish_reason":null}]})") + kEnd,
       kOk, 1},
  };
}

std::vector<Shape> EndShapes() {
  using enum Outcome;
  std::string long_text = Text(std::string(100'000, 'x'));
  return {
      {"finish reason without [DONE]", Text("a") + kStop, kOk, 1},
      {"[DONE] without finish reason", Text("a") + kDone, kOk, 1},
      {"[DONE] without a blank line", Text("a") + "data: [DONE]", kOk, 1},
      {"last event without a blank line", Text("a") + kStop.substr(0, kStop.size() - 2), kOk, 1},
      {"what follows [DONE] is nobody's", Text("a") + kDone + Text("b") + Data("{\"error\":{}}"),
       kOk, 1},
      {"a stop and no token", kRole + kEnd, kOk, 0},
      // [row 6, vllm PR#54628: an end without a terminal event passed for success]
      {"cut between events", Text("a") + Text("b"), kTruncated, 2, "without a finish reason"},
      {"cut within an event", Text("a") + Text("b").substr(0, 30), kTruncated, 1},
      {"one choice of two unfinished",
       Delta(R"({"content":"a"})", "null", 0) + Delta(R"({"content":"b"})", "null", 1) +
           Delta("{}", "\"stop\"", 0),
       kTruncated, 2},
      // [row 5, inference-perf#713; row 7: empty 200s were successes; row 10, vllm#14795]
      {"nothing", "", kTruncated, 0, "no byte of a body came"},
      {"only comments", ": ping\n\n: ping\n\n", kTruncated, 0, "it began: : ping\\n\\n"},
      {"only [DONE]", kDone, kEmpty, 0, "it began: data: [DONE]\\n\\n"},
      {"role, usage, [DONE]", kRole + Data("{\"choices\":[]," + Usage(9, 0) + "}") + kDone, kEmpty,
       0, "", 9, 0},
      {"long events", long_text + long_text + kEnd, kOk, 2},
  };
}

std::vector<Shape> ErrorShapes() {
  using enum Outcome;
  const std::string json = "application/json";
  const std::string died = R"({"error":{"message":"engine died","code":500}})";
  std::vector<Shape> shapes = {
      // [row 3, vllm PR#57519; row 4, sglang PR#38868; row 5, inference-perf#713]
      {"error object", Text("a") + Data(died) + kDone, kStreamError, 1, "engine died"},
      {"error object first", Data(died) + kDone, kStreamError, 0, "engine died"},
      {"error beside choices", Data(R"({"choices":[],"error":{"message":"engine died"}})") + kEnd,
       kStreamError, 0, "engine died"},
      {"error in words", Text("a") + Data(R"({"error":"engine died"})"), kStreamError, 1,
       "engine died"},
      {"object error", Data(R"({"object":"error","message":"engine died"})"), kStreamError, 0,
       "engine died"},
      {"error null is none", Data(R"({"choices":[{"delta":{"content":"a"}}],"error":null})") + kEnd,
       kOk, 1},
      // [row 11, tokenomics PR#16: event: error scored as success]
      {"event: error", Text("a") + "event: error\ndata: engine died\n\n" + kEnd, kStreamError, 1,
       "engine died"},
      {"event: error with JSON", "event:error\ndata: {\"message\":\"engine died\"}\n\n",
       kStreamError, 0, "engine died"},
      {"finish reason error", Text("a") + Delta("{}", "\"error\"") + kDone, kStreamError, 1,
       "gave up"},
      {"finish reason abort", Text("a") + Delta("{}", "\"abort\"") + kDone, kStreamError, 1,
       "gave up"},
      {"garbage between", Text("a") + Data("<oops>") + kEnd, kStreamError, 1, "<oops>"},
      {"garbage in UTF-8",
       Text("a") + Data("{\"choices\":[{\"delta\":{\"content\":\"\xff\"}}]}") + kEnd, kStreamError,
       1, "\\xff"},
      // JSON instead of a stream, whatever its type says. [row 20]
      {"JSON answer", kMessage, kOk, 1, "", 7, 2, 2, 0, json},
      {"JSON answer called a stream", "\n " + kMessage, kOk, 1, "", 7, 2, 2},
      {"stream called JSON", Text("a") + Text("b") + kEnd, kOk, 2, "", kAbsentTokens, kAbsentTokens,
       kAbsentTokens, 0, json},
      {"JSON error", died, kStreamError, 0, "engine died", kAbsentTokens, kAbsentTokens,
       kAbsentTokens, 0, json},
      {"JSON error called a stream", died, kStreamError, 0, "engine died"},
      {"JSON of something else", R"({"detail":"no such model"})", kStreamError, 0, "no such model",
       kAbsentTokens, kAbsentTokens, kAbsentTokens, 0, json},
      {"JSON cut", kMessage.substr(0, 40), kStreamError, 0, "not a JSON object", kAbsentTokens,
       kAbsentTokens, kAbsentTokens, 0, json},
      {"JSON with no token", R"({"choices":[{"message":{"content":""}}]})", kEmpty, 0, "",
       kAbsentTokens, kAbsentTokens, kAbsentTokens, 0, json},
      // [row 10: what came instead is printed, escaped]
      {"a page", "<html>\r\n\x01 busy", kHttpError, 0, R"(with text/html; it began: <html)",
       kAbsentTokens, kAbsentTokens, kAbsentTokens, 0, "text/html"},
      {"a page called a stream", "<html>\r\n\x01", kTruncated, 0, R"(it began: <html>\r\n\x01)"},
  };
  Shape refused{"429", died, kRefused, 0, "engine died"};
  refused.type = json;
  refused.status = "429 Too Many Requests";
  shapes.push_back(refused);
  Shape bad{"500 with a stream", Data(died), kHttpError, 0, "status 500"};
  bad.status = "500 Internal Server Error";
  shapes.push_back(std::move(bad));
  return shapes;
}

std::vector<Shape> FramingShapes() {
  using enum Outcome;
  const auto with = [](std::string_view text, std::string_view end) {
    std::string out;
    for (const char c : text) out += c == '\n' ? end : std::string_view(&c, 1);
    return out;
  };
  const std::string plain = kRole + Text("a") + Text("\xF0\x9F\x9A\xA2 \xC3\xA9") + kEnd;
  const std::string payload = R"({"choices":[{"delta":{"content":"a"}}]})";
  return {
      // [row 8, sparkDash#105: CRLF gave no token; inference-perf: LF only]
      {"CRLF", with(plain, "\r\n"), kOk, 2},
      {"CR", with(plain, "\r"), kOk, 2},
      {"line ends mixed",
       "data: " + payload + "\r\n\ndata: " + payload + "\r\rdata: " + payload + "\n\r\n" + kEnd,
       kOk, 3},
      {"BOM", "\xEF\xBB\xBF" + plain, kOk, 2},
      {"data: without a space", "data:" + payload + "\n\ndata:[DONE]\n\n", kOk, 1},
      {"two spaces after data:", "data:  " + payload + "\n\ndata:  [DONE]\n\n", kOk, 1},
      {"data of several lines",
       "data: {\"choices\":[{\"delta\":\ndata: {\"content\":\"a\"}}]}\n\n" + kEnd, kOk, 1},
      {"id, retry and unknown fields",
       "id: 1\nretry: 10\nfoo: bar\ndata: " + payload + "\n\n" + kEnd, kOk, 1},
      {"named events",
       "event: message\ndata: " + payload + "\n\nevent: ping\ndata: still here\n\n" +
           "event: chunk\ndata: " + payload + "\n\n" + kEnd,
       kOk, 2},
      {"data that is empty", "data:\n\ndata\n\n" + plain, kOk, 2},
      {"another charset, in capitals", plain, kOk, 2, "", kAbsentTokens, kAbsentTokens,
       kAbsentTokens, 0, "Text/Event-Stream;charset=ISO-8859-1"},
      {"no type", plain, kOk, 2, "", kAbsentTokens, kAbsentTokens, kAbsentTokens, 0, ""},
  };
}

}  // namespace plimsoll
