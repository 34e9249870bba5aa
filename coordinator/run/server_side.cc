#include "coordinator/run/server_side.h"

#include <algorithm>
#include <utility>

namespace plimsoll {
namespace {

// A page takes a round trip; a target that does not answer is not worth the lanes' time.
constexpr Duration kPagesLimit = 3s;
constexpr Duration kPollEvery = 20ms;
// Two reads of the drain check are that far apart, so that a gauge can have been written again.
constexpr Duration kDrainReads = 1s;

// The pages that show servers without our calls: those after `quiet`, but the first of them, which
// a server may have written before; where there are too few, whatever there is.
void KeepQuiet(TargetSeries& target, MonoTime quiet) {
  std::vector<TargetSample> after;
  for (const TargetSample& sample : target.samples) {
    if (sample.readable() && sample.at >= quiet) after.push_back(sample);
  }
  if (after.size() > 1) after.erase(after.begin());
  if (!after.empty()) target.samples = std::move(after);
}

}  // namespace

ServerSide::ServerSide(Scheduler& scheduler, SignalFeed* feed, ServerRules rules)
    : scheduler_(scheduler), feed_(feed), rules_(rules), made_(scheduler.Now()) {}

void ServerSide::BeforeLoad() {
  quiet_from_ = scheduler_.Now();
  if (feed_ != nullptr) feed_->AskNow();
}

void ServerSide::QuietBeforeLoad(std::function<void()> done) {
  BeforeLoad();
  // The page that was asked for now may have been written before; the next one is.
  timer_ = scheduler_.After(
      kDrainReads, [this, done = std::move(done)]() mutable { WhenAsked(std::move(done)); });
}

void ServerSide::LoadBegins() {
  if (feed_ == nullptr || before_) return;
  const MonoTime now = scheduler_.Now();
  before_ = feed_->Between(made_, now);
  for (TargetSeries& target : before_->targets) {
    std::erase_if(target.samples, [now](const TargetSample& s) { return s.at > now; });
    KeepQuiet(target, quiet_from_.value_or(made_));
  }
}

void ServerSide::WhenAsked(std::function<void()> done) {
  const MonoTime now = scheduler_.Now();
  feed_->AskNow();
  Poll(now, now + kPagesLimit, std::move(done));
}

void ServerSide::Poll(MonoTime asked, MonoTime until, std::function<void()> done) {
  timer_ = scheduler_.After(kPollEvery, [this, asked, until, done = std::move(done)]() mutable {
    if (!feed_->AskedSince(asked) && scheduler_.Now() < until) {
      return Poll(asked, until, std::move(done));
    }
    // This timer is what runs: whoever is told may set another.
    const std::function<void()> told = std::move(done);
    told();
  });
}

ServerJudgement ServerSide::Judge(MonoTime start, const StepPlan& plan, bool extends,
                                  MonoTime ended, const StepVerdict& client,
                                  const ClientLoad& load) {
  if (!extends) spans_.clear();
  const MonoTime from = start + plan.warm_up;
  spans_.push_back({.from = from,
                    .to = from + plan.measure,
                    .ended = std::max(ended, from + plan.measure),
                    .block = plan.block});
  const MonoTime now = scheduler_.Now();
  // Half a block before the first edge a page still counts for it.
  const SignalHistory history =
      feed_->Between(std::min(start, spans_.front().from - plan.block), now);
  return JudgeServer({.mode = rules_.mode,
                      .history = history,
                      .spans = spans_,
                      .begin = start,
                      .end = now,
                      .kv_full = rules_.kv_full},
                     client, load);
}

void ServerSide::AwaitBack(std::function<void()> back) {
  load_ended_ = scheduler_.Now();
  feed_->AskNow();
  LookIfBack(std::move(back));
}

void ServerSide::LookIfBack(std::function<void()> back) {
  timer_ = scheduler_.After(kDrainReads, [this, back = std::move(back)]() mutable {
    const MonoTime now = scheduler_.Now();
    drain_ = CheckDrain(before_.value_or(SignalHistory{}), feed_->Between(load_ended_, now),
                        load_ended_, now, rules_.drain);
    if (drain_->state == DrainState::kBack) {
      const std::function<void()> told = std::move(back);
      return told();
    }
    feed_->AskNow();
    LookIfBack(std::move(back));
  });
}

}  // namespace plimsoll
