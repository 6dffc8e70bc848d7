#include "services/spec/durations.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/units/duration_text.h"
#include "base/units/proto_time.h"

namespace ordo::services::spec {

bool CheckDuration(const DurationField& field,
                   const google::protobuf::Duration& duration,
                   std::vector<base::FieldViolation>* violations) {
  const int64_t seconds = duration.seconds();
  const int32_t nanos = duration.nanos();
  const bool valid = nanos >= 0 && nanos < 1'000'000'000 &&
                     seconds >= field.min_seconds &&
                     (seconds < field.max_seconds ||
                      (seconds == field.max_seconds && nanos == 0));
  if (valid) return true;
  const std::string value =
      nanos >= 0 && nanos < 1'000'000'000
          ? base::DurationText(base::ToDuration(duration))
          : absl::StrCat(seconds, "s and ", nanos, "ns, which is no duration");
  violations->push_back(
      {field.name, absl::StrCat("must be ", field.range, ", is ", value)});
  return false;
}

bool IsLonger(const google::protobuf::Duration& a,
              const google::protobuf::Duration& b) {
  return std::make_pair(a.seconds(), a.nanos()) >
         std::make_pair(b.seconds(), b.nanos());
}

}  // namespace ordo::services::spec
