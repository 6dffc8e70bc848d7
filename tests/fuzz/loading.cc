#include "tests/fuzz/loading.h"

#include "absl/time/time.h"
#include "base/check.h"
#include "scheduler/core/invariants.h"
#include "scheduler/policy/table.h"

namespace ordo::tests::fuzz {

namespace core = scheduler::core;

void CheckLoads(const core::Records& records) {
  core::Options options;
  options.place =
      scheduler::policy::FindPolicy(scheduler::policy::kDefaultPolicy)->place;
  const core::Moment now{absl::FromUnixSeconds(1'700'000'000),
                         absl::Seconds(1)};
  const auto state = core::Load(options, records, now);
  if (!state.ok()) {
    ORDO_CHECK(absl::IsDataLoss(state.status())) << state.status();
    return;
  }
  const absl::Status holds = core::CheckInvariants(*state);
  ORDO_CHECK(holds.ok()) << holds;
  const auto again = core::Load(options, core::DurablePart(*state), now);
  ORDO_CHECK(again.ok()) << again.status();
}

}  // namespace ordo::tests::fuzz
