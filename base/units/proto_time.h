#ifndef ORDO_BASE_UNITS_PROTO_TIME_H_
#define ORDO_BASE_UNITS_PROTO_TIME_H_

#include <cstdint>

#include "absl/time/time.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/timestamp.pb.h"
#include "google/protobuf/util/time_util.h"

// Between times as code has them and as messages do, to the nanosecond. Times
// before 1970 and negative durations are fine; infinite ones are not.

namespace ordo::base {

inline google::protobuf::Timestamp ToTimestamp(absl::Time time) {
  google::protobuf::Timestamp timestamp;
  timestamp.set_seconds(absl::ToUnixSeconds(time));
  timestamp.set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(
      time - absl::FromUnixSeconds(timestamp.seconds()))));
  return timestamp;
}

inline absl::Time ToTime(const google::protobuf::Timestamp& timestamp) {
  return absl::FromUnixSeconds(timestamp.seconds()) +
         absl::Nanoseconds(timestamp.nanos());
}

inline google::protobuf::Duration ToProtoDuration(absl::Duration duration) {
  return google::protobuf::util::TimeUtil::NanosecondsToDuration(
      absl::ToInt64Nanoseconds(duration));
}

inline absl::Duration ToDuration(const google::protobuf::Duration& duration) {
  return absl::Seconds(duration.seconds()) +
         absl::Nanoseconds(duration.nanos());
}

}  // namespace ordo::base

#endif  // ORDO_BASE_UNITS_PROTO_TIME_H_
