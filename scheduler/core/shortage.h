#ifndef ORDO_SCHEDULER_CORE_SHORTAGE_H_
#define ORDO_SCHEDULER_CORE_SHORTAGE_H_

#include <string>
#include <vector>

#include "proto/ordo/workers/v1/workers.pb.h"
#include "scheduler/policy/shape.h"

// What of a job's requests the workers do not have, in words. Internal to
// scheduler/core.

namespace ordo::scheduler::core {

// Whether it has the labels that are asked for, may read the data and, where a
// rank is one of several, takes such ranks (TakesRanks, state.h).
bool MayHold(const workers::v1::Worker& worker, const policy::Shape& shape);

// Whether the device is of the kind, has the memory and lacks no kernel that is
// asked for, free or not.
bool Suits(const workers::v1::Device& device, const policy::Shape& shape);

// Whether it may hold a rank and has a device that suits, open or not.
bool HasSuitable(const workers::v1::Worker& worker, const policy::Shape& shape);

// The first of the requests that no worker meets together with those before it
// (labels, task, data, NCCL, memory of devices, devices, cores, memory, all
// ranks at once), and what there is instead; such as "no worker with zone=a has
// 4 cuda devices: the most is 2, of w1". Workers that are lost do not count.
// Empty: they could hold it, if they had nothing else to do.
std::string ShortageOf(const std::vector<workers::v1::Worker>& workers,
                       const policy::Shape& shape);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_SHORTAGE_H_
