// Values in a configuration that look like secrets, left out before a file is kept or shown. Pure.
// It errs on the side of leaving out: a name that is a password's or a token's, with a literal
// value; keys of well-known forms; passwords in URLs; private keys. References to secrets (a
// variable, a path, a template's placeholder) stay.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plimsoll {

struct WithoutSecrets {
  std::string text;        // With "[left out]" in the place of each.
  std::vector<int> lines;  // From 1; where one was left out, one entry each.
};

WithoutSecrets LeaveOutSecrets(std::string_view text);

}  // namespace plimsoll
