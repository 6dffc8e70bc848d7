#include <memory>
#include <vector>

#include "model/encodings/registry.h"
#include "model/encodings/rotary.h"

// Rotary encodings whose frequencies depend on the number of tokens n:
// `dynamic_linear`, `dynamic_ntk`, `longrope` (formulas in rotary_scaling.cc).
// All of a pass turns by the frequencies of its own n, and n is a row's largest
// visible position id + 1, whatever was seen before. A later token may change
// how keys of the past turn, so the cache keeps them unturned.

namespace ordo::model::encodings {
namespace {

using ordo::training::v1::Component;

class RopeByLength : public Encoding {
 public:
  RopeByLength(const Component& component, const RotaryOptions& options)
      : component_(component), options_(options) {}

  // Tables of the new tokens and of all.
  Carried Start(const at::Tensor& x_BTC, const Pass& pass) const override {
    std::vector<Rotation> rotations;
    for (const int64_t length : VisibleLengths(pass)) {
      rotations.push_back(RotationOf(component_, options_.channels, length));
    }
    const auto dtype = x_BTC.scalar_type();
    Carried carried;
    carried.queries = {RotaryTable(rotations, pass.positions_BT, dtype)};
    carried.keys = {RotaryTable(rotations, pass.positions_BS, dtype)};
    return carried;
  }

  at::Tensor Product(const ScoresInput& input) const override {
    const kernels::torch::Terms turned = *KernelTerms(input);
    return ScaledProduct(turned.inputs[kernels::attention::kQ],
                         turned.inputs[kernels::attention::kK]);
  }

  std::optional<kernels::torch::Terms> KernelTerms(
      const ScoresInput& input) const override {
    const Carried& carried = input.layer.carried;
    kernels::torch::Terms terms;
    terms.inputs[kernels::attention::kQ] =
        Rotate(options_, carried.queries[0], input.q_BHTD);
    terms.inputs[kernels::attention::kK] =
        Rotate(options_, carried.keys[0], input.k_BHSD);
    return terms;
  }

  at::Tensor PositionState(int /*layer*/,
                           const Carried& carried) const override {
    return carried.queries[0];
  }

 private:
  const Component component_;
  const RotaryOptions options_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Encoding>> MakeRopeByLength(
    const Component& component, const ModelShape& shape,
    parameters::ParameterSet* /*parameters*/) {
  return std::make_unique<RopeByLength>(component,
                                        RotaryFromComponent(component, shape));
}

}  // namespace ordo::model::encodings
