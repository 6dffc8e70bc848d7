#include <cmath>
#include <memory>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/ops/cat.h"
#include "ATen/ops/from_blob.h"
#include "kernels/torch/launch.h"
#include "model/catalog/catalog.h"
#include "model/catalog/entries.h"
#include "model/encodings/position_limit.h"
#include "model/encodings/registry.h"
#include "model/encodings/rotary.h"

// xPos (Sun et al. 2022, arXiv:2212.10554, equation 17): rope whose q shrinks
// and whose k grows with the position, so that a pair's product decays by
// zeta_f^(distance / sigma), zeta_f = (2f + 0.4 R) / (1.4 R).

namespace ordo::model::encodings {
namespace {

struct XposOptions {
  RotaryOptions rotary;
  // sigma.
  double scale_base = 0.0;
  // Where q and k keep their size; it cancels in their product.
  int64_t centre = 0;
  // Position ids are below it.
  int64_t limit = 0;
};

class Xpos : public Encoding {
 public:
  explicit Xpos(const XposOptions& options) : options_(options) {}

  // Tables of q and of k.
  Carried Start(const at::Tensor& x_BTC, const Pass& pass) const override {
    CheckPositions(pass.PositionsOnHost(), options_.limit,
                   "xpos's factors leave fp32 there; raise scale_base");
    const at::Tensor offset = pass.positions_BT - options_.centre;
    const Rotation rotation{RotaryFrequencies(options_.rotary)};
    const at::Tensor turn =
        RotaryTable(rotation, pass.positions_BT, at::kDouble);
    const at::Tensor size =
        (offset.to(at::kDouble).unsqueeze(1).unsqueeze(-1) * LogZeta(offset))
            .exp();
    // Once for real parts, once for imaginary ones.
    const at::Tensor scale = at::cat({size, size}, -1);
    const auto dtype = x_BTC.scalar_type();
    return {{(turn * scale).to(dtype), (turn / scale).to(dtype)}, {}};
  }

  void TransformQK(const LayerInput& input, at::Tensor* q_BHTD,
                   at::Tensor* k_BGTD) const override {
    *q_BHTD = Rotate(options_.rotary, input.carried.tensors[0], *q_BHTD);
    *k_BGTD = Rotate(options_.rotary, input.carried.tensors[1], *k_BGTD);
  }

 private:
  // ln(zeta_f) / sigma of each pair, on the device of `other`.
  at::Tensor LogZeta(const at::Tensor& other) const {
    const auto channels = static_cast<double>(options_.rotary.channels);
    std::vector<double> logs(options_.rotary.channels / 2);
    for (size_t f = 0; f < logs.size(); ++f) {
      const double zeta =
          (2.0 * static_cast<double>(f) + 0.4 * channels) / (1.4 * channels);
      logs[f] = std::log(zeta) / options_.scale_base;
    }
    return kernels::torch::CopyTo(
        at::from_blob(logs.data(), {static_cast<int64_t>(logs.size())},
                      at::kDouble)
            .clone(),
        other.device());
  }

  const XposOptions options_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Encoding>> MakeXpos(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* /*parameters*/) {
  const catalog::Params params(component.params());
  XposOptions options;
  options.rotary = RotaryFromComponent(component, shape);
  options.scale_base = params.Number("scale_base");
  options.centre = params.Integer("centre");
  options.limit = options.centre + catalog::XposReach(options.scale_base) + 1;
  return std::make_unique<Xpos>(options);
}

}  // namespace ordo::model::encodings
