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

  // Tables of q and k within the window, then those past it, then q's for keys
  // after the query; the last only where there are any.
  Carried Start(const at::Tensor& x_BTC, const Pass& pass) const override {
    const auto table = [&](const at::Tensor& positions) {
      return RotaryTable(rotation_, positions, x_BTC.scalar_type());
    };
    const at::Tensor q = pass.positions_BT.to(at::kDouble);
    const at::Tensor k = pass.positions_BS.to(at::kDouble);
    const double offset = window_ * (1.0 - rate_);
    Carried carried;
    carried.tensors = {table(q), table(k), table(q * rate_ + offset),
                       table(k * rate_)};
    const at::Tensor ahead = Distances(pass).le(-window_);
    if (ahead.logical_and(pass.visible.get()).any().item<bool>()) {
      carried.tensors.push_back(table(q * rate_ - offset));
    }
    return carried;
  }

  // The cache keeps k unturned: past the window it turns otherwise than within.
  at::Tensor Product(const ScoresInput& input) const override {
    const std::vector<at::Tensor>& tables = input.layer.carried.tensors;
    const auto turned = [&](size_t q, size_t k) {
      return ScaledProduct(Rotate(options_, tables[q], input.q_BHTD),
                           Rotate(options_, tables[k], input.k_BHSD));
    };
    const at::Tensor distance = Distances(input.layer.pass);
    const at::Tensor product =
        at::where(distance.lt(window_), turned(0, 1), turned(2, 3));
    if (tables.size() < 5) return product;
    return at::where(distance.gt(-window_), product, turned(4, 3));
  }

  std::optional<kernels::torch::Terms> KernelTerms(
      const ScoresInput& input) const override {
    const std::vector<at::Tensor>& tables = input.layer.carried.tensors;
    if (tables.size() > 4) return {};
    kernels::torch::Terms terms;
    terms.far_from = static_cast<int64_t>(window_);
    const auto turn = [&](size_t table, const at::Tensor& x) {
      return Rotate(options_, tables[table], x);
    };
    terms.inputs[kernels::attention::kQ] = turn(0, input.q_BHTD);
    terms.inputs[kernels::attention::kK] = turn(1, input.k_BHSD);
    terms.inputs[kernels::attention::kFarQ] = turn(2, input.q_BHTD);
    terms.inputs[kernels::attention::kFarK] = turn(3, input.k_BHSD);
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
