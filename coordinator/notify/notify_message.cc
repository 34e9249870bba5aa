#include "coordinator/notify/notify_message.h"

#include <string_view>

#include <fmt/format.h>

#include "common/base/json_text.h"
#include "common/base/text.h"

namespace plimsoll {
namespace {

constexpr std::size_t kTextBytesMax = 2000;

std::string SlackEscaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else if (c == '>') {
      escaped += "&gt;";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string Text(const std::string& value) {
  if (value.empty()) return "null";
  return fmt::format("\"{}\"", JsonEscaped(Printable(value, kTextBytesMax)));
}

}  // namespace

std::string SlackBody(const NotifyMessage& message) {
  std::string text = "plimsoll " + message.run_name;
  if (!message.run_id.empty()) text += " (" + message.run_id + ")";
  text += ": " + message.text;
  if (!message.capacity.empty()) text += "; capacity " + message.capacity;
  return fmt::format("{{\"text\": \"{}\"}}",
                     JsonEscaped(SlackEscaped(Printable(text, kTextBytesMax))));
}

std::string JsonBody(const NotifyMessage& message) {
  return fmt::format(
      "{{\"event\": \"{}\", \"run_id\": {}, \"name\": {}, \"phase\": {}, \"verdict\": {}, "
      "\"exit_code\": {}, \"capacity\": {}, \"text\": {}}}",
      Name(message.event), Text(message.run_id), Text(message.run_name), Text(message.phase),
      Text(message.verdict),
      message.exit_code ? fmt::format("{}", *message.exit_code) : std::string("null"),
      Text(message.capacity), Text(message.text));
}

}  // namespace plimsoll
