#include "coordinator/killswitch/kill_switch_watch.h"

#include <utility>

namespace plimsoll {
namespace {

constexpr Duration kLookEvery = 250ms;

}  // namespace

KillSwitchWatch::KillSwitchWatch(Deps deps, KillSwitchSpec spec)
    : deps_(std::move(deps)),
      rules_(std::move(spec), deps_.scheduler.Now()),
      looked_(deps_.scheduler.Now()) {
  timer_ = deps_.scheduler.After(kLookEvery, [this] { Look(); });
}

void KillSwitchWatch::Look() {
  const MonoTime now = deps_.scheduler.Now();
  // Since the look before at the earliest: what came then is not of the time before the load.
  if (deps_.load_began()) rules_.LoadBegins(looked_);
  looked_ = now;
  const KillSwitch::News news = rules_.OnPages(deps_.feed.Between(rules_.wanted_from(), now), now);
  for (const std::string& line : news.said) deps_.say(line);
  if (news.reason) return deps_.tripped(*news.reason);
  timer_ = deps_.scheduler.After(kLookEvery, [this] { Look(); });
}

}  // namespace plimsoll
