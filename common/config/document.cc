#include "common/config/document.h"

#include <algorithm>
#include <charconv>
#include <exception>
#include <map>
#include <sstream>
#include <utility>

#include "fmt/format.h"
#include "yaml-cpp/eventhandler.h"
#include "yaml-cpp/exceptions.h"
#include "yaml-cpp/parser.h"

namespace plimsoll {
namespace {

// Thrown by the builder through the library, caught in ParseDocument.
struct Refused {
  int line;
  std::string message;
};

std::size_t NodesIn(const ConfigNode& node) {
  std::size_t n = 1;
  for (const ConfigNode& item : node.items) n += NodesIn(item);
  for (const ConfigMember& member : node.members) n += NodesIn(member.value);
  return n;
}

// Builds the tree from the parser's events.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(Problems& problems) : problems_(problems) {}

  ConfigNode TakeRoot() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    ConfigNode node;
    node.line = mark.line + 1;
    Place(std::move(node), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto it = anchors_.find(anchor);
    // An alias inside the very node that it names would be an infinite tree.
    if (it == anchors_.end())
      throw Refused{mark.line + 1, "an alias names a node that contains it"};
    nodes_ += NodesIn(it->second);
    CheckSize(mark.line + 1);
    Place(it->second, 0);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    ConfigNode node;
    node.kind = ConfigNode::Kind::kScalar;
    node.line = mark.line + 1;
    node.text = value;
    node.quoted = tag == "!";
    Place(std::move(node), anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(ConfigNode::Kind::kList, mark.line + 1, anchor);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(ConfigNode::Kind::kMap, mark.line + 1, anchor);
  }
  void OnMapEnd() override { Close(); }

 private:
  struct Frame {
    ConfigNode node;
    YAML::anchor_t anchor = 0;
    std::optional<ConfigMember> pending;  // A map's key that waits for its value.
    bool duplicate = false;               // The pending key exists already.
  };

  void CheckSize(int line) const {
    if (nodes_ > kDocumentNodesMax) {
      throw Refused{line,
                    fmt::format("holds more than {} values, aliases included", kDocumentNodesMax)};
    }
  }

  void Open(ConfigNode::Kind kind, int line, YAML::anchor_t anchor) {
    if (stack_.size() >= kDocumentDepthMax) {
      throw Refused{line, fmt::format("is nested deeper than {} levels", kDocumentDepthMax)};
    }
    if (!stack_.empty() && stack_.back().node.kind == ConfigNode::Kind::kMap &&
        !stack_.back().pending.has_value()) {
      throw Refused{line, "a key must be plain text, not a list or a map"};
    }
    Frame frame;
    frame.node.kind = kind;
    frame.node.line = line;
    frame.anchor = anchor;
    stack_.push_back(std::move(frame));
  }

  void Close() {
    Frame frame = std::move(stack_.back());
    stack_.pop_back();
    Place(std::move(frame.node), frame.anchor);
  }

  void Place(ConfigNode node, YAML::anchor_t anchor) {
    ++nodes_;
    CheckSize(node.line);
    if (anchor != 0) anchors_.insert_or_assign(anchor, node);
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    Frame& frame = stack_.back();
    if (frame.node.kind == ConfigNode::Kind::kList) {
      frame.node.items.push_back(std::move(node));
    } else if (!frame.pending.has_value()) {
      TakeKey(frame, node);
    } else {
      frame.pending->value = std::move(node);
      if (!frame.duplicate) frame.node.members.push_back(std::move(*frame.pending));
      frame.pending.reset();
    }
  }

  void TakeKey(Frame& frame, const ConfigNode& node) {
    if (node.kind != ConfigNode::Kind::kScalar) {
      throw Refused{node.line, "a key must be plain text"};
    }
    frame.pending = ConfigMember{node.text, node.line, {}};
    frame.duplicate = false;
    for (const ConfigMember& member : frame.node.members) {
      if (member.key != node.text) continue;
      frame.duplicate = true;
      problems_.Add(node.line, PathTo(node.text),
                    fmt::format("is given twice, keep one; the first is on line {}", member.line));
      return;
    }
  }

  std::string PathTo(const std::string& key) const {
    std::string path;
    for (std::size_t i = 0; i + 1 < stack_.size(); ++i) {
      const Frame& frame = stack_[i];
      if (frame.pending.has_value()) {
        path += (path.empty() ? "" : ".") + frame.pending->key;
      } else {
        path += fmt::format("[{}]", frame.node.items.size());
      }
    }
    return path.empty() ? key : path + "." + key;
  }

  Problems& problems_;
  std::vector<Frame> stack_;
  std::map<YAML::anchor_t, ConfigNode> anchors_;
  std::size_t nodes_ = 0;
  ConfigNode root_;
};

}  // namespace

const ConfigNode* ConfigNode::Find(std::string_view key) const {
  for (const ConfigMember& member : members) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

std::string_view KindName(ConfigNode::Kind kind) {
  switch (kind) {
    case ConfigNode::Kind::kScalar:
      return "text";
    case ConfigNode::Kind::kList:
      return "list";
    case ConfigNode::Kind::kMap:
      return "map";
    case ConfigNode::Kind::kNull:
      break;
  }
  return "nothing";
}

std::optional<ConfigNode> ParseDocument(std::string_view text, Problems& problems) {
  if (text.size() > kDocumentBytesMax) {
    problems.Add(0, "",
                 fmt::format("has {} bytes, at most {} are read", text.size(), kDocumentBytesMax));
    return std::nullopt;
  }
  // YAML allows no control bytes; refused here, so that no terminal ever shows them in a message.
  int line = 1;
  for (const char c : text) {
    if (c == '\n') ++line;
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n' && c != '\r' && c != '\t') || byte == 0x7f) {
      problems.Add(line, "",
                   fmt::format("holds the control byte 0x{:02x}, this is no YAML text", byte));
      return std::nullopt;
    }
  }
  TreeBuilder builder(problems);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) return ConfigNode{};
    ConfigNode root = builder.TakeRoot();
    Problems ignored("");
    TreeBuilder second(ignored);
    if (parser.HandleNextDocument(second)) {
      problems.Add(0, "", "holds more than one document, keep one");
    }
    return root;
  } catch (const Refused& refused) {
    problems.Add(refused.line, "", refused.message);
  } catch (const YAML::Exception& error) {
    problems.Add(error.mark.is_null() ? 0 : error.mark.line + 1, "",
                 fmt::format("is not YAML: {}", error.msg));
  } catch (const std::exception& error) {
    problems.Add(0, "", fmt::format("is not YAML: {}", error.what()));
  }
  return std::nullopt;
}

int LineOf(const ConfigNode& root, std::string_view path) {
  const ConfigNode* node = &root;
  int line = root.line;
  while (!path.empty()) {
    if (path.front() == '[') {
      std::size_t index = 0;
      const std::size_t close = path.find(']');
      if (close == std::string_view::npos) return line;
      std::from_chars(path.data() + 1, path.data() + close, index);
      if (index >= node->items.size()) return line;
      node = &node->items[index];
      line = node->line;
      path.remove_prefix(close + 1);
    } else {
      if (path.front() == '.') path.remove_prefix(1);
      // The longest key that the path begins with: keys may hold points ("ttft_p99.5").
      const ConfigMember* found = nullptr;
      std::size_t end = 0;
      for (const ConfigMember& member : node->members) {
        const std::size_t size = member.key.size();
        if (!path.starts_with(member.key) || (found != nullptr && size <= end)) continue;
        if (size < path.size() && path[size] != '.' && path[size] != '[') continue;
        found = &member;
        end = size;
      }
      if (found == nullptr) return line;
      line = found->line;
      node = &found->value;
      path.remove_prefix(end);
    }
  }
  return line;
}

}  // namespace plimsoll
