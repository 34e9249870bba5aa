#include "coordinator/store/keys.h"

#include <algorithm>

namespace plimsoll::keys {
namespace {

constexpr char kSchemaKind = 'V';
constexpr char kRunKind = 'R';
constexpr char kRecipeKind = 'P';
constexpr char kStartKind = 'S';
constexpr char kStepKind = 'T';
constexpr char kCellKind = 'C';
constexpr char kBatchKind = 'B';
constexpr char kEventKind = 'E';
constexpr char kHookKind = 'H';
constexpr char kPageTargetKind = 'N';
constexpr char kPagesKind = 'M';

template <typename T>
void Append(std::string& key, T number) {
  for (int shift = static_cast<int>(sizeof(T)) * 8 - 8; shift >= 0; shift -= 8) {
    key.push_back(static_cast<char>((number >> shift) & 0xff));
  }
}

std::string Prefix(char kind, std::string_view run) {
  std::string key(1, kind);
  key.append(run);
  key.push_back('\0');
  return key;
}

// Takes a key apart from the front; once something is missing, everything is.
class Cursor {
 public:
  Cursor(std::string_view key, char kind) : rest_(key) {
    good_ = !rest_.empty() && rest_.front() == kind;
    if (good_) rest_.remove_prefix(1);
  }
  template <typename T>
  T Number() {
    if (!good_ || rest_.size() < sizeof(T)) {
      good_ = false;
      return 0;
    }
    T number = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      number = static_cast<T>((number << 8) | static_cast<unsigned char>(rest_[i]));
    }
    rest_.remove_prefix(sizeof(T));
    return number;
  }
  std::string Run() {
    const std::size_t end = good_ ? rest_.find('\0') : std::string_view::npos;
    if (end == std::string_view::npos || !IsRunId(rest_.substr(0, end))) {
      good_ = false;
      return {};
    }
    std::string run(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return run;
  }
  bool AtEnd() const { return good_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool good_ = false;
};

}  // namespace

bool IsRunId(std::string_view id) {
  if (id.empty() || id.size() > kRunIdBytesMax) return false;
  return std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

std::string Schema() {
  return std::string(1, kSchemaKind);
}

std::string Header(std::string_view run) {
  return Prefix(kRunKind, run);
}

std::string Recipe(std::string_view run) {
  return Prefix(kRecipeKind, run);
}

std::string Encode(const StartKey& key) {
  std::string bytes(1, kStartKind);
  Append(bytes, key.started_wall_ns);
  bytes.append(key.run);
  bytes.push_back('\0');
  return bytes;
}

std::string Encode(const StepKey& key) {
  std::string bytes = Prefix(kStepKind, key.run);
  Append(bytes, key.step);
  return bytes;
}

std::string Encode(const CellKey& key) {
  std::string bytes = Prefix(kCellKind, key.run);
  Append(bytes, key.step);
  Append(bytes, key.block);
  Append(bytes, key.lane);
  Append(bytes, key.half);
  return bytes;
}

std::string Encode(const BatchKey& key) {
  std::string bytes = Prefix(kBatchKind, key.run);
  Append(bytes, key.agent_slot);
  Append(bytes, key.incarnation);
  Append(bytes, key.sequence);
  return bytes;
}

std::string Encode(const EventKey& key) {
  std::string bytes = Prefix(kEventKind, key.run);
  Append(bytes, key.wall_ns);
  Append(bytes, key.ordinal);
  return bytes;
}

std::string Encode(const HookKey& key) {
  std::string bytes = Prefix(kHookKind, key.run);
  Append(bytes, key.phase);
  Append(bytes, key.attempt);
  return bytes;
}

std::string Encode(const PageTargetKey& key) {
  std::string bytes = Prefix(kPageTargetKind, key.run);
  Append(bytes, key.target);
  return bytes;
}

std::string Encode(const PagesKey& key) {
  std::string bytes = Prefix(kPagesKind, key.run);
  Append(bytes, key.target);
  Append(bytes, key.bundle);
  return bytes;
}

std::optional<std::string> DecodeRun(std::string_view key) {
  Cursor cursor(key, kRunKind);
  std::string run = cursor.Run();
  if (!cursor.AtEnd()) return std::nullopt;
  return run;
}

std::optional<StartKey> DecodeStart(std::string_view key) {
  Cursor cursor(key, kStartKind);
  StartKey result;
  result.started_wall_ns = cursor.Number<std::uint64_t>();
  result.run = cursor.Run();
  if (!cursor.AtEnd()) return std::nullopt;
  return result;
}

std::optional<StepKey> DecodeStep(std::string_view key) {
  Cursor cursor(key, kStepKind);
  StepKey result;
  result.run = cursor.Run();
  result.step = cursor.Number<std::uint32_t>();
  if (!cursor.AtEnd()) return std::nullopt;
  return result;
}

std::optional<CellKey> DecodeCell(std::string_view key) {
  Cursor cursor(key, kCellKind);
  CellKey result;
  result.run = cursor.Run();
  result.step = cursor.Number<std::uint32_t>();
  result.block = cursor.Number<std::uint32_t>();
  result.lane = cursor.Number<std::uint32_t>();
  // Earlier versions kept a block whole.
  if (cursor.AtEnd()) return result;
  result.half = cursor.Number<std::uint8_t>();
  if (!cursor.AtEnd()) return std::nullopt;
  return result;
}

std::optional<BatchKey> DecodeBatch(std::string_view key) {
  Cursor cursor(key, kBatchKind);
  BatchKey result;
  result.run = cursor.Run();
  result.agent_slot = cursor.Number<std::uint32_t>();
  result.incarnation = cursor.Number<std::uint64_t>();
  result.sequence = cursor.Number<std::uint64_t>();
  if (!cursor.AtEnd()) return std::nullopt;
  return result;
}

std::optional<EventKey> DecodeEvent(std::string_view key) {
  Cursor cursor(key, kEventKind);
  EventKey result;
  result.run = cursor.Run();
  result.wall_ns = cursor.Number<std::uint64_t>();
  result.ordinal = cursor.Number<std::uint32_t>();
  if (!cursor.AtEnd()) return std::nullopt;
  return result;
}

std::optional<HookKey> DecodeHook(std::string_view key) {
  Cursor cursor(key, kHookKind);
  HookKey decoded;
  decoded.run = cursor.Run();
  decoded.phase = cursor.Number<std::uint8_t>();
  decoded.attempt = cursor.Number<std::uint32_t>();
  if (!cursor.AtEnd()) return std::nullopt;
  return decoded;
}

std::optional<PageTargetKey> DecodePageTarget(std::string_view key) {
  Cursor cursor(key, kPageTargetKind);
  PageTargetKey result;
  result.run = cursor.Run();
  result.target = cursor.Number<std::uint32_t>();
  if (!cursor.AtEnd()) return std::nullopt;
  return result;
}

std::optional<PagesKey> DecodePages(std::string_view key) {
  Cursor cursor(key, kPagesKind);
  PagesKey result;
  result.run = cursor.Run();
  result.target = cursor.Number<std::uint32_t>();
  result.bundle = cursor.Number<std::uint64_t>();
  if (!cursor.AtEnd()) return std::nullopt;
  return result;
}

std::string Runs(std::string_view id_start) {
  return std::string(1, kRunKind).append(id_start);
}
std::string Starts() {
  return std::string(1, kStartKind);
}
std::string StepsOf(std::string_view run) {
  return Prefix(kStepKind, run);
}
std::string CellsOf(std::string_view run) {
  return Prefix(kCellKind, run);
}
std::string BatchesOf(std::string_view run) {
  return Prefix(kBatchKind, run);
}
std::string EventsOf(std::string_view run) {
  return Prefix(kEventKind, run);
}

std::string HooksOf(std::string_view run) {
  return Prefix(kHookKind, run);
}

std::string PageTargetsOf(std::string_view run) {
  return Prefix(kPageTargetKind, run);
}
std::string PagesOf(std::string_view run) {
  return Prefix(kPagesKind, run);
}

}  // namespace plimsoll::keys
