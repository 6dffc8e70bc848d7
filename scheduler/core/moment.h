#ifndef ORDO_SCHEDULER_CORE_MOMENT_H_
#define ORDO_SCHEDULER_CORE_MOMENT_H_

#include "absl/time/time.h"
#include "google/protobuf/timestamp.pb.h"
#include "google/protobuf/util/time_util.h"

namespace ordo::scheduler::core {

// The time of an event, read once by the shell. Deadlines are kept on the
// monotonic clock, so that a jump of the wall clock loses no worker; records
// and people get the wall clock.
struct Moment {
  absl::Time wall;
  absl::Duration monotonic;
};

inline google::protobuf::Timestamp ToTimestamp(absl::Time time) {
  return google::protobuf::util::TimeUtil::NanosecondsToTimestamp(
      absl::ToUnixNanos(time));
}

inline absl::Time ToTime(const google::protobuf::Timestamp& timestamp) {
  return absl::FromUnixSeconds(timestamp.seconds()) +
         absl::Nanoseconds(timestamp.nanos());
}

inline google::protobuf::Duration ToProtoDuration(absl::Duration duration) {
  return google::protobuf::util::TimeUtil::NanosecondsToDuration(
      absl::ToInt64Nanoseconds(duration));
}

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_MOMENT_H_
