// The key grammar of the store. Numbers are big-endian and unsigned, so that the order of bytes is
// the order of numbers; `run` is a run id, 1 to 64 bytes of [A-Za-z0-9._-], ended by a zero byte.
//
//   schema version   'V'                                          value: decimal text
//   run              'R' run 0                                    StoredRun
//   runs by start    'S' started_wall_ns:u64 run 0                empty
//   step             'T' run 0 step:u32                           StoredStep
//   cell             'C' run 0 step:u32 block:u32 lane:u32        StoredCell
//   record batch     'B' run 0 slot:u32 incarnation:u64 seq:u64   zstd of the batch's bytes
//   event            'E' run 0 wall_ns:u64 ordinal:u32            text for people
//   hook             'H' run 0 phase:u8 attempt:u32               StoredHook
//   recipe           'P' run 0                                    StoredRecipe
//   target of pages  'N' run 0 target:u32                         StoredPageTarget
//   pages            'M' run 0 target:u32 bundle:u64              zstd of StoredPages
//
// Decoding refuses anything but the exact form.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace plimsoll::keys {

// Version of this grammar and of the stored messages. A store of another one is refused.
inline constexpr std::uint32_t kSchemaVersion = 1;
inline constexpr std::size_t kRunIdBytesMax = 64;

bool IsRunId(std::string_view id);

struct StepKey {
  std::string run;
  std::uint32_t step = 0;
  friend bool operator==(const StepKey&, const StepKey&) = default;
};
struct CellKey {
  std::string run;
  std::uint32_t step = 0;
  std::uint32_t block = 0;
  std::uint32_t lane = 0;
  std::uint8_t half = 0;
  friend bool operator==(const CellKey&, const CellKey&) = default;
};
struct BatchKey {
  std::string run;
  std::uint32_t agent_slot = 0;
  std::uint64_t incarnation = 0;
  std::uint64_t sequence = 0;
  friend bool operator==(const BatchKey&, const BatchKey&) = default;
};
struct EventKey {
  std::string run;
  std::uint64_t wall_ns = 0;
  std::uint32_t ordinal = 0;  // Of events at the same instant.
  friend bool operator==(const EventKey&, const EventKey&) = default;
};
struct HookKey {
  std::string run;
  std::uint8_t phase = 0;     // As stored: from 1.
  std::uint32_t attempt = 0;  // From 1.
  friend bool operator==(const HookKey&, const HookKey&) = default;
};
struct PageTargetKey {
  std::string run;
  std::uint32_t target = 0;
  friend bool operator==(const PageTargetKey&, const PageTargetKey&) = default;
};
struct PagesKey {
  std::string run;
  std::uint32_t target = 0;
  std::uint64_t bundle = 0;  // In the order of their pages.
  friend bool operator==(const PagesKey&, const PagesKey&) = default;
};
struct StartKey {
  std::uint64_t started_wall_ns = 0;
  std::string run;
  friend bool operator==(const StartKey&, const StartKey&) = default;
};

std::string Schema();
std::string Header(std::string_view run);
std::string Recipe(std::string_view run);
std::string Encode(const StartKey& key);
std::string Encode(const StepKey& key);
std::string Encode(const CellKey& key);
std::string Encode(const BatchKey& key);
std::string Encode(const EventKey& key);
std::string Encode(const HookKey& key);
std::string Encode(const PageTargetKey& key);
std::string Encode(const PagesKey& key);

// Nothing if `key` is not of the form.
std::optional<std::string> DecodeRun(std::string_view key);
std::optional<StartKey> DecodeStart(std::string_view key);
std::optional<StepKey> DecodeStep(std::string_view key);
std::optional<CellKey> DecodeCell(std::string_view key);
std::optional<BatchKey> DecodeBatch(std::string_view key);
std::optional<EventKey> DecodeEvent(std::string_view key);
std::optional<HookKey> DecodeHook(std::string_view key);
std::optional<PageTargetKey> DecodePageTarget(std::string_view key);
std::optional<PagesKey> DecodePages(std::string_view key);

// Prefixes for scans: every run, every run whose id starts with `id_start`, the runs by start, and
// all steps, cells, batches, events, hooks, targets of pages, pages of one run.
std::string Runs(std::string_view id_start);
std::string Starts();
std::string StepsOf(std::string_view run);
std::string CellsOf(std::string_view run);
std::string BatchesOf(std::string_view run);
std::string EventsOf(std::string_view run);
std::string HooksOf(std::string_view run);
std::string PageTargetsOf(std::string_view run);
std::string PagesOf(std::string_view run);

}  // namespace plimsoll::keys
