#include "coordinator/store/suspicion_codec.h"

#include "plimsoll/v1/results.pb.h"

namespace plimsoll {

void WriteSuspicions(const std::vector<Suspicion>& suspicions, v1::StoredStep* out) {
  for (const Suspicion& suspicion : suspicions) {
    v1::StoredSuspicion* stored = out->add_suspicions();
    stored->set_check(static_cast<v1::StoredSuspicionCheck>(suspicion.check));
    stored->set_text(suspicion.text);
  }
}

StatusOr<std::vector<Suspicion>> ReadSuspicions(const v1::StoredStep& in) {
  std::vector<Suspicion> suspicions;
  for (const v1::StoredSuspicion& stored : in.suspicions()) {
    const int check = stored.check();
    if (check < 1 || check > kSuspicionChecks) {
      return absl::DataLossError("a stored suspicion is damaged");
    }
    suspicions.push_back({static_cast<SuspicionCheck>(check), stored.text()});
  }
  return suspicions;
}

}  // namespace plimsoll
