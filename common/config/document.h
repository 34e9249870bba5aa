// A YAML document as a tree of values with line numbers. The only door to the YAML library: its
// exceptions become problems, and what a hostile file could blow up is bounded.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/problems.h"

namespace plimsoll {

struct ConfigMember;

struct ConfigNode {
  enum class Kind { kNull, kScalar, kList, kMap };
  Kind kind = Kind::kNull;
  int line = 0;         // From 1.
  std::string text;     // Of a scalar.
  bool quoted = false;  // A scalar in quotes is a text, whatever it looks like.
  std::vector<ConfigNode> items;
  std::vector<ConfigMember> members;  // In the order of the file; keys are unique.

  // The value of `key`, or null. Only the first of duplicate keys is kept.
  const ConfigNode* Find(std::string_view key) const;
};

struct ConfigMember {
  std::string key;
  int line = 0;
  ConfigNode value;
};

// "text", "list", "map" or "nothing": for messages.
std::string_view KindName(ConfigNode::Kind kind);

// Bounds of a document: far above any scenario, far below what hurts.
inline constexpr std::size_t kDocumentBytesMax = std::size_t{1} << 20;
inline constexpr std::size_t kDocumentDepthMax = 32;
// Counts copies made by aliases too, so that nested aliases cannot explode.
inline constexpr std::size_t kDocumentNodesMax = 20'000;

// Parses exactly one document. Syntax errors, duplicate keys, keys that are not plain text and
// exceeded bounds are added to `problems`. Returns nothing if there is no tree to go on with;
// duplicate keys alone leave a tree. An empty document is a kNull node.
std::optional<ConfigNode> ParseDocument(std::string_view text, Problems& problems);

// Line of the deepest existing node along a path like "sweep.sessions[2]"; 0 for an empty tree.
int LineOf(const ConfigNode& root, std::string_view path);

}  // namespace plimsoll
