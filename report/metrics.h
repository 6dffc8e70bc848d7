#ifndef ORDO_REPORT_METRICS_H_
#define ORDO_REPORT_METRICS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "report/table.h"

namespace ordo::report {

// How many a mean of what is worth 0 to 1 is over: units that were drawn, and
// their items.
struct SampleSize {
  double units = 0;
  double items = 0;
};

// What one evaluation found of one model, of any task.
struct Metrics {
  // Of the model, for people, such as the job's id.
  std::string model;
  int64_t step = 0;
  std::string evaluation;
  std::string task;
  // By name; fractions of 1 unless the name says otherwise.
  std::map<std::string, double> values;
  // Of those that have one, over another draw of what was asked.
  std::map<std::string, double> standard_errors = {};
  // Of those that say it.
  std::map<std::string, SampleSize> sampled = {};
  // Of text, for people, as of Lengths; or empty.
  std::string tokenizer = {};
};

// Reads the `standard_errors` of an evaluation's result.json; none where it has
// none. INVALID_ARGUMENT names the field that is no finite number.
absl::StatusOr<std::map<std::string, double>> ParseStandardErrors(
    std::string_view json);

// Reads the `sampled` of an evaluation's result.json; none where it has none.
// INVALID_ARGUMENT names the metric that has not two units or more, and as many
// items.
absl::StatusOr<std::map<std::string, SampleSize>> ParseSampled(
    std::string_view json);

// The number of items that a result.json is of; 0 where it does not say.
// INVALID_ARGUMENT: it is no whole number from 0 on.
absl::StatusOr<int64_t> ParseNumItems(std::string_view json);

// One of `values`, for people: to the last digit of its standard error, without
// one to six; whole numbers whole.
std::string ValueText(const Metrics& metrics, const std::string& name);

// Whether the name stands before the other in tables: as text does, but the
// numbers in them by their size, `error_16` before `error_100`.
bool StandsBefore(std::string_view a, std::string_view b);

// By name, in that order.
std::vector<std::pair<std::string, double>> InOrder(
    const std::map<std::string, double>& values);

// The standard error of a metric, three digits; empty where it has none.
std::string ErrorText(const Metrics& metrics, const std::string& name);

// How many items a metric is over; empty where that is not known.
std::string ItemsText(const Metrics& metrics, const std::string& name);

// For people, below a table that has them: a sentence.
inline constexpr char kAboutItems[] =
    "Items are what a score is a mean of, such as the reads of flip_flop, of "
    "which a row has several; a mean over lengths or cells counts as many of "
    "each as the one with the fewest has.";

// For programs, a row for each metric: model, step, evaluation, task, metric,
// value with nine digits at most, standard error; an empty cell where that is
// not known. Where one has a tokenizer, that stands behind, as what is by token
// is compared with the same one alone.
Table MetricsTable(const std::vector<Metrics>& all);

// The same for people, as ValueText, and the items of each, with what they are
// as a note.
Table ScoreTable(const std::vector<Metrics>& all);

// Without what task text says twice, for people: `perplexity` is that of one of
// its lengths, beside which `perplexity_128` names the length.
Metrics WithoutCopies(Metrics metrics);

}  // namespace ordo::report

#endif  // ORDO_REPORT_METRICS_H_
