#ifndef ORDO_SERVICES_SPEC_DURATIONS_H_
#define ORDO_SERVICES_SPEC_DURATIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/status/details.h"
#include "google/protobuf/duration.pb.h"

namespace ordo::services::spec {

inline constexpr int64_t kMaxTimeLimitSeconds = 366LL * 24 * 60 * 60;

// A field that holds a duration.
struct DurationField {
  // Its path.
  std::string name;
  int64_t min_seconds = 1;
  int64_t max_seconds = kMaxTimeLimitSeconds;
  // Both for people.
  std::string range = "1s..366 days";
};

// False, with a violation added, when `duration` is none or outside the range.
bool CheckDuration(const DurationField& field,
                   const google::protobuf::Duration& duration,
                   std::vector<base::FieldViolation>* violations);

// Whether `a` is longer than `b`; both are valid.
bool IsLonger(const google::protobuf::Duration& a,
              const google::protobuf::Duration& b);

}  // namespace ordo::services::spec

#endif  // ORDO_SERVICES_SPEC_DURATIONS_H_
