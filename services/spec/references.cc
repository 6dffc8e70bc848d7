#include "services/spec/references.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "model/catalog/fields.h"

namespace ordo::services::spec {
namespace {

using Violations = std::vector<base::FieldViolation>;

// "<step>-<attempt>", both in decimal.
bool IsCheckpointId(const std::string& id) {
  const std::vector<std::string> parts = absl::StrSplit(id, '-');
  return parts.size() == 2 &&
         std::all_of(parts.begin(), parts.end(), [](const std::string& part) {
           return !part.empty() && part.size() <= 18 &&
                  std::all_of(part.begin(), part.end(), absl::ascii_isdigit);
         });
}

}  // namespace

void ResolveReference(const std::string& field, std::string* reference,
                      Violations* violations) {
  const std::vector<std::string> parts = absl::StrSplit(*reference, '/');
  const bool job_valid =
      parts.size() >= 2 && parts[0] == "jobs" && model::catalog::IsId(parts[1]);
  if (job_valid && parts.size() == 2) return;
  if (job_valid && parts.size() == 4 && parts[2] == "checkpoints") {
    if (parts[3] == "latest") {
      *reference = absl::StrCat("jobs/", parts[1]);
      return;
    }
    if (IsCheckpointId(parts[3])) return;
  }
  constexpr size_t kMaxShown = 200;
  violations->push_back(
      {field, absl::StrCat("must be jobs/{job}/checkpoints/{step}-{attempt}, "
                           "or jobs/{job} for its newest, is '",
                           reference->substr(0, kMaxShown), "'")});
}

void ResolveModelFrom(std::string* reference, Violations* violations) {
  if (model::catalog::IsId(*reference)) *reference = "jobs/" + *reference;
  ResolveReference("model.from", reference, violations);
}

}  // namespace ordo::services::spec
