#ifndef ORDO_MODEL_TASKS_SHARES_H_
#define ORDO_MODEL_TASKS_SHARES_H_

#include <cstdint>
#include <map>
#include <string>

#include "model/tasks/rate.h"
#include "model/tasks/task.h"

// Counting and writing scores that are shares: of errors, of right answers.

namespace ordo::model::tasks {

// By name.
using Estimates = std::map<std::string, Estimate>;

// Sets metrics and, where they are known, their standard errors and samples.
void SetMetrics(const Estimates& estimates, Scores* scores);

// A line for each metric of `scores`, with its standard error, for people.
std::string MetricLines(const Scores& scores);

// A standard error as a cell of csv; of one that is not known an empty one.
std::string ErrorCell(const Estimate& estimate);

// A share with its standard error, both in per cent with a decimal:
// "75.0 ± 12.5"; of one that is not known the share alone.
std::string PercentWithError(const Estimate& estimate);

// Adds `units` and, where it is known, `standard_error` to a row of details.
void AddError(const Estimate& estimate, int64_t num_units,
              nlohmann::ordered_json* row);

// Shares by a number, such as the length of a row.
struct ShareTable {
  // What the number is and what is counted: "length", "exact_match".
  std::string by;
  std::string what;
  // Of items that are worth 0 or 1.
  std::map<int64_t, Rate> shares;
};

// Scores with these metrics; `shares` of the details, csv and markdown are the
// table, each share with its standard error.
Scores ScoresOf(const Estimates& metrics, const ShareTable& table);

// The same of a table by length, for a model that was trained on lengths up to
// `trained_length`, 0 when that is not known. Metrics: `score`, the mean of the
// shares of longer ones, and `trained_mean`, of the others; each where there
// are such lengths. Units with one number are one unit at all lengths.
Scores ScoresByLength(const ShareTable& table, int64_t trained_length);

// The greatest power of two that is not above `number` >= 1: what 1, 2 and 3,
// 4 to 7 and so on are put together by.
int64_t LeastOfRange(int64_t number);

// A share in millionths, rounded: what a parameter such as 0.8 means wherever
// it decides tokens, for which nothing but integers is used.
int64_t Millionths(double share);

}  // namespace ordo::model::tasks

#endif  // ORDO_MODEL_TASKS_SHARES_H_
