#ifndef ORDO_MODEL_CATALOG_RESOLVE_RESOURCES_H_
#define ORDO_MODEL_CATALOG_RESOLVE_RESOURCES_H_

#include <string_view>

#include "model/catalog/fields.h"
#include "proto/ordo/training/v1/spec.pb.h"

// What a task asks of machines, resolved as in resolve.h.

namespace ordo::model::catalog {

// Ranks of a training task.
inline constexpr int kMaxRanks = 1024;

// At most `max_ranks` ranks. What a job may ask of machines besides gets no
// default: where it asks for nothing the field is left out, so that releases
// that do not know it take the spec.
void ResolveResources(std::string_view field,
                      ordo::training::v1::Resources* resources,
                      Violations* violations, int max_ranks = 1);

}  // namespace ordo::model::catalog

#endif  // ORDO_MODEL_CATALOG_RESOLVE_RESOURCES_H_
