#include "coordinator/scrape/signal_log.h"

#include <algorithm>
#include <array>
#include <utility>

#include "fmt/format.h"

namespace plimsoll {
namespace {

constexpr std::array<std::string_view, 3> kOrder = {kGatewaySource, kEnginesSource,
                                                    kProductionSource};
// Fewer say nothing of a step.
constexpr std::size_t kSamplesMin = 8;
// More than anybody reads.
constexpr std::size_t kNotesMax = 64;

std::size_t BytesOf(const Selection& selection) {
  std::size_t bytes = sizeof(Selection);
  for (const Selection::Entry& entry : selection.entries()) {
    bytes += sizeof(entry);
    for (const Selection::Child& child : entry.children) {
      // Its text, its edges, and for each number where on the page it is.
      bytes += sizeof(child) + child.key.size() + (child.edges.size() + 4) * 64;
    }
  }
  return bytes;
}

std::size_t BytesOf(const TargetSample& sample, const TargetSample* before) {
  std::size_t bytes = sizeof(sample) + 64 + sample.values.size() * sizeof(double);
  if (!sample.status.ok()) bytes += MessageOf(sample.status).size() + 64;
  const bool shared = before != nullptr && before->selection == sample.selection;
  if (sample.selection != nullptr && !shared) bytes += BytesOf(*sample.selection);
  return bytes;
}

}  // namespace

std::size_t SignalLog::AddTarget(std::string source, std::string name,
                                 std::shared_ptr<const Mapping> mapping) {
  const std::lock_guard lock(mutex_);
  Target target;
  target.source = std::move(source);
  target.name = std::move(name);
  target.mapping = std::move(mapping);
  targets_.push_back(std::move(target));
  return targets_.size() - 1;
}

void SignalLog::Retire(std::size_t target) {
  const std::lock_guard lock(mutex_);
  targets_[target].retired = true;
}

void SignalLog::Add(std::size_t target, TargetSample sample) {
  auto kept = std::make_shared<const TargetSample>(std::move(sample));
  const std::lock_guard lock(mutex_);
  Target& to = targets_[target];
  const TargetSample* before = to.samples.empty() ? nullptr : to.samples.back().get();
  if (before != nullptr && kept->at <= before->at) return;
  const std::size_t bytes = BytesOf(*kept, before);
  to.samples.push_back(std::move(kept));
  to.bytes.push_back(bytes);
  to.bytes_in_all += bytes;
  const std::size_t part = std::min(kTargetBytesMax, bytes_max_ / targets_.size());
  while (to.bytes_in_all > part && to.samples.size() > kSamplesMin) ThinOut(to);
}

void SignalLog::ThinOut(Target& target) const {
  const std::size_t half = target.samples.size() / 2;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < target.samples.size(); ++i) {
    if (i < half && i % 2 == 1) {
      target.bytes_in_all -= target.bytes[i];
      continue;
    }
    target.samples[kept] = std::move(target.samples[i]);
    target.bytes[kept++] = target.bytes[i];
  }
  target.samples.resize(kept);
  target.bytes.resize(kept);
}

void SignalLog::Note(std::size_t target, std::string_view text) {
  const std::lock_guard lock(mutex_);
  Target& of = targets_[target];
  if (of.note == text || notes_.size() >= kNotesMax) return;
  of.note = text;
  notes_.push_back(fmt::format("{} of {}: {}", of.name, of.source, text));
}

std::vector<std::string> SignalLog::Notes() const {
  const std::lock_guard lock(mutex_);
  return notes_;
}

std::size_t SignalLog::targets() const {
  const std::lock_guard lock(mutex_);
  return targets_.size();
}

std::size_t SignalLog::AddAsker() {
  const std::lock_guard lock(mutex_);
  askers_.emplace_back();
  return askers_.size() - 1;
}

void SignalLog::Asked(std::size_t asker, MonoTime at, bool failing) {
  const std::lock_guard lock(mutex_);
  askers_[asker] = {.asked = true, .at = at, .failing = failing};
}

bool SignalLog::AskedSince(MonoTime at) const {
  const std::lock_guard lock(mutex_);
  return std::all_of(askers_.begin(), askers_.end(), [at](const Asker& asker) {
    return asker.asked && (asker.failing || asker.at >= at);
  });
}

std::size_t SignalLog::bytes() const {
  const std::lock_guard lock(mutex_);
  std::size_t bytes = 0;
  for (const Target& target : targets_) bytes += target.bytes_in_all;
  return bytes;
}

SignalHistory SignalLog::Between(MonoTime from, MonoTime to) const {
  SignalHistory history;
  std::vector<std::vector<SamplePointer>> found;
  const auto take = [&](const Target& target) {
    const auto later = [](MonoTime at, const SamplePointer& sample) { return at < sample->at; };
    const auto earlier = [](const SamplePointer& sample, MonoTime at) { return sample->at < at; };
    auto begin = std::upper_bound(target.samples.begin(), target.samples.end(), from, later);
    if (begin != target.samples.begin()) --begin;  // The last one at or before `from`.
    auto end = std::lower_bound(begin, target.samples.end(), to, earlier);
    if (end != target.samples.end()) ++end;  // The first one at or after `to`.
    history.targets.push_back({target.source, target.name, {}, target.mapping});
    found.emplace_back(begin, end);
  };
  {
    const std::lock_guard lock(mutex_);
    for (const std::string_view source : kOrder) {
      for (const Target& target : targets_) {
        if (target.source == source && !target.retired) take(target);
      }
    }
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    history.targets[i].samples.reserve(found[i].size());
    for (const SamplePointer& sample : found[i]) history.targets[i].samples.push_back(*sample);
  }
  return history;
}

}  // namespace plimsoll
