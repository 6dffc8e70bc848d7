#ifndef ORDO_MODEL_CATALOG_TESTING_MINIMAL_SPEC_H_
#define ORDO_MODEL_CATALOG_TESTING_MINIMAL_SPEC_H_

#include <functional>
#include <string>
#include <vector>

#include "base/status/details.h"
#include "model/catalog/resolve.h"
#include "proto/ordo/training/v1/spec.pb.h"

// A small training task, and what is wrong with it once it is changed.

namespace ordo::model::catalog::testing {

// The least that trains.
inline ordo::training::v1::TrainSpec Minimal() {
  ordo::training::v1::TrainSpec spec;
  spec.mutable_encoding()->set_name("rope");
  spec.mutable_data()->set_task("addition");
  spec.mutable_training()->set_steps(10);
  return spec;
}

// The fields that a change to the minimal spec makes invalid.
inline std::vector<std::string> FieldsOf(
    const std::function<void(ordo::training::v1::TrainSpec*)>& change) {
  ordo::training::v1::TrainSpec spec = Minimal();
  change(&spec);
  std::vector<std::string> fields;
  const auto resolved = ResolveTrainSpec(spec);
  for (const auto& violation : base::FieldViolations(resolved.status())) {
    fields.push_back(violation.field);
  }
  return fields;
}

inline std::string MessageOf(
    const std::function<void(ordo::training::v1::TrainSpec*)>& change) {
  ordo::training::v1::TrainSpec spec = Minimal();
  change(&spec);
  return std::string(ResolveTrainSpec(spec).status().message());
}

// Trains a model that sees what comes later on a task whose answers it can read
// in place.
inline void MakeBidirectional(ordo::training::v1::TrainSpec* spec) {
  spec->mutable_model()->set_causal(false);
  spec->mutable_data()->set_task("ruoss");
  spec->mutable_data()->clear_params();
  spec->clear_evaluations();
}

}  // namespace ordo::model::catalog::testing

#endif  // ORDO_MODEL_CATALOG_TESTING_MINIMAL_SPEC_H_
