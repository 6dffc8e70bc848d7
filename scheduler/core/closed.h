#ifndef ORDO_SCHEDULER_CORE_CLOSED_H_
#define ORDO_SCHEDULER_CORE_CLOSED_H_

#include <string>

#include "absl/time/time.h"
#include "proto/ordo/workers/v1/workers.pb.h"

// Which workers take no work, and who wants that, in words. Internal to
// scheduler/core.

namespace ordo::scheduler::core {

// Whether it is there and takes no job that may run until `ends_by`: it leaves,
// is cordoned, or is drained before.
bool IsClosed(const workers::v1::Worker& worker, absl::Time ends_by);

// Such as "gpu7 (drained since 2026-11-22T18:00:00+00:00 by ada: exams)", of
// one that is closed; `now` tells a drain from one to come.
std::string ClosedText(const workers::v1::Worker& worker, absl::Time now);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_CLOSED_H_
