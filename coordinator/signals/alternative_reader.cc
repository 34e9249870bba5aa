#include "coordinator/signals/alternative_reader.h"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "coordinator/signals/mapping_reader.h"
#include "fmt/format.h"

namespace plimsoll {
namespace {

constexpr std::size_t kAlternativesMax = 16;
constexpr std::size_t kNameBytesMax = 256;
constexpr std::array<std::string_view, 3> kOps = {"in", "not", "prefix"};

void CheckName(const std::string& name, SignalKind kind, int line, const std::string& path,
               Problems& problems) {
  if (name.empty()) return problems.Add(line, path, "is empty, write a name");
  if (name.size() > kNameBytesMax) {
    return problems.Add(line, path, fmt::format("is longer than {} bytes", kNameBytesMax));
  }
  if (name.find_first_of("{}\"* ") != std::string::npos) {
    return problems.Add(line, path,
                        "must be a bare name; labels are chosen with where: {LABEL: TEXT}");
  }
  if (name.ends_with("_created")) {
    return problems.Add(line, path, "is when the counter began, not a count");
  }
  if (kind != SignalKind::kHistogram) return;
  for (const std::string_view suffix : {"_bucket", "_count", "_sum"}) {
    if (!name.ends_with(suffix)) continue;
    problems.Add(line, path,
                 fmt::format("is one series of a histogram, write {}",
                             name.substr(0, name.size() - suffix.size())));
  }
}

// A text, or a list of texts.
std::vector<std::string> OneOrMore(const ConfigNode& node, const std::string& path,
                                   Problems& problems) {
  std::vector<std::string> texts;
  if (node.kind == ConfigNode::Kind::kScalar) return {node.text};
  if (node.kind == ConfigNode::Kind::kList) {
    for (const ConfigNode& item : node.items) {
      if (item.kind != ConfigNode::Kind::kScalar) {
        problems.Add(item.line, path, "must be texts");
        return {};
      }
      texts.push_back(item.text);
    }
  }
  if (texts.empty()) problems.Add(node.line, path, "must be a text or a list of texts");
  return texts;
}

std::optional<LabelTest> ReadTest(const std::string& label, const ConfigNode& node,
                                  const std::string& path, Problems& problems) {
  LabelTest test{.label = label, .op = LabelTest::Op::kIn, .values = {}};
  if (label == "le" || label == "quantile") {
    problems.Add(node.line, path, "is part of a histogram, and cannot be chosen by");
    return std::nullopt;
  }
  if (node.kind != ConfigNode::Kind::kMap) {
    test.values = OneOrMore(node, path, problems);
  } else if (node.members.size() != 1) {
    problems.Add(node.line, path, "must have one of in, not, prefix");
  } else {
    FieldReader fields(node, path, problems);
    for (std::size_t i = 0; i < kOps.size(); ++i) {
      const ConfigNode* value = fields.Find(kOps[i]);
      if (value == nullptr) continue;
      test.op = static_cast<LabelTest::Op>(i);
      test.values = OneOrMore(*value, fields.PathOf(kOps[i]), problems);
    }
    fields.Finish();
  }
  if (test.values.empty()) return std::nullopt;
  return test;
}

Alternative ReadOne(const ConfigNode& node, const std::string& path, SignalKind kind,
                    Problems& problems) {
  Alternative one;
  if (node.kind == ConfigNode::Kind::kScalar) {
    one.name = node.text;
    CheckName(one.name, kind, node.line, path, problems);
    return one;
  }
  FieldReader fields(node, path, problems);
  if (fields.Require("name", "vllm:num_requests_running")) {
    one.name = fields.Text("name").value_or("");
    if (!one.name.empty()) CheckName(one.name, kind, node.line, fields.PathOf("name"), problems);
  }
  if (auto plus = fields.Texts("plus")) {
    one.plus = *std::move(plus);
    for (const std::string& name : one.plus) {
      CheckName(name, kind, node.line, fields.PathOf("plus"), problems);
    }
    if (kind == SignalKind::kHistogram) {
      fields.Problem("plus", "is not for histograms, leave it out");
    }
    if (one.plus.size() > kAlternativesMax) fields.Problem("plus", "has too many names");
  }
  one.where = ReadLabelTests(fields, "where", problems);
  fields.Finish();
  return one;
}

}  // namespace

std::vector<LabelTest> ReadLabelTests(FieldReader& fields, std::string_view key,
                                      Problems& problems) {
  std::vector<LabelTest> tests;
  const ConfigNode* node = fields.Find(key);
  if (node == nullptr) return tests;
  const std::string path = fields.PathOf(key);
  if (node->kind != ConfigNode::Kind::kMap || node->members.empty()) {
    fields.Problem(key, "must be labels and what they hold, write e.g. {status: {in: [4xx, 5xx]}}");
    return tests;
  }
  for (const ConfigMember& member : node->members) {
    std::optional<LabelTest> test =
        ReadTest(member.key, member.value, fmt::format("{}.{}", path, member.key), problems);
    if (test.has_value()) tests.push_back(*std::move(test));
  }
  return tests;
}

std::vector<Alternative> ReadAlternatives(const ConfigNode& node, const std::string& path,
                                          SignalKind kind, Problems& problems) {
  std::vector<Alternative> any;
  if (node.kind == ConfigNode::Kind::kScalar) {
    any.push_back(ReadOne(node, path, kind, problems));
    return any;
  }
  if (node.kind != ConfigNode::Kind::kList || node.items.empty()) {
    problems.Add(node.line, path, "must be a list of names, write e.g. [NAME, OLDER_NAME]");
    return any;
  }
  if (node.items.size() > kAlternativesMax) {
    problems.Add(
        node.line, path,
        fmt::format("has {} alternatives, at most {}", node.items.size(), kAlternativesMax));
    return any;
  }
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    any.push_back(ReadOne(node.items[i], fmt::format("{}[{}]", path, i), kind, problems));
  }
  return any;
}

}  // namespace plimsoll
