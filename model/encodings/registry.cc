#include "model/encodings/registry.h"

#include <algorithm>
#include <utility>

#include "base/status/details.h"
#include "base/status/status.h"
#include "model/catalog/catalog.h"
#include "model/catalog/entries.h"
#include "model/encodings/sum.h"

// The table, a row for each encoding, sorted by name: what it is called and the
// factory that makes it, declared here by its row and defined in the file of
// the encoding.
#define ORDO_ENCODINGS(ROW)                    \
  ROW(abacus, MakeAbacus)                      \
  ROW(alibi, MakeAlibi)                        \
  ROW(axial, MakeAxial)                        \
  ROW(cope, MakeCope)                          \
  ROW(da_transformer, MakeDaTransformer)       \
  ROW(deberta, MakeDeberta)                    \
  ROW(dynamic_linear, MakeRopeByLength)        \
  ROW(dynamic_ntk, MakeRopeByLength)           \
  ROW(fire, MakeFire)                          \
  ROW(grid_learned, MakeGridLearned)           \
  ROW(grid_sinusoidal, MakeGridSinusoidal)     \
  ROW(huang1, MakeHuang1)                      \
  ROW(huang2, MakeHuang2)                      \
  ROW(huang3, MakeHuang3)                      \
  ROW(huang4, MakeHuang4)                      \
  ROW(kerple_log, MakeKerpleLog)               \
  ROW(kerple_power, MakeKerplePower)           \
  ROW(leaky_rerope, MakeLeakyReRope)           \
  ROW(learned, MakeLearned)                    \
  ROW(liere, MakeLiere)                        \
  ROW(linear, MakeRope)                        \
  ROW(llama3, MakeRope)                        \
  ROW(longrope, MakeRopeByLength)              \
  ROW(none, MakeNone)                          \
  ROW(ntk, MakeRope)                           \
  ROW(partial_ntk, MakeRope)                   \
  ROW(per_layer, MakePerLayer)                 \
  ROW(random_learned, MakeRandomLearned)       \
  ROW(random_positions, MakeRandomPositions)   \
  ROW(random_rope, MakeRandomRope)             \
  ROW(random_sinusoidal, MakeRandomSinusoidal) \
  ROW(rerope, MakeReRope)                      \
  ROW(rope, MakeRope)                          \
  ROW(rope_2d, MakeRope2d)                     \
  ROW(rope_bias, MakeRopeBias)                 \
  ROW(rope_mixed_base, MakeRope)               \
  ROW(sandwich, MakeSandwich)                  \
  ROW(shaw, MakeShaw)                          \
  ROW(sinusoidal, MakeSinusoidal)              \
  ROW(t5, MakeT5)                              \
  ROW(tape, MakeTape)                          \
  ROW(tener, MakeTener)                        \
  ROW(theta, MakeRope)                         \
  ROW(transformer_xl, MakeTransformerXl)       \
  ROW(window_bias_2d, MakeWindowBias2d)        \
  ROW(xpos, MakeXpos)                          \
  ROW(yarn, MakeRope)

namespace ordo::model::encodings {

using ordo::training::v1::Component;

#define ORDO_DECLARE(name, factory) Factory factory;
ORDO_ENCODINGS(ORDO_DECLARE)
#undef ORDO_DECLARE

const std::vector<Row>& Registry() {
#define ORDO_ROW(name, factory) {#name, factory},
  static const auto* const rows =
      new std::vector<Row>{ORDO_ENCODINGS(ORDO_ROW)};
#undef ORDO_ROW
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

namespace {

// How many position ids those of a row are drawn from in evaluation; 0: they
// are counted.
int64_t NumDrawnFrom(const Component& component,
                     const catalog::EncodingTraits& traits) {
  if (!traits.draws_positions) return 0;
  const catalog::Params params(component.params());
  return params.String("eval") == "random" ? params.Integer("max_position") : 0;
}

}  // namespace

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
  return std::make_unique<Sum>(std::move(parts),
                               NumDrawnFrom(component, entry->encoding));
}

}  // namespace ordo::model::encodings
