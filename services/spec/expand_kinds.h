#ifndef ORDO_SERVICES_SPEC_EXPAND_KINDS_H_
#define ORDO_SERVICES_SPEC_EXPAND_KINDS_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/status/details.h"
#include "proto/ordo/jobs/v1/job_spec.pb.h"
#include "services/spec/parts.h"

// What Expand has for each kind. `parent` is named and is given the defaults of
// its kind; parts come out named and not resolved.

namespace ordo::services::spec {

void MakeSweepParts(ordo::jobs::v1::JobSpec* parent, std::vector<Part>* parts,
                    std::vector<base::FieldViolation>* violations);
// Of resolved parts: whether two are the same, and whether they can be stopped
// early as the parent says, whose defaults of that are filled in.
void CheckSweepParts(const std::vector<Part>& parts,
                     ordo::jobs::v1::JobSpec* parent,
                     std::vector<base::FieldViolation>* violations);

void MakeCompareParts(ordo::jobs::v1::JobSpec* parent, std::vector<Part>* parts,
                      std::vector<base::FieldViolation>* violations);
// Of resolved parts: whether arms differ, and in no more than they may. Gives
// them the steps of the comparison's budget.
void CheckCompareParts(const ordo::jobs::v1::JobSpec& parent,
                       std::vector<Part>* parts,
                       std::vector<base::FieldViolation>* violations);

void MakePipelineParts(ordo::jobs::v1::JobSpec* parent,
                       std::vector<Part>* parts,
                       std::vector<base::FieldViolation>* violations);

// What sweeps and comparisons share.
//
// Checks a template at `path` and gives it the kind train if it has none. False
// when nothing can be made of it.
bool CheckTemplate(const std::string& path,
                   const std::set<ordo::jobs::v1::JobSpec::Kind>& kinds,
                   ordo::jobs::v1::JobSpec* run,
                   std::vector<base::FieldViolation>* violations);
// How large parts of one template get.
struct BytesOfParts {
  // What each has from the template and its parent.
  size_t of_each = 0;
  // The parent's field that most of that is from; empty if the template is.
  std::string from;
  // What they have of their own, all together.
  size_t of_all = 0;
};
// All but BytesOfParts.of_all.
BytesOfParts BytesOfEach(const ordo::jobs::v1::JobSpec& parent,
                         const ordo::jobs::v1::JobSpec& run);
// Whether so many parts of one template may be, before they are made.
bool CheckNumberOfParts(const std::string& path, size_t number,
                        const BytesOfParts& bytes,
                        std::vector<base::FieldViolation>* violations);
// Seeds at `path` are each there once.
void CheckSeeds(const std::string& path,
                const google::protobuf::RepeatedField<uint64_t>& seeds,
                std::vector<base::FieldViolation>* violations);
// Most parts that run at a time, 1..`max`, if `kind` says it.
void CheckMaxParallel(const std::string& path, int max,
                      google::protobuf::Message* kind,
                      std::vector<base::FieldViolation>* violations);
// A seed that a part is given.
struct SeedOfPart {
  // Its path in the part, "training.seed" or "data.seed".
  std::string path;
  uint64_t value = 0;
  // Where the parent says it.
  std::string source;
};
// Gives it the seed. A violation, when the part has one already.
void SetSeed(const SeedOfPart& seed, Part* part, PartViolations* violations);

}  // namespace ordo::services::spec

#endif  // ORDO_SERVICES_SPEC_EXPAND_KINDS_H_
