#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/ops/matmul.h"
#include "ATen/ops/softplus.h"
#include "model/catalog/catalog.h"
#include "model/encodings/registry.h"
#include "model/encodings/relative.h"

// DA-Transformer (Wu et al. 2021, arXiv:2010.06925, equations 3 to 5): the
// distance, through a learned sigmoid of each head, scales what is positive of
// the product of q and k.

namespace ordo::model::encodings {
namespace {

class DaTransformer : public Encoding {
 public:
  struct Layer {
    // v and w, [H].
    at::Tensor offset_H;
    at::Tensor slope_H;
  };

  DaTransformer(bool causal, std::vector<Layer> layers)
      : causal_(causal), layers_(std::move(layers)) {}

  // relu(q . k) (1 + e^v) / (1 + e^(v - w |i - j|)) / sqrt(D).
  at::Tensor Product(const ScoresInput& input) const override {
    const auto wide =
        input.q_BHTD.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    const at::Tensor weight =
        Weight(input.layer.layer, Distances(input.layer.pass).abs().to(wide));
    const at::Tensor product =
        at::matmul(input.q_BHTD, input.k_BHSD.transpose(2, 3));
    return product.relu() * weight.to(product.scalar_type()) *
           (1.0 / std::sqrt(static_cast<double>(input.q_BHTD.size(3))));
  }

  std::optional<kernels::torch::Terms> KernelTerms(
      const ScoresInput& input) const override {
    const Pass& pass = input.layer.pass;
    kernels::torch::Terms terms;
    terms.reach = pass.reach;
    terms.rectified = true;
    terms.inputs[kernels::attention::kMultiplier] =
        Weight(input.layer.layer,
               TableDistances(pass.reach, causal_, pass.positions_BS)
                   .abs()
                   .to(at::kFloat)
                   .view({1, 1, 1, -1}));
    return terms;
  }

 private:
  // For each head, of distances [1|B,1,*,*].
  at::Tensor Weight(int layer, const at::Tensor& distance) const {
    const auto wide = distance.scalar_type();
    const at::Tensor offset =
        layers_[layer].offset_H.to(wide).view({1, -1, 1, 1});
    const at::Tensor slope =
        layers_[layer].slope_H.to(wide).view({1, -1, 1, 1});
    return (at::softplus(offset) - at::softplus(offset - slope * distance))
        .exp();
  }

  const bool causal_;
  const std::vector<Layer> layers_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Encoding>> MakeDaTransformer(
    const ordo::training::v1::Component& /*component*/, const ModelShape& shape,
    parameters::ParameterSet* parameters) {
  constexpr double kInitialStd = 0.1;
  std::vector<DaTransformer::Layer> layers(shape.layers);
  for (const int layer : shape.ActingLayers()) {
    const auto add = [&](const std::string& name) {
      return parameters->Add(LayerScope(layer) + "da." + name, {shape.heads},
                             {kInitialStd});
    };
    layers[layer] = {add("offset"), add("slope")};
  }
  return std::make_unique<DaTransformer>(shape.causal, std::move(layers));
}

}  // namespace ordo::model::encodings
