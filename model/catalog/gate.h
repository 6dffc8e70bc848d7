#ifndef ORDO_MODEL_CATALOG_GATE_H_
#define ORDO_MODEL_CATALOG_GATE_H_

#include <cstdint>
#include <string_view>

#include "model/catalog/fields.h"
#include "proto/ordo/training/v1/spec.pb.h"

// What a gate asks, resolved as in resolve.h.

namespace ordo::model::catalog {

// How an evaluation may grow in a gate.
struct Growth {
  // 0: it is a fixed set.
  int64_t max_samples = 0;
  // Of each sample.
  int64_t items_per_sample = 1;

  // Most items; 0: a fixed set.
  int64_t budget() const { return max_samples * items_per_sample; }
};

// Whether a task can be asked for more items, each of which stands alone.
bool MakesItems(std::string_view task);

// That of a resolved evaluation in a gate with this budget (Gate.max_items; 0:
// none): as many whole samples as it allows. What MakesItems does not hold of
// is a fixed set.
Growth GrowthOf(const ordo::training::v1::Evaluation& evaluation,
                int64_t max_items);

// All but the references, and whether it has any power. `evaluations` are
// resolved.
void ResolveGate(
    std::string_view field,
    const google::protobuf::RepeatedPtrField<ordo::training::v1::Evaluation>&
        evaluations,
    ordo::training::v1::Gate* gate, Violations* violations);

}  // namespace ordo::model::catalog

#endif  // ORDO_MODEL_CATALOG_GATE_H_
