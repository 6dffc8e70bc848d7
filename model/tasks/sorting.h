#ifndef ORDO_MODEL_TASKS_SORTING_H_
#define ORDO_MODEL_TASKS_SORTING_H_

#include "model/tasks/pairs.h"

namespace ordo::model::tasks {

// Most numbers of a row: as many labels as there are.
inline constexpr int kMaxSortedNumbers = 102;

// Sorting labelled numbers (McLeish et al. 2024, by their generator's rules):
// `A:21,B:5=B,A` and an end mark. The first length is the most digits of a
// number, of which the number of digits is uniform, and then the number; the
// second is how many numbers there are. Numbers are reversed; their labels
// follow each other, around the end, from a drawn one on. Equal numbers keep
// their order. Two of the labels are , and : themselves, as the authors' are.
const Operation& Sorting();

}  // namespace ordo::model::tasks

#endif  // ORDO_MODEL_TASKS_SORTING_H_
