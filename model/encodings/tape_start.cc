#include "model/encodings/tape_start.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ATen/TensorOperators.h"
#include "ATen/ops/embedding.h"
#include "ATen/ops/from_blob.h"
#include "ATen/ops/ones_like.h"
#include "ATen/ops/stack.h"
#include "ATen/ops/where.h"
#include "base/random/random.h"
#include "c10/util/Exception.h"
#include "model/catalog/catalog.h"
#include "model/catalog/entries.h"
#include "model/encodings/position_limit.h"
#include "model/encodings/rotary.h"
#include "model/encodings/rotary_scaling.h"

namespace ordo::model::encodings {
namespace {

using ordo::training::v1::Component;

constexpr double kPi = 3.14159265358979323846;
constexpr double kRopeBase = 10000.0;
constexpr char kYarn[] = "yarn";

// The same rotations at every length: rope and its fixed scalings, and random
// Fourier features (Rahimi and Recht 2007), whose frequencies are normal.
class RotatedStart : public TapeStart {
 public:
  RotatedStart(Rotation rotation, const TapeForm& form)
      : rotation_(std::move(rotation)), form_(form) {}

  at::Tensor State(const Pass& pass, c10::ScalarType dtype) const override {
    return form_.FromComplex(RotaryTable(rotation_, pass.positions_BT, dtype));
  }

 private:
  const Rotation rotation_;
  const TapeForm& form_;
};

class YarnStart : public TapeStart {
 public:
  // `trained` [P]: the frequencies of the authors' code; undefined otherwise.
  YarnStart(Component yarn, at::Tensor trained, const TapeForm& form)
      : yarn_(std::move(yarn)),
        trained_(std::move(trained)),
        limit_(catalog::Params(yarn_.params()).Integer("trained_length")),
        form_(form) {}

  at::Tensor State(const Pass& pass, c10::ScalarType dtype) const override {
    const std::vector<int64_t> lengths = Lengths(pass);
    if (trained_.defined())
      return form_.FromComplex(Table(lengths, pass, dtype));
    std::vector<Rotation> rotations;
    for (const int64_t length : lengths) {
      rotations.push_back(TapeYarnRotation(yarn_, 2 * form_.pairs(), length));
    }
    return form_.FromComplex(RotaryTable(rotations, pass.positions_BT, dtype));
  }

  int64_t CachedLength() const override { return limit_; }

 private:
  at::Tensor Table(const std::vector<int64_t>& lengths, const Pass& pass,
                   c10::ScalarType dtype) const {
    std::vector<at::Tensor> frequencies;
    std::vector<double> factors;
    for (const int64_t length : lengths) {
      const TrainedRotation rotation =
          ReleasedYarnRotation(yarn_, trained_, length);
      frequencies.push_back(rotation.frequencies.view({1, 1, -1}));
      factors.push_back(rotation.attention_factor);
    }
    return RotaryTable(at::stack(frequencies), factors, pass.positions_BT,
                       dtype);
  }

  std::vector<int64_t> Lengths(const Pass& pass) const {
    std::vector<int64_t> lengths = VisibleSpans(pass);
    const bool continues =
        pass.positions_BS.size(1) > pass.positions_BT.size(1);
    for (const int64_t length : lengths) {
      TORCH_CHECK(!continues || length <= limit_,
                  "tape over yarn, positions that span ", length,
                  ": past yarn's trained_length of ", limit_,
                  " the states of earlier tokens depend on the length: they "
                  "cannot be cached");
    }
    return lengths;
  }

  const Component yarn_;
  const at::Tensor trained_;
  const int64_t limit_;
  const TapeForm& form_;
};

class LearnedStart : public TapeStart {
 public:
  explicit LearnedStart(at::Tensor table_NW) : table_NW_(std::move(table_NW)) {}

  at::Tensor State(const Pass& pass, c10::ScalarType dtype) const override {
    CheckPositions(pass.PositionsOnHost(), table_NW_.size(0),
                   "raise max_length");
    return at::embedding(table_NW_, pass.positions_BT).unsqueeze(1).to(dtype);
  }

 private:
  const at::Tensor table_NW_;
};

Rotation RandomRotation(const catalog::Params& params, int64_t pairs) {
  base::RandomSequence random(
      static_cast<uint64_t>(params.Integer("start_seed")),
      "init/tape.frequencies");
  Rotation rotation;
  for (int64_t pair = 0; pair < pairs; ++pair) {
    rotation.frequencies.push_back(params.Number("start_std") *
                                   random.Normal());
  }
  return rotation;
}

// 0.1 ln(s) + 1.
double Growth(double scale) { return 0.1 * std::log(scale) + 1.0; }

}  // namespace

Rotation TapeYarnRotation(const Component& yarn, int64_t channels,
                          int64_t length) {
  const catalog::Params params(yarn.params());
  const double scale = static_cast<double>(length) /
                       static_cast<double>(params.Integer("trained_length"));
  if (scale <= 1.0) {
    return {GeometricFrequencies(params.Number("base"), channels)};
  }
  Component scaled = yarn;
  (*scaled.mutable_params())["factor"].set_number_value(scale);
  return RotationOf(scaled, channels, length);
}

TrainedRotation ReleasedYarnRotation(const Component& yarn,
                                     const at::Tensor& frequencies,
                                     int64_t length) {
  const catalog::Params params(yarn.params());
  const auto trained = static_cast<double>(params.Integer("trained_length"));
  const at::Tensor plain = frequencies.to(at::kDouble);
  const double scale = static_cast<double>(length) / trained;
  if (scale <= 1.0) return {plain, Growth(params.Number("factor"))};
  const double fast = params.Number("beta_fast");
  const double slow = params.Number("beta_slow");
  const at::Tensor turns = plain * (trained / (2.0 * kPi));
  const at::Tensor kept = ((turns - slow) / (fast - slow)).clamp(0.0, 1.0);
  return {plain * (kept + (1.0 - kept) / scale), Growth(scale)};
}

std::vector<int64_t> VisibleSpans(const Pass& pass) {
  const at::Tensor ids = pass.PositionsOnHost().to(at::kLong);
  const at::Tensor seen =
      pass.seen_BS.defined() ? pass.seen_BS : at::ones_like(ids, at::kBool);
  constexpr int64_t kFar = std::numeric_limits<int64_t>::max() / 4;
  const at::Tensor last = at::where(seen, ids, -kFar).amax(1);
  const at::Tensor first = at::where(seen, ids, kFar).amin(1);
  const at::Tensor spans = (last - first + 1).clamp_min(1).contiguous();
  const auto* begin = spans.const_data_ptr<int64_t>();
  return {begin, begin + spans.numel()};
}

std::unique_ptr<TapeStart> MakeTapeStart(const Component& tape,
                                         const ModelShape& shape,
                                         const TapeForm& form,
                                         parameters::ParameterSet* parameters) {
  const catalog::Params params(tape.params());
  const std::string start = params.String("start");
  if (start == "learned") {
    return std::make_unique<LearnedStart>(parameters->Add(
        shape.scope + "tape.start.weight",
        {params.Integer("max_length"), form.width()}, {form.unit_std()}));
  }
  if (start == "random_fourier") {
    return std::make_unique<RotatedStart>(RandomRotation(params, form.pairs()),
                                          form);
  }
  if (tape.with_size() == 0) {
    return std::make_unique<RotatedStart>(
        Rotation{GeometricFrequencies(kRopeBase, 2 * form.pairs())}, form);
  }
  const Component& rotary = tape.with(0);
  if (rotary.name() == kYarn) {
    at::Tensor trained;
    if (catalog::TrainsFrequencies(tape)) {
      std::vector<double> plain = GeometricFrequencies(
          catalog::Params(rotary.params()).Number("base"), 2 * form.pairs());
      trained = parameters->Add(
          shape.scope + "tape.start.frequencies",
          at::from_blob(plain.data(), {form.pairs()}, at::kDouble));
    }
    return std::make_unique<YarnStart>(rotary, trained, form);
  }
  return std::make_unique<RotatedStart>(
      RotationOf(rotary, 2 * form.pairs(), /*length=*/1), form);
}

}  // namespace ordo::model::encodings
