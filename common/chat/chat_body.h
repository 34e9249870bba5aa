// The body of a chat-completions request, generated while it is uploaded: the prompt's text never
// lies in memory, whatever its length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "common/chat/call_transport.h"
#include "common/chat/prompt_text.h"
#include "common/http/transport.h"

namespace plimsoll {

struct ChatBodyOptions {
  std::string_view model;
  std::uint32_t max_tokens = 1;
  bool min_tokens = false;  // min_tokens = max_tokens: only where it is accepted, as is the next.
  bool ignore_eos = false;
  bool tools = false;  // Offers one small tool, so that answers may call it.
  // Further fields of the request's object as JSON text without braces, '"top_k": 1, "seed": 2';
  // checked by whoever read them. Empty: none.
  std::string_view extra_fields;
  // Messages that say something else than the prompt's text; ascending, and outlives the body.
  std::span<const LiveMessage> live;
};

// The tools that requests with ChatBodyOptions::tools offer: a list of the API's, as JSON.
std::string_view OfferedTools();

class ChatBody final : public BodySource {
 public:
  ChatBody(const Prompt& prompt, const ChatBodyOptions& options);  // `prompt` outlives it.

  std::uint64_t size() const override { return size_; }
  std::size_t Read(char* to, std::size_t capacity) override;

 private:
  enum class Part : std::uint8_t { kPrefix, kHead, kContent, kTail, kSuffix, kEnd };

  std::uint64_t PartSize() const;
  void CopyPart(std::uint64_t at, char* to, std::size_t count);
  void NextPart();
  std::string_view Head() const;
  // What the message says in place of the prompt's text; null: that text. Asked in order, it moves
  // live_next_ on.
  const LiveMessage* LiveTextOf(std::size_t message);

  const Prompt* prompt_;
  PromptReader reader_;
  std::string prefix_;
  std::string suffix_;
  std::uint64_t size_ = 0;
  Part part_ = Part::kPrefix;
  std::span<const LiveMessage> live_;
  std::size_t live_next_ = 0;
  const LiveMessage* said_ = nullptr;  // Of message_, while its content is read.
  std::size_t message_ = 0;
  std::uint64_t at_ = 0;  // Bytes of the part that were read.
};

}  // namespace plimsoll
