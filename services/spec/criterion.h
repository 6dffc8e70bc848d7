#ifndef ORDO_SERVICES_SPEC_CRITERION_H_
#define ORDO_SERVICES_SPEC_CRITERION_H_

#include <string>
#include <vector>

#include "base/status/details.h"
#include "google/protobuf/message.h"
#include "proto/ordo/training/v1/spec.pb.h"

namespace ordo::services::spec {

// A field that names one of several things and has no default.
struct Choice {
  std::string field;
  std::string value;
  std::vector<std::string> choices;
};
// Appends a violation unless it does.
void CheckChoice(const Choice& choice,
                 std::vector<base::FieldViolation>* violations);

// Appends what is wrong with how a message says which of two is better: by
// `metric`, the larger or the smaller by `goal`.
void CheckCriterion(const std::string& path,
                    const google::protobuf::Message& message,
                    std::vector<base::FieldViolation>* violations);

// A field that names a score.
struct MetricField {
  std::string field;
  std::string metric;
};
// Appends a violation, with the nearest name, unless the evaluation may have
// that score of a model that is trained on `trained_on`. Both are resolved.
void CheckMetric(const MetricField& named,
                 const ordo::training::v1::Evaluation& evaluation,
                 const ordo::training::v1::Data& trained_on,
                 std::vector<base::FieldViolation>* violations);

}  // namespace ordo::services::spec

#endif  // ORDO_SERVICES_SPEC_CRITERION_H_
