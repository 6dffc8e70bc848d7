#include "model/training/testing/tiny_spec.h"

#include "base/check.h"
#include "model/catalog/resolve.h"

namespace ordo::model::training::testing {

ordo::training::v1::TrainSpec TinySpec(const std::string& encoding) {
  ordo::training::v1::TrainSpec spec;
  spec.set_job("tiny");
  spec.set_attempt(1);
  spec.mutable_model()->set_layers(2);
  spec.mutable_model()->set_width(16);
  spec.mutable_model()->set_heads(2);
  spec.mutable_encoding()->set_name(encoding);
  if (encoding == "tape") {
    (*spec.mutable_encoding()->mutable_params())["position_size"]
        .set_number_value(4);
  }
  spec.mutable_data()->set_task("addition");
  (*spec.mutable_data()->mutable_params())["max_digits"].set_number_value(2);
  spec.mutable_training()->set_steps(20);
  spec.mutable_training()->set_batch_size(8);
  spec.mutable_training()->set_learning_rate(3e-3);
  spec.mutable_training()->set_log_every_steps(1);
  spec.mutable_checkpoint()->set_every_steps(5);
  auto* evaluation = spec.add_evaluations();
  evaluation->set_task("addition_grid");
  (*evaluation->mutable_params())["max_digits"].set_number_value(3);
  (*evaluation->mutable_params())["samples"].set_number_value(2);
  const auto resolved = catalog::ResolveTrainSpec(spec);
  ORDO_CHECK(resolved.ok()) << resolved.status();
  return *resolved;
}

}  // namespace ordo::model::training::testing
