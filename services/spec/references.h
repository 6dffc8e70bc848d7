#ifndef ORDO_SERVICES_SPEC_REFERENCES_H_
#define ORDO_SERVICES_SPEC_REFERENCES_H_

#include <string>
#include <vector>

#include "base/status/details.h"

// The names by which specs refer to jobs, checkpoints and reports.

namespace ordo::services::spec {

// What a name is of, by its form alone: the one place that tells them apart.
enum class ReferenceForm {
  kNone,
  kJob,
  // Also jobs/{job}/checkpoints/latest, last and best.
  kCheckpoint,
  kReport,
  // aliases/{alias}.
  kAlias,
};
ReferenceForm FormOf(const std::string& reference);

// Whether a reference to a checkpoint is an alias, aliases/{alias}: it stands
// for the checkpoint that it names when the job is created.
bool NamesAlias(const std::string& reference);

// Whether a reference is jobs/{job}/checkpoints/best: it stands for the
// checkpoint that is best when the job is created, or when it starts of one
// that it needs.
bool NamesBest(const std::string& reference);

// The one form of a reference to a checkpoint, which is
// jobs/{job}/checkpoints/{checkpoint}, jobs/{job} for its newest ("latest"
// and "last" become that), jobs/{job}/checkpoints/best, or an alias. Appends a
// violation of `field` when it is none.
void ResolveReference(const std::string& field, std::string* reference,
                      std::vector<base::FieldViolation>* violations);

// The same where a report, jobs/{job}/reports/{report}, may stand as well.
void ResolveSubject(const std::string& field, std::string* reference,
                    std::vector<base::FieldViolation>* violations);

// The same of what is evaluated, which may also be jobs/{job}/checkpoints/every
// for all of a job as they come (NamesEvery).
void ResolveEvaluated(const std::string& field, std::string* reference,
                      std::vector<base::FieldViolation>* violations);
bool NamesEvery(const std::string& reference);

// The one form of a `model.from`, which may be a job's id too. Appends a
// violation when it is none.
void ResolveModelFrom(std::string* reference,
                      std::vector<base::FieldViolation>* violations);

}  // namespace ordo::services::spec

#endif  // ORDO_SERVICES_SPEC_REFERENCES_H_
