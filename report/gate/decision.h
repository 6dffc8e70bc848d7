#ifndef ORDO_REPORT_GATE_DECISION_H_
#define ORDO_REPORT_GATE_DECISION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "report/stats/gate.h"
#include "report/stats/paired.h"

// From the scores of items to the verdict of a gate: one candidate, compared
// with a baseline and perhaps an anchor on one or more tasks, decided together.
// Pure functions, thread-safe.

namespace ordo::report::gate {

// What the candidate is compared with. A baseline moves with what was accepted;
// an anchor stays, so that losses within the margin do not add up.
enum class Reference { kBaseline, kAnchor };

// What a gate that shows neither counts as.
enum class OnInconclusive { kInconclusive, kPass, kFail };

struct Options {
  // The loss that is let through, in units of the score.
  double margin = 0;
  // Against the anchor; default: margin.
  std::optional<double> anchor_margin;
  // Two-sided, 0.5..stats::kMaxGateLevel.
  double level = 0.95;
  stats::FailBelow fail_below = stats::FailBelow::kZero;
  OnInconclusive on_inconclusive = OnInconclusive::kInconclusive;
  // Of the bootstrap.
  uint64_t seed = 0;
};

// One item, scored under both; more is better.
struct Item {
  std::string id;
  // Items of one unit may depend on each other. Empty or the id: it stands
  // alone.
  std::string unit;
  double reference = 0;
  double candidate = 0;
};

// The candidate against one reference on one task. Texts, here and below, are
// well-formed UTF-8.
struct Comparison {
  std::string task;
  Reference reference = Reference::kBaseline;
  // The largest score less the smallest; infinite without bounds.
  double score_range = 1;
  // Whether every score is 0 or 1, as far as the task says before there are
  // items: Decide goes by these.
  bool is_binary = false;
  // Of a task that makes items: the most that it may come to have. 0: the set
  // is fixed, and looked at once.
  int64_t budget = 0;
  // Of a set that grows: it does so by samples of so many items, each of which
  // has one of every kind (a cell of a grid, say).
  int64_t items_per_sample = 1;
  // Of a set that grows: what was asked for, of which the budget is what whole
  // samples make. For messages; 0: as the budget.
  int64_t asked_budget = 0;
  // In the order in which the task makes them; whole samples of a set that
  // grows.
  std::vector<Item> items;
  // What else than the models may tell the answers apart, a sentence each.
  std::vector<std::string> differences;
  // What a person has to know to read prompts and outputs, a clause; empty:
  // nothing.
  std::string notation;
};

// An item that the candidate scored less on. The texts are what the caller
// knows: Decide leaves them empty.
struct WorseItem {
  std::string id;
  std::string unit;
  double reference = 0;
  double candidate = 0;
  std::string prompt;
  std::string reference_output;
  std::string candidate_output;
};

// So many are listed of one comparison; the reports of both have all.
inline constexpr size_t kMaxWorseItems = 1000;

struct Result {
  std::string task;
  Reference reference = Reference::kBaseline;
  // Of this comparison, with its margin, range and the number of all.
  stats::GateOptions options;
  stats::GateResult gate;
  bool is_binary = true;
  int64_t num_better = 0;
  int64_t num_worse = 0;
  // As in Comparison.
  int64_t budget = 0;
  // How many items to have at the next look; 0: no more are needed.
  int64_t next_look = 0;
  // The largest losses first, equal ones in the order of the items.
  std::vector<WorseItem> worse;
  std::vector<std::string> differences;
  std::string notation;
};

struct Decision {
  Options options;
  // What was shown: of all comparisons together (stats::DecideJointly).
  stats::Verdict verdict = stats::Verdict::kInconclusive;
  // What it counts as, by options.on_inconclusive.
  stats::Verdict outcome = stats::Verdict::kInconclusive;
  // In the order of the comparisons.
  std::vector<Result> results;
};

// A fixed set is decided at once (stats::DecideGate). One with a budget is
// decided by looks at its first 100, 200, 300, 450, ... items
// (stats::NextLook), each up to the end of a sample, and at all it has, and the
// first look that passes or fails is the result, whatever later items say: so
// the verdict depends on the items alone, and a gate that was interrupted, or
// whose task has more items because another comparison needed them, says the
// same. No more items are asked for once the gate has failed.
//
// INVALID_ARGUMENT with field paths ("anchor_margin",
// "comparisons[0].items[7].candidate"): options out of range, a score that is
// not finite or differs by more than score_range, no comparison or more than
// stats::kMaxGateTests, one twice, an anchor for a task without baseline, no
// item or one twice, more items than the budget, samples that are not whole.
// FAILED_PRECONDITION: items with a budget that lie in units of several.
absl::StatusOr<Decision> Decide(const Options& options,
                                const std::vector<Comparison>& comparisons);

// What Decide says of all but the scores: INVALID_ARGUMENT as there. Items may
// be missing.
absl::Status CheckComparisons(const Options& options,
                              const std::vector<Comparison>& comparisons);

// The options of one of `num_tests` comparisons.
stats::GateOptions OptionsOf(const Options& options, Reference reference,
                             double score_range, int num_tests);

// What a verdict, of one comparison or of all, counts as.
stats::Verdict OutcomeOf(stats::Verdict verdict,
                         OnInconclusive on_inconclusive);

// `pass`, `fail`, `inconclusive`; `baseline`, `anchor`.
const char* NameOf(stats::Verdict verdict);
const char* NameOf(Reference reference);
// `zero`, `margin`; `inconclusive`, `pass`, `fail`.
const char* NameOf(stats::FailBelow fail_below);
const char* NameOf(OnInconclusive on_inconclusive);

}  // namespace ordo::report::gate

#endif  // ORDO_REPORT_GATE_DECISION_H_
