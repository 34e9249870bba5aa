// Text against a committed file of tests/golden. PLIMSOLL_UPDATE_GOLDEN=1 rewrites the file; the
// diff is then reviewed.
#pragma once

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "gtest/gtest.h"

namespace plimsoll::testing {

// `name`: below tests/golden, "report/sample.txt".
inline void ExpectGolden(const std::string& name, const std::string& text) {
  const std::string path = std::string(PLIMSOLL_SOURCE_DIR) + "/tests/golden/" + name;
  if (std::getenv("PLIMSOLL_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << text;
    return;
  }
  std::ifstream file(path);
  ASSERT_TRUE(file) << path << " is missing; PLIMSOLL_UPDATE_GOLDEN=1 writes it";
  std::ostringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(text, golden.str()) << "differs from " << path;
}

}  // namespace plimsoll::testing
