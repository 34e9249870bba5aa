// Small recordings for the readers' tests, and the same ones broken.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/corpus/recording.h"
#include "common/json/json.h"

namespace plimsoll {

inline nlohmann::json TraceCallJson(double t, const char* type, int in, std::vector<int> ids,
                                    double api_time, const char* model = "big") {
  nlohmann::json call = {{"t", t},
                         {"type", type},
                         {"model", model},
                         {"in", in},
                         {"out", 10},
                         {"hash_ids", ids},
                         {"input_types", nlohmann::json::array()},
                         {"output_types", {"text"}},
                         {"stop", ""}};
  if (api_time >= 0) call["api_time"] = api_time;
  return call;
}

// What the bytes are read as; a test failure if they are refused.
inline Recording ReadAll(const std::string& bytes) {
  StatusOr<Recording> recording = ReadRecording("f", bytes);
  EXPECT_TRUE(recording.ok()) << recording.status();
  return recording.ok() ? *std::move(recording) : Recording();
}

inline Session ReadOne(const nlohmann::json& document) {
  Recording recording = ReadAll(document.dump());
  EXPECT_EQ(recording.sessions.size(), 1u);
  return recording.sessions.empty() ? Session() : recording.sessions[0].session;
}

// The message with which they are refused; "" if they are not.
inline std::string WhyRefused(const std::string& bytes) {
  const StatusOr<Recording> recording = ReadRecording("f", bytes);
  return recording.ok() ? "" : std::string(MessageOf(recording.status()));
}

inline std::uint64_t NoteCount(const std::vector<ImportNote>& notes, const std::string& part) {
  for (const ImportNote& note : notes) {
    if (note.what.find(part) != std::string::npos) return note.count;
  }
  return 0;
}

template <typename Field>
std::vector<std::int64_t> ColumnOf(const Session& session, Field Call::*field) {
  std::vector<std::int64_t> values;
  for (const Call& call : session.calls) values.push_back(call.*field);
  return values;
}

}  // namespace plimsoll
