#include <memory>
#include <utility>

#include "model/encodings/registry.h"
#include "model/encodings/rotary.h"

// Rotary encoding (Su et al. 2021, section 3.2.2): q and k turn by position *
// frequency, so that their product depends on the distance only. Serves every
// encoding whose frequencies are fixed: `linear`, `llama3`, `ntk`,
// `partial_ntk`, `rope`, `rope_mixed_base`, `theta`, `yarn`; the formulas and
// their papers are in rotary_scaling.cc.

namespace ordo::model::encodings {
namespace {

class Rope : public Encoding {
 public:
  Rope(const RotaryOptions& options, Rotation rotation)
      : options_(options), rotation_(std::move(rotation)) {}

  Carried Start(const at::Tensor& x_BTC, const Pass& pass) const override {
    return {{RotaryTable(rotation_, pass.positions_BT, x_BTC.scalar_type())},
            {}};
  }

  void TransformQK(const LayerInput& input, at::Tensor* q_BHTD,
                   at::Tensor* k_BGTD) const override {
    RotateBoth(options_, input.carried.tensors[0], q_BHTD, k_BGTD);
  }

  at::Tensor PositionState(int /*layer*/,
                           const Carried& carried) const override {
    return carried.tensors[0];
  }

 private:
  const RotaryOptions options_;
  const Rotation rotation_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Encoding>> MakeRope(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* /*parameters*/) {
  const RotaryOptions options = RotaryFromComponent(component, shape);
  return std::make_unique<Rope>(
      options, RotationOf(component, options.channels, /*length=*/1));
}

}  // namespace ordo::model::encodings
