#ifndef ORDO_MODEL_TASKS_SHARES_H_
#define ORDO_MODEL_TASKS_SHARES_H_

#include <cstdint>
#include <map>
#include <string>

#include "model/tasks/task.h"

// Counting and writing scores that are shares: of errors, of right answers.

namespace ordo::model::tasks {

// How many of `total` count.
struct Share {
  int64_t count = 0;
  int64_t total = 0;

  void Add(bool counts) {
    count += counts ? 1 : 0;
    ++total;
  }
  // 0 of nothing.
  double value() const {
    return total == 0 ? 0
                      : static_cast<double>(count) / static_cast<double>(total);
  }
};

// A mean that may have nothing in it.
struct Mean {
  double sum = 0;
  int count = 0;

  void Add(double value) {
    sum += value;
    ++count;
  }
};

// Shares by a number, such as the length of a row.
struct ShareTable {
  // What the number is and what is counted: "length", "exact_match".
  std::string by;
  std::string what;
  std::map<int64_t, Share> shares;
};

// Scores with these metrics; `shares` of the details, csv and markdown are the
// table.
Scores ScoresOf(std::map<std::string, double> metrics, const ShareTable& table);

// The same of a table by length, for a model that was trained on lengths up to
// `trained_length`, 0 when that is not known. Metrics: `score`, the mean of the
// shares of longer ones, and `trained_mean`, of the others; each where there
// are such lengths.
Scores ScoresByLength(const ShareTable& table, int64_t trained_length);

// The greatest power of two that is not above `number` >= 1: what 1, 2 and 3,
// 4 to 7 and so on are put together by.
int64_t LeastOfRange(int64_t number);

// A share in millionths, rounded: what a parameter such as 0.8 means wherever
// it decides tokens, for which nothing but integers is used.
int64_t Millionths(double share);

}  // namespace ordo::model::tasks

#endif  // ORDO_MODEL_TASKS_SHARES_H_
