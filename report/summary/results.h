#ifndef ORDO_REPORT_SUMMARY_RESULTS_H_
#define ORDO_REPORT_SUMMARY_RESULTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/ordo/training/v1/spec.pb.h"
#include "report/metrics.h"

// What the parts of a sweep, comparison or pipeline scored. Pure functions,
// thread-safe.

namespace ordo::report::summary {

// A score that some of the parts have.
struct MetricKey {
  // Name of the evaluation, and of the score.
  std::string evaluation;
  std::string metric;
};

bool operator==(const MetricKey& a, const MetricKey& b);
// By evaluation, and by score as StandsBefore.
bool operator<(const MetricKey& a, const MetricKey& b);

// "addition_grid: grid_mean".
std::string Title(const MetricKey& key);

// How far another draw of the questions may move a score.
struct Spread {
  double standard_error = 0;
  // Of a score that is a mean of what is worth 0 to 1.
  std::optional<SampleSize> sampled = {};
};

// A score, and the step of the model that has it.
struct Scored {
  double value = 0;
  int64_t step = 0;
  // Where it is known.
  std::optional<Spread> spread = {};
};

// By PartResult.Report.path and score, as the results tell them.
using Spreads = std::map<std::string, std::map<std::string, Spread>>;

// Those of one result.json. Errors of ParseStandardErrors and ParseSampled.
absl::StatusOr<std::map<std::string, Spread>> ParseSpreads(
    std::string_view json);

// Every score of every part at the part's last step.
struct Results {
  // Sorted.
  std::vector<MetricKey> metrics;
  // [metric][part]; nothing where a part has none.
  std::vector<std::vector<std::optional<Scored>>> scores;
};

// A report whose scores count, and what its evaluation is called.
struct CountedReport {
  std::string evaluation;
  const ordo::training::v1::PartResult::Report* report = nullptr;
};

// That of a score of the report; nothing where it is not known.
std::optional<Spread> SpreadOf(
    const ordo::training::v1::PartResult::Report& report,
    const std::string& metric, const Spreads& spreads);

// Of several reports of one evaluation in a part, that of the largest step
// counts; of those of one step, which a part that evaluates several checkpoints
// has, each is an evaluation of its own, told apart by the checkpoint. They
// point into `part`.
std::vector<CountedReport> CountedReports(
    const ordo::training::v1::PartResult& part);

// Of the reports that count.
Results Tabulate(const ordo::training::v1::SummarizeSpec& spec,
                 const Spreads& spreads = {});

// Whether it is what a gate decided, whose metrics are no scores of a model but
// for the differences.
bool IsVerdict(const ordo::training::v1::PartResult::Report& report);

// Whether the metric of a report says what was scored: of a verdict neither
// `passed` nor another that VerdictOf has in words.
bool IsScore(const ordo::training::v1::PartResult::Report& report,
             const std::string& metric);

// What the gate decided, as it says it itself: "fail.", "inconclusive, which
// counts as pass here (on_inconclusive)."; empty: the part is no gate, or none
// that decided.
std::string VerdictOf(const ordo::training::v1::PartResult& part);

// Whether the part is what an experiment is about: no trial, and nothing that
// measures the pace of others.
bool IsRun(const ordo::training::v1::PartResult& part);

// Whether the part ended with all of its work done.
bool HasSucceeded(const ordo::training::v1::PartResult& part);

// Whether it ended before, because its siblings were ahead.
bool WasStoppedEarly(const ordo::training::v1::PartResult& part);

// Whether nothing is missing of what it was to show: it succeeded, was stopped
// early, or is a trial that showed that it diverges.
bool EndedAsMeant(const ordo::training::v1::PartResult& part);

}  // namespace ordo::report::summary

#endif  // ORDO_REPORT_SUMMARY_RESULTS_H_
