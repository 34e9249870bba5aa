#include "agent/host/host_readings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

namespace plimsoll {
namespace {

constexpr std::string_view kBlanks = " \t\n";

// Takes the next word off `text`; empty: there is none.
std::string_view TakeWord(std::string_view& text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return text = {};
  text.remove_prefix(begin);
  const std::string_view word = text.substr(0, text.find_first_of(kBlanks));
  text.remove_prefix(word.size());
  return word;
}

std::string_view TakeLine(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  return line;
}

// The whole word, in [0, 2^63).
std::optional<std::uint64_t> Number(std::string_view word) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return std::nullopt;
  }
  return value;
}

// The number after `key` in the words of a line or file.
std::optional<std::uint64_t> NumberAfter(std::string_view text, std::string_view key) {
  for (std::string_view word = TakeWord(text); !word.empty(); word = TakeWord(text)) {
    if (word == key) return Number(TakeWord(text));
  }
  return std::nullopt;
}

// The line that begins with `key`, without it.
std::optional<std::string_view> LineOf(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = TakeLine(text);
    if (line.starts_with(key)) return line.substr(key.size());
  }
  return std::nullopt;
}

bool HasController(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    const std::string_view item = list.substr(0, list.find(','));
    if (item == name) return true;
    list.remove_prefix(std::min(list.size(), item.size() + 1));
  }
  return false;
}

// `mount`/a/b, `mount`/a, `mount`. A path that leads outside of what this process sees ("/../x")
// leaves the mount alone.
void AddWithParents(const std::string& mount, std::string_view path,
                    std::vector<std::string>& folders) {
  if (path.find("..") != std::string_view::npos) path = {};
  while (path.size() > 1) {
    folders.push_back(mount + std::string(path));
    path = path.substr(0, path.rfind('/'));
  }
  folders.push_back(mount);
}

}  // namespace

std::optional<MachineTicks> ReadMachineTicks(std::string_view text) {
  std::string_view line = TakeLine(text);
  if (TakeWord(line) != "cpu") return std::nullopt;
  // user nice system idle iowait irq softirq steal; guests' time, after it, is in user's already.
  constexpr std::size_t kSteal = 7;
  MachineTicks ticks;
  for (std::size_t i = 0; i <= kSteal; ++i) {
    const std::optional<std::uint64_t> value = Number(TakeWord(line));
    if (!value) return std::nullopt;
    ticks.all += *value;  // Eight of below 2^63: what wraps is caught where two are compared.
    if (i == kSteal) ticks.stolen = *value;
  }
  return ticks;
}

std::optional<std::uint64_t> ReadTaskTicks(std::string_view text) {
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  text.remove_prefix(name_end + 1);
  constexpr int kBeforeTimes = 11;  // State, parent, … up to the fourteenth field, user time.
  for (int i = 0; i < kBeforeTimes; ++i) TakeWord(text);
  const std::optional<std::uint64_t> user = Number(TakeWord(text));
  const std::optional<std::uint64_t> system = Number(TakeWord(text));
  if (!user || !system) return std::nullopt;
  return *user + *system;
}

std::optional<std::uint64_t> ReadTcpSockets(std::string_view ipv4, std::string_view ipv6) {
  const std::optional<std::string_view> line = LineOf(ipv4, "TCP:");
  if (!line) return std::nullopt;
  const std::optional<std::uint64_t> in_use = NumberAfter(*line, "inuse");
  const std::optional<std::uint64_t> waiting = NumberAfter(*line, "tw");
  if (!in_use || !waiting) return std::nullopt;
  const std::optional<std::string_view> line6 = LineOf(ipv6, "TCP6:");
  return *in_use + *waiting + (line6 ? NumberAfter(*line6, "inuse").value_or(0) : 0);
}

std::optional<std::uint64_t> ReadPortCount(std::string_view text) {
  const std::optional<std::uint64_t> low = Number(TakeWord(text));
  const std::optional<std::uint64_t> high = Number(TakeWord(text));
  constexpr std::uint64_t kPortMax = 65'535;
  if (!low || !high || *high <= *low || *high > kPortMax) return std::nullopt;
  return *high - *low + 1;
}

std::optional<Throttling> ReadThrottling(std::string_view text) {
  const std::optional<std::uint64_t> periods = NumberAfter(text, "nr_throttled");
  if (!periods) return std::nullopt;
  if (const auto ns = NumberAfter(text, "throttled_time")) {  // Version 1.
    return Throttling{.time_ns = static_cast<std::int64_t>(*ns), .periods = *periods};
  }
  const std::optional<std::uint64_t> us = NumberAfter(text, "throttled_usec");
  constexpr std::uint64_t kUsMax = std::numeric_limits<std::int64_t>::max() / 1000;
  if (!us || *us > kUsMax) return std::nullopt;
  return Throttling{.time_ns = static_cast<std::int64_t>(*us) * 1000, .periods = *periods};
}

std::optional<CpuQuota> ReadQuota(std::string_view cpu_max) {
  const std::string_view time = TakeWord(cpu_max);
  return ReadQuota(time, TakeWord(cpu_max));
}

std::optional<CpuQuota> ReadQuota(std::string_view quota_us, std::string_view period_us) {
  const std::optional<std::uint64_t> time = Number(TakeWord(quota_us));
  const std::optional<std::uint64_t> period = Number(TakeWord(period_us));
  if (!time || !period || *time == 0 || *period == 0) return std::nullopt;
  return CpuQuota{.time_us = static_cast<std::int64_t>(*time),
                  .period_us = static_cast<std::int64_t>(*period)};
}

std::vector<std::string> CpuGroupFolders(std::string_view text) {
  std::vector<std::string> folders;
  while (!text.empty()) {
    std::string_view line = TakeLine(text);  // "4:cpu,cpuacct:/path" or "0::/path".
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string_view path = line.substr(second + 1);
    if (controllers.empty()) {
      AddWithParents("", path, folders);
    } else if (HasController(controllers, "cpu")) {
      AddWithParents("/" + std::string(controllers), path, folders);
      if (controllers != "cpu") AddWithParents("/cpu", path, folders);
    }
  }
  return folders;
}

}  // namespace plimsoll
