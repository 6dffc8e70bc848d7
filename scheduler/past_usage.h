#ifndef ORDO_SCHEDULER_PAST_USAGE_H_
#define ORDO_SCHEDULER_PAST_USAGE_H_

#include <cstddef>

#include "absl/time/time.h"
#include "proto/ordo/jobs/v1/jobs.pb.h"
#include "proto/ordo/usage/v1/usage.pb.h"

// What attempts used, added up when they are no longer kept one by one. Pure.

namespace ordo::scheduler {

// Days that are kept of one job, and of the archived jobs of one owner in one
// queue.
inline constexpr int kMaxUsageDaysOfJob = 32;
inline constexpr int kMaxUsageDaysOfArchived = 400;
inline constexpr absl::Duration kUsageDay = absl::Hours(24);
// Rows that are kept of archived jobs, and that a report has; owners are only
// claimed, so there could be any number. What is beyond is in one more row, of
// a queue, owner or job that is called so.
inline constexpr size_t kMaxUsageRows = 4096;
inline constexpr char kOtherUsage[] = "-";

// Adds all but the key.
void AddUsage(const usage::v1::Usage& more, usage::v1::Usage* sum);

// Adds the steps that an attempt lost, also by its reason.
void AddLostSteps(const jobs::v1::Attempt& attempt, usage::v1::Usage* sum);

// What an attempt that has ended used and lost, as its record says; no key.
usage::v1::Usage UsageOf(const jobs::v1::Attempt& attempt);

// Adds an attempt that has ended to the day in which it did.
void AddAttempt(const jobs::v1::Attempt& attempt, usage::v1::PastUsage* past);

// Adds each day.
void AddDays(const usage::v1::PastUsage& more, usage::v1::PastUsage* past);

// Adds the oldest days up, until no more than `most` are left; `most` > 0.
void FoldDays(int most, usage::v1::PastUsage* past);

}  // namespace ordo::scheduler

#endif  // ORDO_SCHEDULER_PAST_USAGE_H_
