#include "coordinator/judge/crossing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace plimsoll {
namespace {

// What is lost to the arithmetic must not cost a session.
constexpr double kRounding = 1e-9;

double WeightOf(const SharePoint& point) {
  return std::isfinite(point.weight) && point.weight > 0 ? point.weight : 1;
}

// Finite points, one for each number of sessions, ascending.
std::vector<SharePoint> Ordered(std::vector<SharePoint> points) {
  std::erase_if(points, [](const SharePoint& point) {
    return !std::isfinite(point.sessions) || !std::isfinite(point.share);
  });
  std::stable_sort(points.begin(), points.end(), [](const SharePoint& a, const SharePoint& b) {
    return a.sessions < b.sessions;
  });
  std::vector<SharePoint> ordered;
  for (SharePoint point : points) {
    point.weight = WeightOf(point);
    if (ordered.empty() || ordered.back().sessions != point.sessions) {
      ordered.push_back(point);
      continue;
    }
    SharePoint& same = ordered.back();
    const double weight = same.weight + point.weight;
    same.share += (point.share - same.share) * (point.weight / weight);
    same.weight = weight;
  }
  return ordered;
}

// Steps pooled to one share.
struct Pool {
  double share = 0;
  double weight = 0;
  std::size_t points = 0;
};

bool Violates(const Pool& before, const Pool& after, Trend trend) {
  return trend == Trend::kFalls ? after.share > before.share : after.share < before.share;
}

}  // namespace

std::uint32_t CapacityEnd::whole() const {
  constexpr double kMost = std::numeric_limits<std::uint32_t>::max();
  const double down = std::floor(sessions + kRounding);
  return static_cast<std::uint32_t>(down > 0 ? std::min(down, kMost) : 0);
}

bool Less(const CapacityEnd& a, const CapacityEnd& b) {
  return std::pair(a.kind, a.sessions) < std::pair(b.kind, b.sessions);
}

std::vector<SharePoint> MonotoneFit(std::vector<SharePoint> points, Trend trend) {
  std::vector<SharePoint> fit = Ordered(std::move(points));
  std::vector<Pool> pools;
  for (const SharePoint& point : fit) {
    pools.push_back({.share = point.share, .weight = point.weight, .points = 1});
    while (pools.size() > 1 && Violates(pools[pools.size() - 2], pools.back(), trend)) {
      const Pool after = pools.back();
      pools.pop_back();
      Pool& pool = pools.back();
      const double weight = pool.weight + after.weight;
      pool.share += (after.share - pool.share) * (after.weight / weight);
      pool.weight = weight;
      pool.points += after.points;
    }
  }
  std::size_t at = 0;
  for (const Pool& pool : pools) {
    for (std::size_t i = 0; i < pool.points; ++i) fit[at++].share = pool.share;
  }
  return fit;
}

std::optional<CapacityEnd> LocateCrossing(const std::vector<SharePoint>& points, double p0,
                                          Trend trend) {
  const std::vector<SharePoint> fit = MonotoneFit(points, trend);
  if (fit.empty() || !std::isfinite(p0)) return std::nullopt;
  // How far on the good side.
  const auto room = [&](const SharePoint& point) {
    return trend == Trend::kFalls ? point.share - p0 : p0 - point.share;
  };
  const auto bad = std::find_if(fit.begin(), fit.end(),
                                [&](const SharePoint& point) { return !(room(point) >= 0); });
  if (bad == fit.begin()) {
    return CapacityEnd{.kind = CapacityEnd::Kind::kBelow, .sessions = fit.front().sessions};
  }
  if (bad == fit.end()) {
    return CapacityEnd{.kind = CapacityEnd::Kind::kAtLeast, .sessions = fit.back().sessions};
  }
  const auto good = bad - 1;
  const double part = room(*good) / (room(*good) - room(*bad));
  const double at = good->sessions + (bad->sessions - good->sessions) * part;
  return CapacityEnd{.sessions =
                         std::max(good->sessions, std::min(at, bad->sessions - kJustUnder))};
}

std::optional<double> CrossingOf(const std::vector<SharePoint>& points, double p0, Trend trend) {
  const std::optional<CapacityEnd> end = LocateCrossing(points, p0, trend);
  if (!end || end->open()) return std::nullopt;
  return end->sessions;
}

}  // namespace plimsoll
