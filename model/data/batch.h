#ifndef ORDO_MODEL_DATA_BATCH_H_
#define ORDO_MODEL_DATA_BATCH_H_

#include <cstdint>

#include "ATen/core/Tensor.h"
#include "absl/status/statusor.h"
#include "model/data/order_digest.h"
#include "model/tasks/task.h"

namespace ordo::model::data {

// Rows of a training stream as tensors. B rows; T is what the model reads of
// the longest of them.
struct Batch {
  // What the model reads, int64 [B,T], padded on the right.
  at::Tensor tokens_BT;
  // The next token of each place that counts in the loss, int64 [N].
  at::Tensor targets_N;
  // Those places, as indices into the flattened [B*T], int64 [N], rising.
  at::Tensor places_N;
  // Which tokens are read and which are padding, bool [B,T]; undefined where
  // no row is padded. A model that sees what comes later needs it.
  at::Tensor real_BT = {};
  // The first token that each sees, int64 [B,T]; undefined: the first of its
  // row.
  at::Tensor first_BT = {};

  // Tokens read, padding included.
  int64_t num_tokens() const { return tokens_BT.numel(); }
  // N.
  int64_t num_scored() const { return targets_N.numel(); }
};

// Which rows of which stream.
struct BatchRows {
  uint64_t seed = 1;
  // Number of the first row in the stream.
  uint64_t first = 0;
  int64_t count = 0;
};

// A pure function of the task and the rows, of which there is at least one.
// `order`, if given, takes them up. Errors of the task.
absl::StatusOr<Batch> MakeBatch(const tasks::TrainingTask& task,
                                const BatchRows& rows,
                                OrderDigest* order = nullptr);

// As the members of Batch are called.
struct BatchSize {
  int64_t num_tokens = 0;
  int64_t num_scored = 0;
};

// Of MakeBatch(task, rows, order), without the tensors.
absl::StatusOr<BatchSize> SizeOfBatch(const tasks::TrainingTask& task,
                                      const BatchRows& rows,
                                      OrderDigest* order = nullptr);

}  // namespace ordo::model::data

#endif  // ORDO_MODEL_DATA_BATCH_H_
