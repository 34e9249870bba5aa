// Whatever a peer or a stored batch holds: reading it ends in a value or a refusal, and a value
// that was read is written and read again as the same. The first byte chooses the message.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "common/wire/message_codec.h"
#include "common/wire/record_codec.h"

namespace plimsoll {
namespace {

template <typename Value>
void SameAgain(const StatusOr<Value>& again, const Value& value) {
  if (!again.ok() || !(*again == value)) std::abort();
}

void ReadAgentMessage(std::string_view bytes) {
  const StatusOr<AgentMessage> value = DecodeAgentMessage(bytes);
  if (value.ok()) SameAgain(DecodeAgentMessage(EncodeMessage(*value)), *value);
}
void ReadCoordinatorMessage(std::string_view bytes) {
  const StatusOr<CoordinatorMessage> value = DecodeCoordinatorMessage(bytes);
  if (value.ok()) SameAgain(DecodeCoordinatorMessage(EncodeMessage(*value)), *value);
}
void ReadBatch(std::string_view bytes) {
  const StatusOr<RecordBatch> value = DecodeBatch(bytes);
  if (value.ok()) SameAgain(DecodeBatch(EncodeBatch(*value)), *value);
}

}  // namespace
}  // namespace plimsoll

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 1:
      plimsoll::ReadCoordinatorMessage(bytes);
      break;
    case 2:
      plimsoll::ReadBatch(bytes);
      break;
    default:
      plimsoll::ReadAgentMessage(bytes);
      break;
  }
  return 0;
}
