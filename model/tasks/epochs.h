#ifndef ORDO_MODEL_TASKS_EPOCHS_H_
#define ORDO_MODEL_TASKS_EPOCHS_H_

#include <cstdint>

namespace ordo::model::tasks {

// Training on a set of `num_rows` rows over and over, as a stream: the number
// of the row that stands at `index`. Each epoch has every row once, in an order
// of its own. With 0 rows there is no set: `index` itself. A pure function.
uint64_t RowOfSet(uint64_t seed, uint64_t index, uint64_t num_rows);

}  // namespace ordo::model::tasks

#endif  // ORDO_MODEL_TASKS_EPOCHS_H_
