#ifndef ORDO_MODEL_CATALOG_MICRO_BATCH_H_
#define ORDO_MODEL_CATALOG_MICRO_BATCH_H_

#include <cstdint>

namespace ordo::model::catalog {

// How many rows go through a model in one pass of an evaluation. The last bits
// of what it says may depend on that, so it belongs to the task and is never
// taken from the machine, nor from how many questions there are.
struct MicroBatchShape {
  // At least 1.
  int64_t max_rows = 64;
  // Bounds the rows where they are long, at least 1.
  int64_t max_tokens = 32768;
};

// Rows of each pass over rows of `row_tokens` tokens, at least one: a row that
// is longer than max_tokens has a pass of its own. Pure.
int64_t MicroBatchRows(const MicroBatchShape& shape, int64_t row_tokens);

}  // namespace ordo::model::catalog

#endif  // ORDO_MODEL_CATALOG_MICRO_BATCH_H_
