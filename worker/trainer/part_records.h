#ifndef ORDO_WORKER_TRAINER_PART_RECORDS_H_
#define ORDO_WORKER_TRAINER_PART_RECORDS_H_

#include <vector>

#include "proto/ordo/training/v1/spec.pb.h"
#include "report/summary/control.h"
#include "report/summary/items.h"
#include "worker/trainer/context.h"
#include "worker/trainer/progress.h"

namespace ordo::worker::trainer {

// What a part of a comparison left under the storage root that others are
// compared with: the initial values of its parameters, and what its evaluations
// asked and found at each length. What cannot be read is not known, and a
// warning says so.
report::summary::PartRecords ReadPartRecords(
    const TrainerContext& context, const ordo::training::v1::PartResult& part,
    Progress* progress);

// What the items of evaluations tell arms and baseline of a comparison apart
// by. Of what cannot be read or paired a warning says so; nothing is read any
// more once a stop is requested.
std::vector<report::summary::ArmItems> ReadArmItems(
    const TrainerContext& context,
    const ordo::training::v1::SummarizeSpec& spec, Progress* progress);

}  // namespace ordo::worker::trainer

#endif  // ORDO_WORKER_TRAINER_PART_RECORDS_H_
