#ifndef ORDO_MODEL_TASKS_RATE_H_
#define ORDO_MODEL_TASKS_RATE_H_

#include <cstdint>
#include <optional>
#include <vector>

// Means of what items are worth, such as shares of errors or of right answers,
// and how far another draw of items may move them.

namespace ordo::model::tasks {

struct Estimate {
  double value = 0;
  // Standard deviation of the value over draws of units, not over seeds of
  // training. Nothing where the items do not tell.
  std::optional<double> standard_error = {};
  // Of a mean of what is worth 0 to 1 the units and the items that it counts,
  // at least; 0: not known, or it is no such mean.
  int64_t num_units = 0;
  int64_t num_items = 0;
};

// What a unit moves a value by.
struct Moved {
  int64_t unit = 0;
  double by = 0;
};

// A mean over items. Those of one unit (EvaluationTask::UnitId), such as the
// answers along a row, may hang together; units do not.
class Rate {
 public:
  // An item of this unit, worth 0 to 1. Those of a unit may come apart.
  void Add(int64_t unit, double worth);

  int64_t total() const { return total_; }
  double sum() const { return sum_; }
  // 0 of nothing.
  double value() const;
  int64_t num_units() const;
  // To first order, what each unit moves value() by, such that the sum of
  // squares over units is the variance with n - 1. Nothing with fewer than two
  // units, which do not tell.
  std::optional<std::vector<Moved>> Moves() const;

 private:
  struct Unit {
    int64_t unit = 0;
    double sum = 0;
    int64_t total = 0;
  };

  // By unit, each once.
  std::vector<Unit> Units() const;

  // A new one whenever the unit changes.
  std::vector<Unit> runs_;
  double sum_ = 0;
  int64_t total_ = 0;
};

// The value with its standard error, where each item is its own unit that of
// scoring::MeanOf: the sample standard deviation (n - 1) by sqrt(n). Else that
// of a ratio of sums over units r = sum s_u / sum n_u,
// sqrt(n / (n - 1) sum (s_u - r n_u)^2) / sum n_u.
Estimate EstimateOf(const Rate& rate);

// The mean of rates of which each counts the same, however many items it has.
// Units with one number are one unit in whichever rates they are. Its error is
// not known where that of a rate is not. It counts no more units and items than
// if all rates had as many as the least. REQUIRES: one rate or more.
Estimate MeanOf(const std::vector<const Rate*>& rates);

}  // namespace ordo::model::tasks

#endif  // ORDO_MODEL_TASKS_RATE_H_
