#include "common/chat/chat_body.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "common/base/json_text.h"

namespace plimsoll {
namespace {

// With the comma that separates it from the message before; the first one drops it.
std::string_view HeadOf(Role role) {
  switch (role) {
    case Role::kSystem:
      return R"(,{"role":"system","content":")";
    case Role::kUser:
      return R"(,{"role":"user","content":")";
    case Role::kAssistant:
      return R"(,{"role":"assistant","content":")";
  }
  return R"(,{"role":"user","content":")";
}
// Fixed, so that every run offers the same; small beside any prompt.
constexpr std::string_view kTools =
    R"([{"type":"function","function":{"name":"read_file",)"
    R"("description":"Reads a file of the workspace.","parameters":{"type":"object",)"
    R"("properties":{"path":{"type":"string"},"line":{"type":"integer"}},)"
    R"("required":["path"]}}}])";
constexpr std::string_view kTail = R"("})";

std::uint64_t ContentBytes(const MessageRange& message) {
  return std::uint64_t{limits::kTokenBytes} * (message.end_token - message.first_token);
}

}  // namespace

std::string_view OfferedTools() {
  return kTools;
}

ChatBody::ChatBody(const Prompt& prompt, const ChatBodyOptions& options)
    : prompt_(&prompt),
      reader_(prompt),
      prefix_(fmt::format(R"({{"model":"{}","messages":[)", JsonEscaped(options.model))),
      suffix_(fmt::format(
          R"(],"stream":true,"stream_options":{{"include_usage":true}},"max_tokens":{})",
          options.max_tokens)),
      live_(options.live) {
  if (options.min_tokens) suffix_ += fmt::format(R"(,"min_tokens":{})", options.max_tokens);
  if (options.ignore_eos) suffix_ += R"(,"ignore_eos":true)";
  if (options.tools) suffix_.append(R"(,"tools":)").append(kTools);
  if (!options.extra_fields.empty()) suffix_.append(",").append(options.extra_fields);
  suffix_.push_back('}');
  size_ = prefix_.size() + suffix_.size();
  for (std::size_t m = 0; m < prompt.messages.size(); ++m) {
    const MessageRange& message = prompt.messages[m];
    const LiveMessage* said = LiveTextOf(m);
    size_ += HeadOf(message.role).size() + kTail.size();
    size_ += said != nullptr ? said->json.size() : ContentBytes(message);
  }
  live_next_ = 0;
  if (!prompt.messages.empty()) --size_;  // The first comma.
}

std::size_t ChatBody::Read(char* to, std::size_t capacity) {
  std::size_t written = 0;
  while (written < capacity && part_ != Part::kEnd) {
    const std::uint64_t left = PartSize() - at_;
    const std::size_t count =
        static_cast<std::size_t>(std::min<std::uint64_t>(left, capacity - written));
    CopyPart(at_, to + written, count);
    at_ += count;
    written += count;
    if (count == left) NextPart();
  }
  return written;
}

const LiveMessage* ChatBody::LiveTextOf(std::size_t message) {
  while (live_next_ < live_.size() && live_[live_next_].message < message) ++live_next_;
  const bool live = live_next_ < live_.size() && live_[live_next_].message == message;
  return live ? &live_[live_next_] : nullptr;
}

std::string_view ChatBody::Head() const {
  const std::string_view head = HeadOf(prompt_->messages[message_].role);
  return message_ == 0 ? head.substr(1) : head;
}

std::uint64_t ChatBody::PartSize() const {
  switch (part_) {
    case Part::kPrefix:
      return prefix_.size();
    case Part::kHead:
      return Head().size();
    case Part::kContent:
      return said_ != nullptr ? said_->json.size() : ContentBytes(prompt_->messages[message_]);
    case Part::kTail:
      return kTail.size();
    case Part::kSuffix:
      return suffix_.size();
    case Part::kEnd:
      break;
  }
  return 0;
}

void ChatBody::CopyPart(std::uint64_t at, char* to, std::size_t count) {
  if (part_ == Part::kContent && said_ == nullptr) {
    const std::uint64_t first = prompt_->messages[message_].first_token;
    return reader_.Read(first * limits::kTokenBytes + at, to, count);
  }
  const std::string_view text = part_ == Part::kPrefix    ? std::string_view(prefix_)
                                : part_ == Part::kHead    ? Head()
                                : part_ == Part::kContent ? said_->json
                                : part_ == Part::kTail    ? kTail
                                                          : std::string_view(suffix_);
  std::memcpy(to, text.data() + at, count);
}

void ChatBody::NextPart() {
  at_ = 0;
  switch (part_) {
    case Part::kPrefix:
      part_ = prompt_->messages.empty() ? Part::kSuffix : Part::kHead;
      break;
    case Part::kHead:
      said_ = LiveTextOf(message_);
      part_ = Part::kContent;
      break;
    case Part::kContent:
      part_ = Part::kTail;
      break;
    case Part::kTail:
      part_ = ++message_ < prompt_->messages.size() ? Part::kHead : Part::kSuffix;
      break;
    case Part::kSuffix:
    case Part::kEnd:
      part_ = Part::kEnd;
      break;
  }
}

}  // namespace plimsoll
