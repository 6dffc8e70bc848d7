#include <memory>
#include <utility>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/ops/log1p.h"
#include "ATen/ops/pow.h"
#include "model/catalog/catalog.h"
#include "model/encodings/layer_tensor.h"
#include "model/encodings/registry.h"
#include "model/encodings/relative.h"

// KERPLE (Chi, Fan, Ramadge, Rudnicky 2022, equation 5 and section 4): biases
// that are conditionally positive definite kernels of the distance, with two
// learned numbers a head.
//   kerple_log    b_h = -r1 ln(1 + r2 |i - j|)
//   kerple_power  b_h = -r1 |i - j|^r2, r2 <= 2

namespace ordo::model::encodings {
namespace {

constexpr double kLeast = 1e-2;
constexpr double kGreatestPower = 2.0;

struct KerpleOptions {
  bool power = false;
  bool per_layer = false;
};

// [H] as [H,1,1] within its bounds. A number that training has moved out of
// them acts as the bound does, and gets the bound's gradient, so that it can
// come back.
at::Tensor Bounded(const at::Tensor& r_H, const at::Tensor& like,
                   std::optional<double> greatest = {}) {
  const at::Tensor r = r_H.to(like.scalar_type()).view({-1, 1, 1});
  at::Tensor bounded = r.detach().clamp_min(kLeast);
  if (greatest.has_value()) bounded = bounded.clamp_max(*greatest);
  return r + (bounded - r.detach());
}

class Kerple : public PositionBias {
 public:
  Kerple(const KerpleOptions& options, const ModelShape& shape,
         std::vector<at::Tensor> r1, std::vector<at::Tensor> r2)
      : PositionBias(shape, options.per_layer),
        options_(options),
        r1_(std::move(r1)),
        r2_(std::move(r2)) {}

 private:
  at::Tensor Places(const Pass& pass, c10::ScalarType wide) const override {
    return Distances(pass).abs().to(wide);
  }

  at::Tensor BiasOf(const at::Tensor& places, int layer) const override {
    const at::Tensor r1 = Bounded(r1_[layer], places);
    at::Tensor growth;
    if (options_.power) {
      // LibTorch has the derivative 0 to the exponent at distance 0.
      growth = at::pow(places, Bounded(r2_[layer], places, kGreatestPower));
    } else {
      growth = at::log1p(Bounded(r2_[layer], places) * places);
    }
    return (-r1 * growth).to(r1_[layer].scalar_type());
  }

  const KerpleOptions options_;
  // By layer, each [H].
  const std::vector<at::Tensor> r1_;
  const std::vector<at::Tensor> r2_;
};

// `widths`: those of the intervals from 0 in which r1 and r2 start.
std::unique_ptr<Encoding> Make(const KerpleOptions& options,
                               std::pair<double, double> widths,
                               const ModelShape& shape,
                               parameters::ParameterSet* parameters) {
  const std::string name = options.power ? "kerple_power." : "kerple_log.";
  const auto add = [&](const std::string& r, double width) {
    LayerTensorOptions tensor;
    tensor.name = name + r;
    tensor.shape = {shape.heads};
    tensor.initial.uniform_width = width;
    tensor.per_layer = options.per_layer;
    return AddLayerTensor(tensor, shape, parameters);
  };
  std::vector<at::Tensor> r1 = add("r1", widths.first);
  return std::make_unique<Kerple>(options, shape, std::move(r1),
                                  add("r2", widths.second));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Encoding>> MakeKerpleLog(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters) {
  const catalog::Params params(component.params());
  return Make({/*power=*/false, params.Bool("per_layer")}, {2.0, 1.0}, shape,
              parameters);
}

absl::StatusOr<std::unique_ptr<Encoding>> MakeKerplePower(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters) {
  const catalog::Params params(component.params());
  return Make({/*power=*/true, params.Bool("per_layer")}, {1.0, 2.0}, shape,
              parameters);
}

}  // namespace ordo::model::encodings
