#include "model/encodings/tape_form.h"

#include <cmath>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/ops/cat.h"
#include "ATen/ops/stack.h"

namespace ordo::model::encodings {
namespace {

constexpr double kPi = 3.14159265358979323846;

// The channels that turn, and those that stay: undefined if all turn.
struct Split {
  at::Tensor turning;
  at::Tensor staying;
};

Split SplitChannels(const at::Tensor& x, int64_t turning) {
  const int64_t width = x.size(-1);
  if (turning == width) return {x, {}};
  return {x.narrow(-1, 0, turning), x.narrow(-1, turning, width - turning)};
}

at::Tensor Join(std::vector<at::Tensor> turned, const at::Tensor& staying) {
  if (staying.defined()) turned.push_back(staying);
  return at::cat(turned, -1);
}

// The channels [*,R] as [*,size,R/size], each row one of a block's channels.
at::Tensor InRows(const at::Tensor& x, PairLayout layout, int64_t size) {
  const int64_t blocks = x.size(-1) / size;
  if (layout == PairLayout::kHalfSplit) {
    return x.unflatten(-1, {size, blocks});
  }
  return x.unflatten(-1, {blocks, size}).transpose(-1, -2);
}

class ComplexForm : public TapeForm {
 public:
  explicit ComplexForm(const RotaryOptions& options) : options_(options) {}

  int64_t pairs() const override { return options_.channels / 2; }
  int64_t width() const override { return options_.channels; }
  double unit_std() const override { return std::sqrt(0.5); }

  at::Tensor FromComplex(const at::Tensor& table) const override {
    return table;
  }

  at::Tensor Turn(const at::Tensor& state_BHTW,
                  const at::Tensor& x_BHTD) const override {
    return Rotate(options_, state_BHTW, x_BHTD);
  }
  void TurnBoth(const at::Tensor& state_BHTW, at::Tensor* q_BHTD,
                at::Tensor* k_BHTD) const override {
    RotateBoth(options_, state_BHTW, q_BHTD, k_BHTD);
  }

 private:
  const RotaryOptions options_;
};

class HalvesForm : public TapeForm {
 public:
  explicit HalvesForm(const RotaryOptions& options) : options_(options) {}

  int64_t pairs() const override { return options_.channels / 2; }
  int64_t width() const override { return 2 * options_.channels; }
  double unit_std() const override { return std::sqrt(0.5); }

  at::Tensor FromComplex(const at::Tensor& table) const override {
    const std::vector<at::Tensor> part = table.chunk(2, -1);
    return at::cat({part[0], part[0], part[1], part[1]}, -1);
  }

  at::Tensor Turn(const at::Tensor& state_BHTW,
                  const at::Tensor& x_BHTD) const override {
    const Split x =
        SplitChannels(x_BHTD.to(state_BHTW.scalar_type()), options_.channels);
    const std::vector<at::Tensor> half =
        InRows(x.turning, options_.layout, 2).unbind(-2);
    const std::vector<at::Tensor> state = state_BHTW.chunk(4, -1);
    const at::Tensor &cos1 = state[0], &cos2 = state[1], &sin1 = state[2],
                     &sin2 = state[3];
    return Join({half[0] * cos1 - half[1] * sin1,
                 half[0] * sin2 + half[1] * cos2},
                x.staying)
        .to(x_BHTD.scalar_type());
  }

 private:
  const RotaryOptions options_;
};

class BlockForm : public TapeForm {
 public:
  BlockForm(const RotaryOptions& options, const TapeBlock& block)
      : options_(options), block_(block) {}

  int64_t pairs() const override { return blocks() * block_.columns / 2; }
  int64_t width() const override { return options_.channels * block_.columns; }
  double unit_std() const override {
    return 1.0 / std::sqrt(static_cast<double>(block_.columns));
  }
  double query_factor(int64_t head_width) const override {
    const int64_t width =
        head_width - options_.channels + blocks() * block_.columns;
    return std::sqrt(static_cast<double>(width) /
                     static_cast<double>(head_width));
  }

  at::Tensor FromComplex(const at::Tensor& table) const override {
    const std::vector<at::Tensor> part = table.chunk(2, -1);
    const double size = std::sqrt(2.0 / static_cast<double>(block_.columns));
    std::vector<at::Tensor> rows;
    for (int64_t row = 0; row < block_.rows; ++row) {
      const double phase =
          kPi * static_cast<double>(row) / static_cast<double>(block_.rows);
      const double re = size * std::cos(phase), im = size * std::sin(phase);
      const at::Tensor pairs = at::stack(
          {part[0] * re - part[1] * im, part[0] * im + part[1] * re}, -1);
      // [*,blocks,D].
      rows.push_back(pairs.flatten(-2).unflatten(-1, {blocks(), -1}));
    }
    return at::stack(rows, -2).flatten(-3);
  }

  at::Tensor Turn(const at::Tensor& state_BHTW,
                  const at::Tensor& x_BHTD) const override {
    const Split x =
        SplitChannels(x_BHTD.to(state_BHTW.scalar_type()), options_.channels);
    // [B,H,T,blocks,L,1].
    const at::Tensor of_block = InRows(x.turning, options_.layout, block_.rows)
                                    .transpose(-1, -2)
                                    .unsqueeze(-1);
    const at::Tensor state =
        state_BHTW.unflatten(-1, {blocks(), block_.rows, block_.columns});
    return Join({(state * of_block).sum(-2).flatten(-2)}, x.staying)
        .to(x_BHTD.scalar_type());
  }

 private:
  int64_t blocks() const { return options_.channels / block_.rows; }

  const RotaryOptions options_;
  const TapeBlock block_;
};

}  // namespace

std::unique_ptr<TapeForm> MakeComplexForm(const RotaryOptions& options) {
  return std::make_unique<ComplexForm>(options);
}

std::unique_ptr<TapeForm> MakeHalvesForm(const RotaryOptions& options) {
  return std::make_unique<HalvesForm>(options);
}

std::unique_ptr<TapeForm> MakeBlockForm(const RotaryOptions& options,
                                        const TapeBlock& block) {
  return std::make_unique<BlockForm>(options, block);
}

}  // namespace ordo::model::encodings
