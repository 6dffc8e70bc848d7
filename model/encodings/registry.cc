#include "model/encodings/registry.h"

#include "base/status/details.h"
#include "base/status/status.h"
#include "model/catalog/catalog.h"
#include "model/encodings/factories.h"

namespace ordo::model::encodings {

const std::vector<Row>& Registry() {
  static const auto* const rows = new std::vector<Row>{
      {"none", MakeNone},
      {"rope", MakeRope},
      {"tape", MakeTape},
  };
  return *rows;
}

absl::StatusOr<std::unique_ptr<Encoding>> Make(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters) {
  ordo::training::v1::Component resolved = component;
  std::vector<base::FieldViolation> violations;
  catalog::ResolveComponent(catalog::Kind::kEncoding, "encoding", &resolved,
                            &violations);
  if (violations.empty()) {
    catalog::CheckHeadWidth("encoding", resolved, shape.head_width(),
                            &violations);
  }
  ORDO_RETURN_IF_ERROR(base::InvalidFields(violations));
  for (const Row& row : Registry()) {
    if (row.name == resolved.name()) {
      return row.make(resolved, shape, parameters);
    }
  }
  return absl::InternalError("encoding " + resolved.name() +
                             " is in the catalogue but not in the registry");
}

}  // namespace ordo::model::encodings
