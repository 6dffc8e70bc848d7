#include "model/encodings/registry.h"

#include <algorithm>
#include <utility>

#include "base/status/details.h"
#include "base/status/status.h"
#include "model/catalog/catalog.h"
#include "model/catalog/entries.h"
#include "model/encodings/factories.h"
#include "model/encodings/sum.h"

namespace ordo::model::encodings {

using ordo::training::v1::Component;

const std::vector<Row>& Registry() {
  static const auto* const rows = new std::vector<Row>{
      {"abacus", MakeAbacus},
      {"alibi", MakeAlibi},
      {"axial", MakeAxial},
      {"cope", MakeCope},
      {"da_transformer", MakeDaTransformer},
      {"deberta", MakeDeberta},
      {"dynamic_linear", MakeRopeByLength},
      {"dynamic_ntk", MakeRopeByLength},
      {"fire", MakeFire},
      {"grid_learned", MakeGridLearned},
      {"grid_sinusoidal", MakeGridSinusoidal},
      {"huang1", MakeHuang1},
      {"huang2", MakeHuang2},
      {"huang3", MakeHuang3},
      {"huang4", MakeHuang4},
      {"kerple_log", MakeKerpleLog},
      {"kerple_power", MakeKerplePower},
      {"leaky_rerope", MakeLeakyReRope},
      {"learned", MakeLearned},
      {"liere", MakeLiere},
      {"linear", MakeRope},
      {"llama3", MakeRope},
      {"longrope", MakeRopeByLength},
      {"none", MakeNone},
      {"ntk", MakeRope},
      {"partial_ntk", MakeRope},
      {"per_layer", MakePerLayer},
      {"random_learned", MakeRandomLearned},
      {"random_positions", MakeRandomPositions},
      {"random_rope", MakeRandomRope},
      {"random_sinusoidal", MakeRandomSinusoidal},
      {"rerope", MakeReRope},
      {"rope", MakeRope},
      {"rope_2d", MakeRope2d},
      {"rope_bias", MakeRopeBias},
      {"rope_mixed_base", MakeRope},
      {"sandwich", MakeSandwich},
      {"shaw", MakeShaw},
      {"sinusoidal", MakeSinusoidal},
      {"t5", MakeT5},
      {"tape", MakeTape},
      {"tener", MakeTener},
      {"theta", MakeRope},
      {"transformer_xl", MakeTransformerXl},
      {"window_bias_2d", MakeWindowBias2d},
      {"xpos", MakeXpos},
      {"yarn", MakeRope},
  };
  return *rows;
}

absl::StatusOr<std::unique_ptr<Encoding>> Make(
    const Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters) {
  Component resolved = component;
  std::vector<base::FieldViolation> violations;
  catalog::ResolveComponent(catalog::Kind::kEncoding, "encoding", &resolved,
                            &violations);
  if (violations.empty()) {
    catalog::CheckShape("encoding", resolved, shape, &violations);
  }
  ORDO_RETURN_IF_ERROR(base::InvalidFields(violations));
  return MakeResolved(resolved, shape, parameters);
}

absl::StatusOr<std::unique_ptr<Encoding>> MakeResolved(
    const Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters) {
  const auto row = std::find_if(
      Registry().begin(), Registry().end(),
      [&](const Row& known) { return known.name == component.name(); });
  const catalog::Entry* entry =
      catalog::Find(catalog::Kind::kEncoding, component.name());
  if (row == Registry().end() || entry == nullptr) {
    return absl::InternalError("encoding " + component.name() +
                               " is in the catalogue but not in the registry");
  }
  if (!entry->encoding.sums_with || component.with().empty()) {
    return row->make(component, shape, parameters);
  }
  std::vector<std::unique_ptr<Encoding>> parts(1);
  ORDO_ASSIGN_OR_RETURN(parts[0], row->make(component, shape, parameters));
  ModelShape beside = shape;
  beside.turned = catalog::IsRotary(component.name());
  for (const Component& other : component.with()) {
    ORDO_ASSIGN_OR_RETURN(parts.emplace_back(),
                          MakeResolved(other, beside, parameters));
  }
  return std::make_unique<Sum>(std::move(parts));
}

}  // namespace ordo::model::encodings
