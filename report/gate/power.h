#ifndef ORDO_REPORT_GATE_POWER_H_
#define ORDO_REPORT_GATE_POWER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "report/gate/decision.h"

// Whether a gate had, or can have, enough items to let an equal candidate
// through. Pure functions, thread-safe.

namespace ordo::report::gate {

// What "enough" means where a number of items is named.
inline constexpr double kWantedPower = 0.8;
// More are not counted: the answer would be that no set has so many.
inline constexpr int64_t kMaxNeededItems = 10'000'000;

struct Power {
  // Probability that a candidate equal to the reference passes, on as many
  // items (or within the budget: a lower bound), at the discordance that was
  // seen. Nothing: hardly any scores differ, or there is one unit only, and
  // they do not tell; or the budget is above stats::kMaxSequentialItems.
  std::optional<double> equal_passes;
  // Items, or the budget, for kWantedPower. Nothing: as above, or more than
  // kMaxNeededItems (with a budget stats::kMaxSequentialItems).
  std::optional<int64_t> needed_items;
  // Why there is no probability, for people; empty where there is one.
  std::string why_not = {};
};

// Takes up to seconds where many items are needed. Exact for right and wrong
// answers of independent items, otherwise by the standard error that was seen.
Power StatePower(const Result& result);

// That all comparisons pass together, at least: one less the sum of what each
// lacks, whatever they have to do with each other. Nothing where one is
// nothing.
std::optional<double> JointPower(const std::vector<Power>& powers);

// Checks a gate before anything is evaluated for it; the items of `planned` are
// not looked at.
//
// INVALID_ARGUMENT, with all fields, for options that Decide would refuse, and
// for a budget with which not even a candidate that answers every item as its
// reference does would pass: such a gate has no power at any discordance
// ("comparisons[1].budget"). Fixed sets are let through however small, since
// nobody can add to them: they end inconclusive, or fail.
absl::Status CheckPlan(const Options& options,
                       const std::vector<Comparison>& planned);

}  // namespace ordo::report::gate

#endif  // ORDO_REPORT_GATE_POWER_H_
