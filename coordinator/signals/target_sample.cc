#include "coordinator/signals/target_sample.h"

#include <utility>

#include "common/base/check.h"

namespace plimsoll {

TargetReader::TargetReader(std::shared_ptr<const Mapping> mapping, SourceFilter filter)
    : mapping_(std::move(mapping)), filter_(std::move(filter)) {
  PLIMSOLL_CHECK(mapping_ != nullptr);
}

TargetSample TargetReader::Read(const Page& page, MonoTime at, Duration uncertainty,
                                std::optional<double> started) {
  if (layout_ != page.layout) {
    selection_ =
        std::make_shared<const Selection>(*mapping_, filter_, *page.layout, selection_.get());
    layout_ = page.layout;
  }
  TargetSample sample{.at = at, .uncertainty = uncertainty};
  sample.selection = selection_;
  sample.values = selection_->Values(page);
  sample.start_time = page.Single(mapping_->start_time);
  if (!sample.start_time.has_value()) sample.start_time = started;
  return sample;
}

TargetSample TargetReader::Unreadable(Status status, MonoTime at, Duration uncertainty) {
  PLIMSOLL_CHECK(!status.ok());
  return TargetSample{.at = at, .uncertainty = uncertainty, .status = std::move(status)};
}

}  // namespace plimsoll
