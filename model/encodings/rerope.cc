#include <memory>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/ops/where.h"
#include "model/catalog/catalog.h"
#include "model/encodings/registry.h"
#include "model/encodings/relative.h"
#include "model/encodings/rotary.h"

// ReRoPE (Su 2023, kexue.fm/archives/9708): rope over a clipped distance. With
// delta = i - j and the window w, the angle's factor is delta where |delta| <
// w, and w + (|delta| - w) / k with delta's sign elsewhere: `rerope` has k
// without bound, `leaky_rerope` a finite one. Exact, by a product for each
// case: beyond the window that is rope at positions i / k + w (1 - 1 / k) and j
// / k.

namespace ordo::model::encodings {
namespace {

class ReRope : public Encoding {
 public:
  // `rate` is 1 / k.
  ReRope(const RotaryOptions& options, double window, double rate)
      : options_(options),
        rotation_({RotaryFrequencies(options)}),
        window_(window),
        rate_(rate) {}

  // Of queries tables within the window, past it, and for keys after the query,
  // the last only where there are any; of keys within the window and past it.
  Carried Start(const at::Tensor& x_BTC, const Pass& pass) const override {
    const auto table = [&](const at::Tensor& positions) {
      return RotaryTable(rotation_, positions, x_BTC.scalar_type());
    };
    const at::Tensor q = pass.positions_BT.to(at::kDouble);
    const at::Tensor k = pass.positions_BS.to(at::kDouble);
    const double offset = window_ * (1.0 - rate_);
    Carried carried;
    carried.queries = {table(q), table(q * rate_ + offset)};
    carried.keys = {table(k), table(k * rate_)};
    if (static_cast<double>(pass.ahead) >= window_) {
      carried.queries.push_back(table(q * rate_ - offset));
    }
    return carried;
  }

  // The cache keeps k unturned: past the window it turns otherwise than within.
  at::Tensor Product(const ScoresInput& input) const override {
    const Carried& carried = input.layer.carried;
    const auto turned = [&](const at::Tensor& q, const at::Tensor& k) {
      return ScaledProduct(Rotate(options_, q, input.q_BHTD),
                           Rotate(options_, k, input.k_BHSD));
    };
    const at::Tensor distance = Distances(input.layer.pass);
    const at::Tensor product = at::where(
        distance.lt(window_), turned(carried.queries[0], carried.keys[0]),
        turned(carried.queries[1], carried.keys[1]));
    if (carried.queries.size() < 3) return product;
    return at::where(distance.gt(-window_), product,
                     turned(carried.queries[2], carried.keys[1]));
  }

  std::optional<kernels::torch::Terms> KernelTerms(
      const ScoresInput& input) const override {
    const Carried& carried = input.layer.carried;
    if (carried.queries.size() > 2) return {};
    kernels::torch::Terms terms;
    terms.far_from = static_cast<int64_t>(window_);
    const auto turn = [&](const at::Tensor& table, const at::Tensor& x) {
      return Rotate(options_, table, x);
    };
    terms.inputs[kernels::attention::kQ] =
        turn(carried.queries[0], input.q_BHTD);
    terms.inputs[kernels::attention::kK] = turn(carried.keys[0], input.k_BHSD);
    terms.inputs[kernels::attention::kFarQ] =
        turn(carried.queries[1], input.q_BHTD);
    terms.inputs[kernels::attention::kFarK] =
        turn(carried.keys[1], input.k_BHSD);
    return terms;
  }

 private:
  const RotaryOptions options_;
  const Rotation rotation_;
  const double window_;
  const double rate_;
};

absl::StatusOr<std::unique_ptr<Encoding>> MakeWithRate(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    double rate) {
  const auto window = static_cast<double>(
      catalog::Params(component.params()).Integer("window"));
  return std::make_unique<ReRope>(RotaryFromComponent(component, shape), window,
                                  rate);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Encoding>> MakeReRope(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* /*parameters*/) {
  return MakeWithRate(component, shape, 0.0);
}

absl::StatusOr<std::unique_ptr<Encoding>> MakeLeakyReRope(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* /*parameters*/) {
  const double leak = catalog::Params(component.params()).Number("leak");
  return MakeWithRate(component, shape, 1.0 / leak);
}

}  // namespace ordo::model::encodings
