#include "model/catalog/micro_batch.h"

#include <algorithm>

#include "base/check.h"

namespace ordo::model::catalog {

int64_t MicroBatchRows(const MicroBatchShape& shape, int64_t row_tokens) {
  ORDO_CHECK(shape.max_rows >= 1 && shape.max_tokens >= 1 && row_tokens >= 1);
  return std::clamp<int64_t>(shape.max_tokens / row_tokens, 1, shape.max_rows);
}

}  // namespace ordo::model::catalog
