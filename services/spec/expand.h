#ifndef ORDO_SERVICES_SPEC_EXPAND_H_
#define ORDO_SERVICES_SPEC_EXPAND_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "base/status/details.h"
#include "proto/ordo/jobs/v1/job_spec.pb.h"
#include "services/spec/parts.h"

namespace ordo::services::spec {

// Whether specs of the kind are made of parts: SWEEP, COMPARE, PIPELINE.
bool HasParts(ordo::jobs::v1::JobSpec::Kind kind);

// Fills in what only a scheduler knows of a part before it is resolved; appends
// violations relative to the part.
using FillPart = std::function<void(ordo::jobs::v1::JobSpec* part,
                                    std::vector<base::FieldViolation>*)>;

struct PartFillers {
  // Of each part, first; null: nothing.
  FillPart references = nullptr;
  // Of a part that has a model.from that is no other part's; null: nothing.
  FillPart model = nullptr;
  // Of each part; null: nothing.
  FillPart data = nullptr;
};

// A spec that has parts, and these.
struct Expansion {
  // Resolved; its templates are as they were.
  ordo::jobs::v1::JobSpec spec;
  // Resolved, in the order in which they are listed: the runs of a sweep by
  // their number; the arms of a comparison, once for each seed; the stages of a
  // pipeline. Names of stages have become jobs/{job}, and are needed
  // (SUCCEEDED) by those who take a checkpoint from them.
  std::vector<Part> parts;
};

// Makes the parts of a spec that HasParts: a function of the spec and of what
// `fillers` say. A part has the queue, priority, labels and resources of the
// parent where its template leaves them out, what the parent needs, and is held
// if the parent is.
//
// INVALID_ARGUMENT with one violation for each thing wrong, all at once; each
// names what a person wrote, such as "compare.arms[1].set.encoding.name" or
// "compare.run.training.steps", once for all parts that have it.
absl::StatusOr<Expansion> Expand(ordo::jobs::v1::JobSpec spec,
                                 const PartFillers& fillers = {});

}  // namespace ordo::services::spec

#endif  // ORDO_SERVICES_SPEC_EXPAND_H_
