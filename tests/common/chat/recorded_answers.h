// Answers of real servers, as recorded under tests/data/streams, and what each must come to.
#pragma once

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "common/record/call_record.h"
#include "gtest/gtest.h"

namespace plimsoll {

struct RecordedAnswer {
  std::string name;
  Outcome outcome;
  std::uint32_t chunks;
  std::uint32_t tokens_in;
  std::uint32_t tokens_out;
  std::string head;  // With the empty line behind it.
  std::string body;
};

inline std::vector<RecordedAnswer> RecordedAnswers() {
  constexpr std::uint32_t kNone = kAbsentTokens;
  std::vector<RecordedAnswer> answers = {
      {"llama_server_chat_stream", Outcome::kOk, 8, 30, 8, "", ""},
      {"aimock_chat_stream", Outcome::kOk, 16, 3, 32, "", ""},
      {"mock_llm_stream", Outcome::kOk, 1, kNone, kNone, "", ""},
      {"llama_server_v1_completions_stream", Outcome::kOk, 5, 2, 5, "", ""},
      {"aimock_429", Outcome::kRefused, 0, kNone, kNone, "", ""},
      {"haproxy_429", Outcome::kRefused, 0, kNone, kNone, "", ""},
      {"llama_server_err_ctx", Outcome::kContextOverflow, 0, kNone, kNone, "", ""},
      {"llama_server_err_badjson", Outcome::kHttpError, 0, kNone, kNone, "", ""},
  };
  for (RecordedAnswer& answer : answers) {
    std::stringstream raw;
    raw << std::ifstream(PLIMSOLL_SOURCE_DIR "/tests/data/streams/" + answer.name + ".raw").rdbuf();
    const std::size_t split = raw.str().find("\r\n\r\n");
    if (split == std::string::npos) {
      ADD_FAILURE() << answer.name << " has no head";
      return {};
    }
    answer.head = raw.str().substr(0, split + 4);
    answer.body = raw.str().substr(split + 4);
  }
  return answers;
}

}  // namespace plimsoll
