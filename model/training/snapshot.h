#ifndef ORDO_MODEL_TRAINING_SNAPSHOT_H_
#define ORDO_MODEL_TRAINING_SNAPSHOT_H_

#include <cstdint>
#include <set>
#include <string>

#include "model/training/safetensors.h"
#include "model/transformer/transformer.h"

namespace ordo::model::training {

// How far a run is.
struct Cursors {
  // Optimizer steps done, those left out for non-finite gradients included.
  int64_t step = 0;
  // Tokens read, padding included.
  int64_t tokens = 0;
  // Rows taken from the data stream: the number of the next one.
  int64_t samples = 0;
  // Updates that the optimizer made.
  int64_t updates = 0;
  // Steps left out in a row, up to now.
  int64_t skipped_in_a_row = 0;
  // Of those rows (model/data/order_digest.h); empty: not known. Decides
  // nothing.
  std::string data_digest = {};
};

// Everything that decides how a run goes on.
struct Snapshot {
  TensorMap parameters;
  TensorMap optimizer;
  Cursors cursors;
  // RecipeText of the run's specification.
  std::string recipe = "";
  // As StepResult, of the last step; empty before the first. Decides nothing.
  std::set<std::string> attention_kernels = {};
  // TrainingTask::data_fingerprint: what the rows are read from.
  std::string data_fingerprint = "";
};

// SHA-256 over names, shapes, types and bytes of all tensors, the cursors that
// are numbers, the recipe and, where there is one, the fingerprint of the data.
// Two snapshots with equal digests go on alike.
std::string StateDigest(const Snapshot& snapshot);

// A snapshot in memory of its own, on the host, so that training can go on.
Snapshot Copy(const Snapshot& snapshot);

// The model's parameters by name; they share storage with the model's.
TensorMap ParametersOf(const transformer::Transformer& model);

}  // namespace ordo::model::training

#endif  // ORDO_MODEL_TRAINING_SNAPSHOT_H_
