#ifndef ORDO_MODEL_TESTING_MODELS_H_
#define ORDO_MODEL_TESTING_MODELS_H_

#include <memory>
#include <string>

#include <ATen/core/Tensor.h>

#include "model/transformer/transformer.h"
#include "proto/ordo/training/v1/component.pb.h"
#include "proto/ordo/training/v1/spec.pb.h"

// Small models for tests.

namespace ordo::model::testing {

// Resolved: 3 layers, width 16, 2 heads, MLP 24, 11 tokens.
ordo::training::v1::Model SmallModel();

// The component called `name`, with default parameters.
ordo::training::v1::Component Encoding(const std::string& name);

// The transformer, or death with the reason.
std::unique_ptr<transformer::Transformer> MakeTransformer(
    const ordo::training::v1::Model& model,
    const ordo::training::v1::Component& encoding,
    const parameters::ParameterOptions& options = {});

// SmallModel in double.
std::unique_ptr<transformer::Transformer> SmallTransformer(
    const ordo::training::v1::Component& encoding);

// Moves every parameter by normal values of standard deviation `std`, so that
// those that start at zero act.
void Randomize(const std::vector<parameters::NamedTensor>& parameters,
               double std = 0.3);

// Logits without gradients.
at::Tensor Logits(const transformer::Transformer& transformer,
                  const at::Tensor& tokens,
                  const transformer::ForwardOptions& options = {});

}  // namespace ordo::model::testing

#endif  // ORDO_MODEL_TESTING_MODELS_H_
