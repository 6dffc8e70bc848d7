#include <memory>

#include "model/encodings/factories.h"
#include "model/encodings/rotary.h"

// Rotary encoding (Su et al. 2021): q and k turn by position * frequency, so
// that their product depends on the distance only.

namespace ordo::model::encodings {
namespace {

class Rope : public Encoding {
 public:
  explicit Rope(const RotaryOptions& options) : options_(options) {}

  Carried Start(const at::Tensor& x_BTC, const Pass& pass) const override {
    return {{RotaryTable(options_, pass.positions_BT, x_BTC.scalar_type())},
            {}};
  }

  void TransformQK(const LayerInput& input, at::Tensor* q_BHTD,
                   at::Tensor* k_BGTD) const override {
    const at::Tensor& table = input.carried.tensors[0];
    *q_BHTD = Rotate(options_, table, *q_BHTD);
    *k_BGTD = Rotate(options_, table, *k_BGTD);
  }

 private:
  const RotaryOptions options_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Encoding>> MakeRope(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* /*parameters*/) {
  return std::make_unique<Rope>(RotaryFromComponent(component, shape));
}

}  // namespace ordo::model::encodings
