#include "gateway/answers/answer_script.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/base/json_text.h"
#include "common/base/text.h"

namespace plimsoll {
namespace {

constexpr std::size_t kArgumentBytes = 5;  // Of a piece: about a token of JSON.

std::string Quoted(std::string_view text) {
  return '"' + JsonEscaped(ValidUtf8(text)) + '"';
}

// Bytes of the next piece: whole characters.
std::size_t PieceBytes(std::string_view text) {
  std::size_t bytes = 0;
  while (bytes < text.size() && bytes < kArgumentBytes) {
    bytes += std::max<std::size_t>(1, Utf8CharacterBytes(text.substr(bytes)));
  }
  return std::min(bytes, text.size());
}

void Append(const std::optional<std::string>& from, std::optional<std::string>* to) {
  if (!from) return;
  *to = to->value_or("") + *from;
}

}  // namespace

AnswerScript::AnswerScript(const AnswerPlan& plan, std::size_t pieces_max)
    : says_calls_(plan.says_calls) {
  AddContent(plan.content);
  for (std::size_t i = 0; i < plan.calls.size(); ++i) AddCall(i, plan.calls[i]);
  if (pieces_.empty()) pieces_.emplace_back();
  while (pieces_.size() > std::max<std::size_t>(1, pieces_max)) {
    const Piece last = std::move(pieces_.back());
    pieces_.pop_back();
    Join(last, &pieces_.back());
  }
}

// A word with the white space before it, each.
void AnswerScript::AddContent(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\n'; };
  while (!text.empty()) {
    std::size_t end = 0;
    while (end < text.size() && blank(text[end])) ++end;
    while (end < text.size() && !blank(text[end])) ++end;
    pieces_.push_back({.content = std::string(text.substr(0, end)), .calls = {}});
    text.remove_prefix(end);
  }
}

void AnswerScript::AddCall(std::size_t index, const AnswerCall& call) {
  CallPiece first{.index = index, .id = call.id, .name = call.name, .arguments = std::nullopt};
  if (call.arguments) first.arguments = "";
  pieces_.push_back({.content = "", .calls = {first}});
  if (!call.arguments) return;
  for (std::string_view rest = *call.arguments; !rest.empty();) {
    const std::size_t bytes = PieceBytes(rest);
    CallPiece more{.index = index, .id = {}, .name = {}, .arguments = {}};
    more.arguments = std::string(rest.substr(0, bytes));
    pieces_.push_back({.content = "", .calls = {std::move(more)}});
    rest.remove_prefix(bytes);
  }
}

void AnswerScript::Join(const Piece& from, Piece* to) {
  to->content += from.content;
  for (const CallPiece& call : from.calls) {
    const auto same = std::find_if(to->calls.begin(), to->calls.end(),
                                   [&](const CallPiece& c) { return c.index == call.index; });
    if (same == to->calls.end()) {
      to->calls.push_back(call);
      continue;
    }
    Append(call.id, &same->id);
    Append(call.name, &same->name);
    Append(call.arguments, &same->arguments);
  }
}

std::string AnswerScript::CallText(const CallPiece& call, bool indexed) {
  std::string text = indexed ? fmt::format(R"({{"index":{})", call.index) : "{";
  const auto field = [&text](std::string_view json) {
    if (text.size() > 1) text += ',';
    text += json;
  };
  if (call.id) field(fmt::format(R"("id":{},"type":"function")", Quoted(*call.id)));
  std::string function;
  if (call.name) function += fmt::format(R"("name":{})", Quoted(*call.name));
  if (call.arguments) {
    function +=
        fmt::format(R"({}"arguments":{})", function.empty() ? "" : ",", Quoted(*call.arguments));
  }
  field(fmt::format(R"("function":{{{}}})", function));
  return text + "}";
}

std::string AnswerScript::Delta(std::size_t piece) const {
  const Piece& p = pieces_[piece];
  std::string text = "{";
  if (!p.content.empty() || p.calls.empty()) {
    text += fmt::format(R"("content":{})", Quoted(p.content));
  }
  if (p.calls.empty()) return text + "}";
  text += fmt::format(R"({}"tool_calls":[)", text.size() > 1 ? "," : "");
  for (std::size_t i = 0; i < p.calls.size(); ++i) {
    text += (i > 0 ? "," : "") + CallText(p.calls[i], true);
  }
  return text + "]}";
}

std::string AnswerScript::Message(std::size_t pieces, std::string_view lead) const {
  Piece all;
  all.content = lead;
  for (std::size_t i = 0; i < std::min(pieces, pieces_.size()); ++i) Join(pieces_[i], &all);
  const bool silent = all.content.empty() && !all.calls.empty();
  std::string text = fmt::format(R"({{"role":"assistant","content":{})",
                                 silent ? std::string("null") : Quoted(all.content));
  if (all.calls.empty()) return text + "}";
  text += R"(,"tool_calls":[)";
  for (std::size_t i = 0; i < all.calls.size(); ++i) {
    text += (i > 0 ? "," : "") + CallText(all.calls[i], false);
  }
  return text + "]}";
}

}  // namespace plimsoll
