#ifndef ORDO_MODEL_TRAINING_TESTING_RANKS_H_
#define ORDO_MODEL_TRAINING_TESTING_RANKS_H_

#include <functional>

#include "model/training/collective.h"
#include "model/training/nccl/library.h"

namespace ordo::model::training::testing {

// When a rank whose body has returned closes its connections.
enum class Leaving {
  // When all have returned.
  kTogether,
  kAtOnce,
};

// Gloo, taken for NCCL: with the order and the watch of ranks on GPUs.
extern const nccl::Library kGlooAsNccl;

// Calls `body` for each of `ranks` ranks that have met over c10d, each on a
// thread of its own that computes with one thread, and returns when all have.
// They add up through `through`; null: through Gloo.
void ForEachRank(int ranks, const std::function<void(Collective&)>& body,
                 Leaving leaving = Leaving::kTogether,
                 const nccl::Library* through = nullptr);

}  // namespace ordo::model::training::testing

#endif  // ORDO_MODEL_TRAINING_TESTING_RANKS_H_
