// Bodies of answers as servers send them, right and wrong, each with what it must lead to. Names in
// brackets are where a tool is known to have got it wrong.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/record/call_record.h"

namespace plimsoll {

struct Shape {
  std::string name;
  std::string body;
  Outcome outcome = Outcome::kOk;
  std::uint32_t chunks = 0;  // That carried a token.
  std::string says;          // Within the message.
  std::uint32_t tokens_in = kAbsentTokens;
  std::uint32_t tokens_out = kAbsentTokens;
  std::uint32_t tokens_first_chunk = kAbsentTokens;
  std::uint8_t flags = 0;  // Cap, tool call.
  std::string type = "text/event-stream; charset=utf-8";
  std::string status = "200 OK";
};

std::vector<Shape> TokenShapes();    // What is a token, and what is none.
std::vector<Shape> EndShapes();      // How a stream may end.
std::vector<Shape> ErrorShapes();    // What servers say after a 200, and instead of one.
std::vector<Shape> FramingShapes();  // Lines, events, types.

}  // namespace plimsoll
