#include <cmath>
#include <memory>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/ops/from_blob.h"
#include "model/encodings/registry.h"
#include "model/encodings/relative.h"

// ALiBi (Press, Smith, Lewis 2022, section 3): a penalty that grows with the
// distance, b_h = -m_h |i - j|.

namespace ordo::model::encodings {
namespace {

// 2^(-8h/H) for h = 1..H where H is a power of two. Otherwise the slopes of the
// next lower power P, then every other one, the first included, of those of 2P
// (the authors' code).
std::vector<double> Slopes(int heads) {
  int power = 1;
  while (2 * power <= heads) power *= 2;
  std::vector<double> slopes;
  for (int h = 1; h <= power; ++h) {
    slopes.push_back(std::exp2(-8.0 * h / power));
  }
  for (int h = 1; static_cast<int>(slopes.size()) < heads; h += 2) {
    slopes.push_back(std::exp2(-8.0 * h / (2 * power)));
  }
  return slopes;
}

class Alibi : public PositionBias {
 public:
  Alibi(const ModelShape& shape, c10::Device device)
      : PositionBias(shape, /*per_layer=*/false) {
    std::vector<double> slopes = Slopes(shape.heads);
    slopes_H11_ = at::from_blob(slopes.data(), {shape.heads, 1, 1}, at::kDouble)
                      .clone()
                      .to(device);
  }

 private:
  at::Tensor Places(const Pass& pass, c10::ScalarType wide) const override {
    return Distances(pass).abs().to(wide);
  }

  at::Tensor BiasOf(const at::Tensor& places, int /*layer*/) const override {
    return -slopes_H11_.to(places.options()) * places;
  }

  at::Tensor slopes_H11_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Encoding>> MakeAlibi(
    const ordo::training::v1::Component& /*component*/, const ModelShape& shape,
    parameters::ParameterSet* parameters) {
  return std::make_unique<Alibi>(shape, parameters->options().device);
}

}  // namespace ordo::model::encodings
