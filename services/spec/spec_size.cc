#include "services/spec/spec_size.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status/details.h"
#include "google/protobuf/descriptor.h"

namespace ordo::services::spec {

using ordo::jobs::v1::JobSpec;

absl::Status CheckSpecSize(const JobSpec& spec) {
  const size_t num_bytes = spec.ByteSizeLong();
  if (num_bytes <= kMaxSpecBytes) return absl::OkStatus();
  // The field without which the spec is shortest.
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  spec.GetReflection()->ListFields(spec, &fields);
  std::string longest;
  size_t least = num_bytes;
  for (const auto* field : fields) {
    JobSpec rest = spec;
    rest.GetReflection()->ClearField(&rest, field);
    if (rest.ByteSizeLong() >= least) continue;
    least = rest.ByteSizeLong();
    longest = field->name();
  }
  return base::InvalidField(
      longest, absl::StrCat("the spec has ", num_bytes, " bytes; at most ",
                            kMaxSpecBytes,
                            " are accepted: shorten this field, its longest"));
}

}  // namespace ordo::services::spec
