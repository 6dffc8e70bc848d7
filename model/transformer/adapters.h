#ifndef ORDO_MODEL_TRANSFORMER_ADAPTERS_H_
#define ORDO_MODEL_TRANSFORMER_ADAPTERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "model/parameters/parameters.h"
#include "model/transformer/layers.h"
#include "proto/ordo/training/v1/spec.pb.h"

namespace ordo::model::transformer {

// The low-rank adapters of a model's matrices. Not thread-safe. Throws what
// LibTorch throws.
class Adapters {
 public:
  // Gives `linear`, which outlives this, an adapter of lora's rank and scale,
  // with parameters <name>.lora_A.weight and <name>.lora_B.weight. B is 0, so
  // nothing changes; A is uniform within 1 / sqrt(in).
  void Add(const ordo::training::v1::Lora& lora, const std::string& name,
           LinearWeights* linear, parameters::ParameterSet* parameters);

  // Adds scale B A to each matrix, which then acts alone. Nothing where that
  // is so.
  void Merge();
  // Gives the matrices the bits from before and their adapters back.
  void Unmerge();

 private:
  struct Entry {
    LinearWeights* linear;
    Adapter adapter;
    // The matrix without the adapter, while that is merged.
    at::Tensor plain;
  };
  std::vector<Entry> entries_;
};

}  // namespace ordo::model::transformer

#endif  // ORDO_MODEL_TRANSFORMER_ADAPTERS_H_
