#ifndef ORDO_MODEL_TRANSFORMER_DROPOUT_H_
#define ORDO_MODEL_TRANSFORMER_DROPOUT_H_

#include <cstdint>
#include <optional>

#include <ATen/core/Tensor.h>

namespace ordo::model::transformer {

// Dropout in training. Masks come from stream "dropout/<step>" and depend on
// the row's number in the global batch, the place and the token's column, so
// splitting a batch or padding it further changes none.
struct Dropout {
  // Seed of training, and the optimizer step (the first is 0).
  uint64_t seed = 1;
  int64_t step = 0;
  // Number of this pass's first row in the global batch, below 2^20.
  int64_t first_row = 0;
};

// x [B,T,C] with each value zeroed with `probability` and the others scaled by
// 1 / (1 - probability). `place` tells the uses in a model apart, below 2^10.
// x itself when `dropout` is empty or the probability is 0.
at::Tensor ApplyDropout(const std::optional<Dropout>& dropout,
                        double probability, int place, const at::Tensor& x_BTC);

}  // namespace ordo::model::transformer

#endif  // ORDO_MODEL_TRANSFORMER_DROPOUT_H_
