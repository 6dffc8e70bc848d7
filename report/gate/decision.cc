#include "report/gate/decision.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "report/stats/power.h"
#include "report/stats/sequential.h"

namespace ordo::report::gate {
namespace {

using stats::Verdict;

std::string PathOf(size_t index) {
  return absl::StrCat("comparisons[", index, "]");
}

// The status with `path` before its fields, its code and reason kept.
absl::Status Below(const std::string& path, const absl::Status& status) {
  std::vector<base::FieldViolation> violations = base::FieldViolations(status);
  if (violations.empty()) {
    absl::Status with_path(status.code(),
                           absl::StrCat(path, ": ", status.message()));
    if (const auto info = base::GetErrorInfo(status)) {
      with_path = base::WithErrorInfo(with_path, *info);
    }
    return with_path;
  }
  for (base::FieldViolation& violation : violations) {
    violation.field = absl::StrCat(path, ".", violation.field);
  }
  return base::InvalidFields(violations);
}

absl::Status CheckItems(const std::string& path, const Comparison& comparison) {
  std::unordered_set<std::string_view> ids;
  for (size_t i = 0; i < comparison.items.size(); ++i) {
    const Item& item = comparison.items[i];
    if (ids.insert(item.id).second) continue;
    return base::InvalidField(
        absl::StrCat(path, ".items[", i, "].id"),
        absl::StrCat("is ", item.id, ", as of an item before"));
  }
  if (comparison.budget < 0 || comparison.budget > stats::kMaxPlannedItems) {
    return base::InvalidField(
        absl::StrCat(path, ".budget"),
        absl::StrCat("is ", comparison.budget, ": give up to ",
                     stats::kMaxPlannedItems, ", or 0 for a fixed set"));
  }
  if (comparison.budget > 0 &&
      comparison.budget < static_cast<int64_t>(comparison.items.size())) {
    return base::InvalidField(
        absl::StrCat(path, ".budget"),
        absl::StrCat("is ", comparison.budget, ", and there are ",
                     comparison.items.size(), " items"));
  }
  const int64_t of_sample = comparison.items_per_sample;
  if (comparison.budget > 0 &&
      (of_sample < 1 || comparison.budget % of_sample != 0 ||
       static_cast<int64_t>(comparison.items.size()) % of_sample != 0)) {
    return base::InvalidField(
        absl::StrCat(path, ".items_per_sample"),
        absl::StrCat("is ", of_sample, ": give one of which the budget of ",
                     comparison.budget, " and the ", comparison.items.size(),
                     " items have whole samples"));
  }
  return absl::OkStatus();
}

absl::Status CheckSet(const std::vector<Comparison>& comparisons) {
  if (comparisons.empty() ||
      comparisons.size() > static_cast<size_t>(stats::kMaxGateTests)) {
    return base::InvalidField(
        "comparisons", absl::StrCat("are ", comparisons.size(), ": give 1 to ",
                                    stats::kMaxGateTests));
  }
  std::set<std::pair<Reference, std::string>> seen;
  for (size_t i = 0; i < comparisons.size(); ++i) {
    const Comparison& comparison = comparisons[i];
    if (!seen.insert({comparison.reference, comparison.task}).second) {
      return base::InvalidField(
          absl::StrCat(PathOf(i), ".task"),
          absl::StrCat("is ", comparison.task, ", which is compared with the ",
                       NameOf(comparison.reference), " already"));
    }
    ORDO_RETURN_IF_ERROR(CheckItems(PathOf(i), comparison));
  }
  for (size_t i = 0; i < comparisons.size(); ++i) {
    if (seen.count({Reference::kBaseline, comparisons[i].task}) != 0) continue;
    return base::InvalidField(
        absl::StrCat(PathOf(i), ".task"),
        absl::StrCat("is ", comparisons[i].task,
                     ", which has an anchor and no baseline; give both"));
  }
  return absl::OkStatus();
}

// Of the options, under the names that they have there.
absl::Status CheckOptions(const Options& options,
                          const std::vector<Comparison>& comparisons) {
  std::vector<base::FieldViolation> violations;
  const int num_tests = static_cast<int>(comparisons.size());
  for (size_t i = 0; i < comparisons.size(); ++i) {
    const Comparison& comparison = comparisons[i];
    const absl::Status status = stats::CheckGateOptions(OptionsOf(
        options, comparison.reference, comparison.score_range, num_tests));
    for (base::FieldViolation violation : base::FieldViolations(status)) {
      if (violation.field == "score_range") {
        violation.field = absl::StrCat(PathOf(i), ".score_range");
      } else if (violation.field == "margin" &&
                 comparison.reference == Reference::kAnchor &&
                 options.anchor_margin.has_value()) {
        violation.field = "anchor_margin";
      }
      // Of several comparisons the same is said once.
      if (std::find(violations.begin(), violations.end(), violation) ==
          violations.end()) {
        violations.push_back(violation);
      }
    }
  }
  return base::InvalidFields(violations);
}

absl::StatusOr<stats::PairedSample> SampleOf(const std::vector<Item>& items,
                                             int64_t num_items) {
  std::vector<stats::PairedItem> paired;
  paired.reserve(static_cast<size_t>(num_items));
  for (int64_t i = 0; i < num_items; ++i) {
    const Item& item = items[static_cast<size_t>(i)];
    paired.push_back({item.reference, item.candidate, item.unit});
  }
  return stats::MakePairedSample(paired);
}

std::vector<WorseItem> WorseOf(const std::vector<Item>& items,
                               int64_t num_items) {
  std::vector<const Item*> worse;
  for (int64_t i = 0; i < num_items; ++i) {
    const Item& item = items[static_cast<size_t>(i)];
    if (item.candidate < item.reference) worse.push_back(&item);
  }
  std::stable_sort(
      worse.begin(), worse.end(), [](const Item* a, const Item* b) {
        return a->reference - a->candidate > b->reference - b->candidate;
      });
  std::vector<WorseItem> listed;
  for (const Item* item : worse) {
    if (listed.size() == kMaxWorseItems) break;
    listed.push_back({item->id, item->unit == item->id ? "" : item->unit,
                      item->reference, item->candidate, "", "", ""});
  }
  return listed;
}

// What a look at the first `num_items` says.
absl::StatusOr<Result> Look(const Comparison& comparison,
                            const stats::GateOptions& options,
                            int64_t num_items) {
  ORDO_ASSIGN_OR_RETURN(const stats::PairedSample sample,
                        SampleOf(comparison.items, num_items));
  Result result;
  ORDO_ASSIGN_OR_RETURN(result.gate,
                        comparison.budget > 0
                            ? stats::DecideSequentially(sample, options)
                            : stats::DecideGate(sample, options));
  result.is_binary = sample.is_binary;
  result.num_better = sample.num_better;
  result.num_worse = sample.num_worse;
  return result;
}

absl::StatusOr<Result> DecideOne(const Comparison& comparison,
                                 const stats::GateOptions& options) {
  const auto num_items = static_cast<int64_t>(comparison.items.size());
  const auto next_look = [&comparison](int64_t seen) {
    return stats::NextLook(seen, comparison.budget,
                           comparison.items_per_sample);
  };
  Result result;
  int64_t seen = 0;
  do {
    seen = comparison.budget > 0 ? std::min(num_items, next_look(seen))
                                 : num_items;
    ORDO_ASSIGN_OR_RETURN(result, Look(comparison, options, seen));
  } while (result.gate.verdict == Verdict::kInconclusive && seen < num_items);
  result.task = comparison.task;
  result.reference = comparison.reference;
  result.options = options;
  result.budget = comparison.budget;
  result.differences = comparison.differences;
  result.notation = comparison.notation;
  result.worse = WorseOf(comparison.items, seen);
  if (result.gate.verdict == Verdict::kInconclusive &&
      seen < comparison.budget) {
    result.next_look = next_look(seen);
  }
  return result;
}

}  // namespace

absl::StatusOr<Decision> Decide(const Options& options,
                                const std::vector<Comparison>& comparisons) {
  ORDO_RETURN_IF_ERROR(CheckComparisons(options, comparisons));
  Decision decision;
  decision.options = options;
  std::vector<Verdict> verdicts;
  for (size_t i = 0; i < comparisons.size(); ++i) {
    const Comparison& comparison = comparisons[i];
    auto result =
        DecideOne(comparison, OptionsOf(options, comparison.reference,
                                        comparison.score_range,
                                        static_cast<int>(comparisons.size())));
    if (!result.ok()) return Below(PathOf(i), result.status());
    verdicts.push_back(result->gate.verdict);
    decision.results.push_back(*std::move(result));
  }
  decision.verdict = stats::DecideJointly(verdicts);
  decision.outcome = OutcomeOf(decision.verdict, options.on_inconclusive);
  if (decision.verdict == Verdict::kFail) {
    for (Result& result : decision.results) result.next_look = 0;
  }
  return decision;
}

absl::Status CheckComparisons(const Options& options,
                              const std::vector<Comparison>& comparisons) {
  ORDO_RETURN_IF_ERROR(CheckSet(comparisons));
  return CheckOptions(options, comparisons);
}

stats::GateOptions OptionsOf(const Options& options, Reference reference,
                             double score_range, int num_tests) {
  stats::GateOptions gate;
  gate.margin = reference == Reference::kAnchor
                    ? options.anchor_margin.value_or(options.margin)
                    : options.margin;
  gate.level = options.level;
  gate.fail_below = options.fail_below;
  gate.num_tests = num_tests;
  gate.score_range = score_range;
  gate.seed = options.seed;
  return gate;
}

Verdict OutcomeOf(Verdict verdict, OnInconclusive on_inconclusive) {
  if (verdict != Verdict::kInconclusive) return verdict;
  switch (on_inconclusive) {
    case OnInconclusive::kPass:
      return Verdict::kPass;
    case OnInconclusive::kFail:
      return Verdict::kFail;
    case OnInconclusive::kInconclusive:
      break;
  }
  return verdict;
}

const char* NameOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return "pass";
    case Verdict::kFail:
      return "fail";
    case Verdict::kInconclusive:
      break;
  }
  return "inconclusive";
}

const char* NameOf(Reference reference) {
  return reference == Reference::kAnchor ? "anchor" : "baseline";
}

const char* NameOf(stats::FailBelow fail_below) {
  return fail_below == stats::FailBelow::kMargin ? "margin" : "zero";
}

const char* NameOf(OnInconclusive on_inconclusive) {
  return NameOf(OutcomeOf(Verdict::kInconclusive, on_inconclusive));
}

}  // namespace ordo::report::gate
