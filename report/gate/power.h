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
// No set of items has more, fixed or grown.
inline constexpr int64_t kMaxItems = 1'000'000;

struct Power {
  // Probability that a candidate equal to the reference passes, on as many
  // items (or within the budget: a lower bound), at the discordance that was
  // seen. Nothing: hardly any scores differ, or there is one unit only, and
  // they do not tell; or the budget is above stats::kMaxSequentialItems.
  std::optional<double> equal_passes;
  // Items, or the budget, for kWantedPower. Nothing: as above, or more than
  // kMaxNeededItems (with a budget stats::kMaxSequentialItems).
  std::optional<int64_t> needed_items;
  // Why there is no probability, for people, and of a fixed set that is too
  // small for that, with how many items a candidate passes that answers all of
  // them as the reference does; empty where there is one.
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
// for a gate without any power, which not even a candidate that answers every
// item as its reference does would pass:
// - of a set that grows, within its budget ("comparisons[1].budget");
// - of a fixed set whose scores have bounds, if it had kMaxItems ("margin",
//   "anchor_margin"). A candidate that is worse on a share p of all items
//   answers n of them as its reference with probability (1 - p)^n. So at
//   one-sided level alpha no test whatever may pass it by n equal answers
//   unless the margin is 1 - alpha^(1/n) of score_range at least: 3.7e-6 of
//   shares at level 0.95.
// A fixed set that is smaller is let through, since one with more items would
// do: it ends inconclusive, or fails. So are fixed sets of scores without
// bounds, such as log-likelihoods, which differ on every item, and by so little
// that a margin as small may be shown.
absl::Status CheckPlan(const Options& options,
                       const std::vector<Comparison>& planned);

}  // namespace ordo::report::gate

#endif  // ORDO_REPORT_GATE_POWER_H_
