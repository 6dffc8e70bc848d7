#ifndef ORDO_MODEL_TASKS_TESTING_DRAWN_H_
#define ORDO_MODEL_TASKS_TESTING_DRAWN_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

// Whether a generator draws what it should: Pearson's statistic of counts that
// a test took of it with a fixed seed.

namespace ordo::model::tasks::testing {

// Of how often each kind was drawn, where kind i should come by weights[i] of
// the weights' sum. REQUIRES: as many counts as weights, all of those above 0.
double PearsonStatistic(const std::vector<double>& weights,
                        const std::vector<int64_t>& counts);

// Passed about once in a million where the weights are right: by the normal
// approximation of Wilson and Hilferty, for one kind more than `degrees`.
double RareStatistic(size_t degrees);

// Fails the test unless there is a count for each weight and the statistic is
// below the rare one. Each kind should have come 20 times and more.
void ExpectDrawn(const std::vector<double>& weights,
                 const std::vector<int64_t>& counts);

// The same with equal weights of kinds that are known by what was drawn, of
// which there should be just so many.
template <typename Kind>
void ExpectEven(size_t num_kinds, const std::map<Kind, int64_t>& counts) {
  std::vector<int64_t> drawn;
  for (const auto& [kind, count] : counts) drawn.push_back(count);
  ExpectDrawn(std::vector<double>(num_kinds, 1), drawn);
}

}  // namespace ordo::model::tasks::testing

#endif  // ORDO_MODEL_TASKS_TESTING_DRAWN_H_
