#ifndef ORDO_MODEL_CATALOG_ROTARY_SHAPE_H_
#define ORDO_MODEL_CATALOG_ROTARY_SHAPE_H_

#include "model/catalog/catalog.h"

// What entries of the rotary family ask of the model and of what stands `with`
// them, and their counts; each is a ShapeCheck, a ParameterCount or a
// LengthLimit of catalog.h.

namespace ordo::model::catalog {

void CheckRotary(std::string_view field,
                 const ordo::training::v1::Component& component,
                 const ModelShape& shape,
                 std::vector<base::FieldViolation>* violations);
void CheckRopeBias(std::string_view field,
                   const ordo::training::v1::Component& component,
                   const ModelShape& shape,
                   std::vector<base::FieldViolation>* violations);
void CheckRamps(std::string_view field,
                const ordo::training::v1::Component& component,
                const ModelShape& shape,
                std::vector<base::FieldViolation>* violations);
void CheckLlama3(std::string_view field,
                 const ordo::training::v1::Component& component,
                 const ModelShape& shape,
                 std::vector<base::FieldViolation>* violations);
void CheckLongRope(std::string_view field,
                   const ordo::training::v1::Component& component,
                   const ModelShape& shape,
                   std::vector<base::FieldViolation>* violations);
void CheckMixedBase(std::string_view field,
                    const ordo::training::v1::Component& component,
                    const ModelShape& shape,
                    std::vector<base::FieldViolation>* violations);
void CheckXpos(std::string_view field,
               const ordo::training::v1::Component& component,
               const ModelShape& shape,
               std::vector<base::FieldViolation>* violations);
void CheckLiere(std::string_view field,
                const ordo::training::v1::Component& component,
                const ModelShape& shape,
                std::vector<base::FieldViolation>* violations);

int64_t CountRopeBias(const ordo::training::v1::Component& component,
                      const ModelShape& shape);
int64_t CountLiere(const ordo::training::v1::Component& component,
                   const ModelShape& shape);

int64_t LimitXpos(const ordo::training::v1::Component& component);

}  // namespace ordo::model::catalog

#endif  // ORDO_MODEL_CATALOG_ROTARY_SHAPE_H_
