#include "services/spec/references.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "model/catalog/fields.h"

namespace ordo::services::spec {
namespace {

using Violations = std::vector<base::FieldViolation>;

constexpr char kLatest[] = "latest";
// The same.
constexpr char kLast[] = "last";
constexpr char kBest[] = "best";
constexpr char kForms[] =
    "must be jobs/{job}/checkpoints/{step}-{attempt}, or best or latest in "
    "place of these two, jobs/{job} for its newest, or aliases/{alias}";

// "<step>-<attempt>", both in decimal.
bool IsCheckpointId(const std::string& id) {
  const std::vector<std::string> parts = absl::StrSplit(id, '-');
  return parts.size() == 2 &&
         std::all_of(parts.begin(), parts.end(), [](const std::string& part) {
           return !part.empty() && part.size() <= 18 &&
                  std::all_of(part.begin(), part.end(), absl::ascii_isdigit);
         });
}

bool IsReportId(const std::string& id) {
  constexpr size_t kMaxLength = 255;
  return !id.empty() && id.size() <= kMaxLength && id != "." && id != ".." &&
         std::all_of(id.begin(), id.end(), absl::ascii_isgraph);
}

// Of a valid one: the newest is what its job stands for.
void NameJobForLatest(std::string* reference) {
  for (const char* newest : {kLatest, kLast}) {
    const std::string end = absl::StrCat("/checkpoints/", newest);
    if (absl::EndsWith(*reference, end)) {
      reference->resize(reference->size() - end.size());
    }
  }
}

std::string IsText(const std::string& reference) {
  constexpr size_t kMaxShown = 200;
  return absl::StrCat(", is '", reference.substr(0, kMaxShown), "'");
}

}  // namespace

ReferenceForm FormOf(const std::string& reference) {
  const std::vector<std::string> parts = absl::StrSplit(reference, '/');
  if (parts.size() == 2 && parts[0] == "aliases" &&
      model::catalog::IsId(parts[1])) {
    return ReferenceForm::kAlias;
  }
  if (parts.size() < 2 || parts[0] != "jobs" ||
      !model::catalog::IsId(parts[1])) {
    return ReferenceForm::kNone;
  }
  if (parts.size() == 2) return ReferenceForm::kJob;
  if (parts.size() != 4) return ReferenceForm::kNone;
  if (parts[2] == "checkpoints" &&
      (parts[3] == kLatest || parts[3] == kLast || parts[3] == kBest ||
       IsCheckpointId(parts[3]))) {
    return ReferenceForm::kCheckpoint;
  }
  if (parts[2] == "reports" && IsReportId(parts[3])) {
    return ReferenceForm::kReport;
  }
  return ReferenceForm::kNone;
}

bool NamesAlias(const std::string& reference) {
  return absl::StartsWith(reference, "aliases/");
}

bool NamesBest(const std::string& reference) {
  return absl::EndsWith(reference, "/checkpoints/best") &&
         FormOf(reference) == ReferenceForm::kCheckpoint;
}

void ResolveReference(const std::string& field, std::string* reference,
                      Violations* violations) {
  const ReferenceForm form = FormOf(*reference);
  if (form == ReferenceForm::kJob || form == ReferenceForm::kAlias) return;
  if (form == ReferenceForm::kCheckpoint) {
    NameJobForLatest(reference);
    return;
  }
  violations->push_back({field, absl::StrCat(kForms, IsText(*reference))});
}

void ResolveSubject(const std::string& field, std::string* reference,
                    Violations* violations) {
  const ReferenceForm form = FormOf(*reference);
  if (form == ReferenceForm::kNone) {
    violations->push_back(
        {field, absl::StrCat(kForms, ", or jobs/{job}/reports/{report}",
                             IsText(*reference))});
  } else if (form == ReferenceForm::kCheckpoint) {
    NameJobForLatest(reference);
  }
}

void ResolveEvaluated(const std::string& field, std::string* reference,
                      Violations* violations) {
  const std::vector<std::string> parts = absl::StrSplit(*reference, '/');
  const bool stands_for_all = parts.size() == 4 && parts[0] == "jobs" &&
                              model::catalog::IsId(parts[1]) &&
                              parts[2] == "checkpoints" && parts[3] == "every";
  if (!stands_for_all) ResolveReference(field, reference, violations);
}

bool NamesEvery(const std::string& reference) {
  return absl::EndsWith(reference, "/checkpoints/every");
}

void ResolveModelFrom(std::string* reference, Violations* violations) {
  if (model::catalog::IsId(*reference)) *reference = "jobs/" + *reference;
  ResolveReference("model.from", reference, violations);
}

}  // namespace ordo::services::spec
