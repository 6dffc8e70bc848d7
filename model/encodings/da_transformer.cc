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

  explicit DaTransformer(std::vector<Layer> layers)
      : layers_(std::move(layers)) {}

  // Distances |i - j| as numbers, [1|B,1,T,S].
  Carried Start(const at::Tensor& x_BTC, const Pass& pass) const override {
    const auto wide =
        x_BTC.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    return {{Distances(pass).abs().to(wide)}, {}};
  }

  // relu(q . k) (1 + e^v) / (1 + e^(v - w |i - j|)) / sqrt(D).
  at::Tensor Product(const ScoresInput& input) const override {
    const Layer& layer = layers_[input.layer.layer];
    const at::Tensor& distance = input.layer.carried.tensors[0];
    const auto wide = distance.scalar_type();
    const at::Tensor offset = layer.offset_H.to(wide).view({1, -1, 1, 1});
    const at::Tensor slope = layer.slope_H.to(wide).view({1, -1, 1, 1});
    const at::Tensor weight =
        (at::softplus(offset) - at::softplus(offset - slope * distance)).exp();
    const at::Tensor product =
        at::matmul(input.q_BHTD, input.k_BHSD.transpose(2, 3));
    return product.relu() * weight.to(product.scalar_type()) *
           (1.0 / std::sqrt(static_cast<double>(input.q_BHTD.size(3))));
  }

 private:
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
  return std::make_unique<DaTransformer>(std::move(layers));
}

}  // namespace ordo::model::encodings
