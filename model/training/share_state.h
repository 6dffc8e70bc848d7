#ifndef ORDO_MODEL_TRAINING_SHARE_STATE_H_
#define ORDO_MODEL_TRAINING_SHARE_STATE_H_

#include "absl/status/status.h"
#include "model/training/collective.h"
#include "model/training/run.h"

namespace ordo::model::training {

// Brings the runs of all ranks, which are of one recipe, to the state of rank
// 0's, bit for bit. All ranks call it. Errors: as Collective.
absl::Status ShareState(Collective* collective, Run* run);

}  // namespace ordo::model::training

#endif  // ORDO_MODEL_TRAINING_SHARE_STATE_H_
