#ifndef ORDO_MODEL_CATALOG_RESOLVE_DATA_H_
#define ORDO_MODEL_CATALOG_RESOLVE_DATA_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "model/catalog/catalog.h"
#include "model/catalog/fields.h"
#include "proto/ordo/training/v1/spec.pb.h"

// What a model is trained on, resolved as in resolve.h, and what rows of a
// task ask of the model.

namespace ordo::model::catalog {

// The task's entry, nullptr when it is not known.
const Entry* ResolveData(std::string_view field, ordo::training::v1::Data* data,
                         Violations* violations);

// Tokens of a task with these parameters; that are not `valid` do not say it.
// 0: not known. `task` may be null.
int VocabularyIfKnown(const Entry* task, bool valid, const ParamMap& params);

// Rows of a task, and the tokens that the encoding has room for.
struct AskedRows {
  const Entry& task;
  // Path of the parameters, which are resolved.
  std::string field;
  const ParamMap& params;
  // 0: none, or not known.
  int64_t limit = 0;
};
// Appends a violation for rows that are longer: of each of `lengths` that is
// too long, otherwise of the parameter to lower. That is the first number that
// can by itself make rows short enough, or else the one that shortens them
// most.
void RefuseLongRows(const AskedRows& rows, Violations* violations);

// Documents that see nothing of each other, in rows so long that `encoding`
// depends on their length: none would be treated as it is alone. `task` is that
// of `data`; all are resolved.
void RefuseDocumentsApart(const Entry& task,
                          const ordo::training::v1::Data& data,
                          const ordo::training::v1::Component& encoding,
                          Violations* violations);

// A model that sees what comes later learns nothing from next tokens. `task` is
// that of `data`, both resolved.
void RefuseNextTokens(const Entry& task, const ordo::training::v1::Data& data,
                      const ordo::training::v1::Model& model,
                      Violations* violations);

}  // namespace ordo::model::catalog

#endif  // ORDO_MODEL_CATALOG_RESOLVE_DATA_H_
