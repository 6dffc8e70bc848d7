#ifndef ORDO_MODEL_CATALOG_PAIRS_H_
#define ORDO_MODEL_CATALOG_PAIRS_H_

#include <string_view>
#include <vector>

#include "base/status/details.h"
#include "proto/ordo/training/v1/component.pb.h"

namespace ordo::model::catalog {

// Appends a violation for every third encoding in a tree of accepted ones that
// acts together with two others, at whatever depth: a list `with` an encoding
// allows pairs. It stands at the name of the third and names all.
void CheckPairs(std::string_view field,
                const ordo::training::v1::Component& encoding,
                std::vector<base::FieldViolation>* violations);

}  // namespace ordo::model::catalog

#endif  // ORDO_MODEL_CATALOG_PAIRS_H_
