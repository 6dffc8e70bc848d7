#ifndef ORDO_MODEL_TRAINING_TESTING_RANKS_H_
#define ORDO_MODEL_TRAINING_TESTING_RANKS_H_

#include <functional>

#include "model/training/collective.h"

namespace ordo::model::training::testing {

// When a rank whose body has returned closes its connections.
enum class Leaving {
  // When all have returned.
  kTogether,
  kAtOnce,
};

// What adds up.
enum class Through {
  kGloo,
  // The same, taken for NCCL: with the order and the watch of ranks on GPUs.
  kGlooAsNccl,
};

// Calls `body` for each of `ranks` ranks that have met over c10d, each on a
// thread of its own that computes with one thread, and returns when all have.
void ForEachRank(int ranks, const std::function<void(Collective&)>& body,
                 Leaving leaving = Leaving::kTogether,
                 Through through = Through::kGloo);

}  // namespace ordo::model::training::testing

#endif  // ORDO_MODEL_TRAINING_TESTING_RANKS_H_
