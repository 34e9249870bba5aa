// An answer whose text is given, in the pieces in which it is streamed: a word of content or a few
// characters of a call's arguments each. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll {

// A tool call as the answer has it: what is absent is left out.
struct AnswerCall {
  std::optional<std::string> id;
  std::optional<std::string> name;
  std::optional<std::string> arguments;
};

struct AnswerPlan {
  std::string content;
  std::vector<AnswerCall> calls;
  bool says_calls = false;  // Its finish reason is tool_calls.
};

class AnswerScript {
 public:
  // In at most `pieces_max` pieces, which is at least 1: what is beyond comes with the last one.
  AnswerScript(const AnswerPlan& plan, std::size_t pieces_max);

  // At least 1.
  std::size_t size() const { return pieces_.size(); }
  bool says_calls() const { return says_calls_; }
  // The "delta" of a chunk, as JSON: as vLLM streams calls, with the name first, the arguments
  // next.
  std::string Delta(std::size_t piece) const;
  // The "message" of a whole answer as JSON: of the first `pieces`, with `lead` before its content.
  std::string Message(std::size_t pieces, std::string_view lead) const;

 private:
  struct CallPiece {
    std::size_t index = 0;
    std::optional<std::string> id;
    std::optional<std::string> name;
    std::optional<std::string> arguments;
  };
  struct Piece {
    std::string content;
    std::vector<CallPiece> calls;
  };

  void AddContent(std::string_view text);
  void AddCall(std::size_t index, const AnswerCall& call);
  static void Join(const Piece& from, Piece* to);
  static std::string CallText(const CallPiece& call, bool indexed);

  std::vector<Piece> pieces_;
  bool says_calls_ = false;
};

}  // namespace plimsoll
