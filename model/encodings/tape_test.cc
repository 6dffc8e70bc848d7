#include <complex>
#include <memory>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/core/grad_mode.h"
#include "ATen/ops/cat.h"
#include "ATen/ops/linear.h"
#include "gtest/gtest.h"
#include "model/encodings/registry.h"
#include "model/encodings/testing/layers.h"
#include "model/testing/models.h"
#include "model/testing/tensors.h"

// Legend: B batch, H heads, T tokens, D head width, C model width, R turning
// channels (here all), M = R / 2 frequencies, E inner width of the position
// MLP.

namespace ordo::model::encodings {
namespace {

using model::testing::Doubles;
using model::testing::Encoding;
using model::testing::GradientError;
using model::testing::Integers;
using model::testing::Logits;
using model::testing::Longs;
using model::testing::MaxDifference;
using model::testing::Normals;
using model::testing::SameBits;
using model::testing::SmallTransformer;
using ordo::training::v1::Component;
using testing::Made;
using testing::MakeRandom;
using testing::RunLayers;
using testing::Stream;

constexpr int kLayers = 3, kB = 2, kH = 3, kT = 5, kD = 8, kM = 4, kE = 7;
constexpr int kC = kH * kD;

Component Tape(int position_size = kE) {
  Component component = Encoding("tape");
  (*component.mutable_params())["position_size"].set_number_value(
      position_size);
  return component;
}

Component TapeWithout(const std::vector<std::string>& updates) {
  Component component = Tape();
  for (const std::string& update : updates) {
    (*component.mutable_params())[update].set_bool_value(false);
  }
  return component;
}

std::unique_ptr<Made> MakeRandomTape(const Component& component) {
  return MakeRandom(component, {kLayers, kC, kH});
}

Stream Through(const Made& made, const Stream& stream, bool causal = true) {
  return RunLayers(*made.encoding, kLayers, stream, causal);
}

// The state times unit phases, one per frequency.
at::Tensor Turn(const at::Tensor& state, const at::Tensor& angle_M) {
  const at::Tensor re = state.narrow(-1, 0, kM), im = state.narrow(-1, kM, kM);
  return at::cat({re * angle_M.cos() - im * angle_M.sin(),
                  re * angle_M.sin() + im * angle_M.cos()},
                 -1);
}

TEST(TapeTest, APhasePerFrequencyTurnsTheStateAndLeavesTheTokens) {
  const auto made = MakeRandomTape(Tape());
  const at::Tensor x = Normals({kB, kT, kC}, "x");
  const at::Tensor state = Normals({kB, kH, kT, kD}, "state");
  const at::Tensor angle = Doubles({kM}, {0.4, -1.3, 2.9, 0.01});
  const at::NoGradGuard no_grad;
  const Stream plain = Through(*made, {x, state});
  const Stream turned = Through(*made, {x, Turn(state, angle)});
  EXPECT_LT(MaxDifference(turned.x_BTC, plain.x_BTC), 1e-12);
  EXPECT_LT(MaxDifference(turned.state_BHTW, Turn(plain.state_BHTW, angle)),
            1e-12);
  // The state did change, so the claim above is not an empty one.
  EXPECT_GT(MaxDifference(plain.state_BHTW, state), 0.1);
}

TEST(TapeTest, PermutingTokensWithTheirStatesPermutesTheOutputs) {
  const auto made = MakeRandomTape(Tape());
  const at::Tensor x = Normals({kB, kT, kC}, "x");
  const at::Tensor state = Normals({kB, kH, kT, kD}, "state");
  const at::Tensor order = Longs({kT}, {3, 0, 4, 1, 2});
  const at::NoGradGuard no_grad;
  const Stream plain = Through(*made, {x, state}, /*causal=*/false);
  const Stream permuted =
      Through(*made, {x.index_select(1, order), state.index_select(2, order)},
              /*causal=*/false);
  EXPECT_LT(MaxDifference(permuted.x_BTC, plain.x_BTC.index_select(1, order)),
            1e-12);
  EXPECT_LT(MaxDifference(permuted.state_BHTW,
                          plain.state_BHTW.index_select(2, order)),
            1e-12);
}

// Every gradient, the attention map's through tokens and states included.
TEST(TapeTest, GradientsThroughTokensAndStatesAreRight) {
  const auto made = MakeRandomTape(Tape());
  const at::Tensor gx = Normals({kB, kT, kC}, "gx");
  const at::Tensor ge = Normals({kB, kH, kT, kD}, "ge");
  for (const double through_tokens : {0.0, 1.0}) {
    const auto loss = [&](const std::vector<at::Tensor>& in) {
      const Stream out = Through(*made, {in[0], in[1]});
      return (out.x_BTC * gx).sum() * through_tokens +
             (out.state_BHTW * ge).sum() * (1.0 - through_tokens);
    };
    EXPECT_LT(GradientError(loss, {Normals({kB, kT, kC}, "x"),
                                   Normals({kB, kH, kT, kD}, "state")}),
              1e-6)
        << through_tokens;
  }
}

TEST(TapeTest, EveryParameterHasTheRightGradient) {
  const auto made = MakeRandomTape(Tape());
  const at::Tensor x = Normals({kB, kT, kC}, "x");
  const at::Tensor state = Normals({kB, kH, kT, kD}, "state");
  const auto loss = [&] {
    return (Through(*made, {x, state}).x_BTC * Normals({kB, kT, kC}, "g"))
        .sum();
  };
  loss().backward();
  const at::NoGradGuard no_grad;
  for (const auto& parameter : made->parameters.all()) {
    const double exact = parameter.tensor.grad().flatten()[1].item<double>();
    at::Tensor value = parameter.tensor.flatten()[1];
    value.add_(1e-6);
    const double above = loss().item<double>();
    value.sub_(2e-6);
    const double below = loss().item<double>();
    value.add_(1e-6);
    EXPECT_NEAR((above - below) / 2e-6, exact, 1e-6) << parameter.name;
    EXPECT_NE(exact, 0.0) << parameter.name;
  }
}

// Equations 7 and 8 in complex numbers and plain loops.
TEST(TapeTest, UpdatesEqualThePapersEquations) {
  using Complex = std::complex<double>;
  const auto made = MakeRandomTape(Tape());
  const auto weight = [&](const std::string& name) {
    return made->parameters.Find("model.layers.1.self_attn.tape." + name +
                                 ".weight");
  };
  const at::Tensor g = weight("mix"), w1 = weight("in_proj"),
                   w2 = weight("out_proj"), gate = weight("gate_proj");
  const at::Tensor state = Normals({kB, kH, kT, kD}, "state");
  const at::Tensor attended = Normals({kB, kH, kT, kD}, "attended");
  const at::Tensor m = Normals({kB, kT, kC}, "m");
  const at::NoGradGuard no_grad;
  Carried carried = {{state}, {}};
  made->encoding->AfterAttention(1, {m, {attended}}, &carried);
  made->encoding->AfterMlp(1, m, &carried);

  const at::Tensor preactivation = at::linear(m, gate);
  const at::Tensor psi = preactivation * preactivation.sigmoid();
  const auto value = [](const at::Tensor& x, int b, int h, int t, int f) {
    return Complex(x[b][h][t][f].item<double>(),
                   x[b][h][t][f + kM].item<double>());
  };
  double worst = 0.0;
  for (int b = 0; b < kB; ++b) {
    for (int t = 0; t < kT; ++t) {
      for (int f = 0; f < kM; ++f) {
        std::vector<Complex> e(kH);
        for (int h = 0; h < kH; ++h) {
          e[h] = value(state, b, h, t, f);
          for (int j = 0; j < kH; ++j) {
            e[h] += g[h][j].item<double>() * value(attended, b, j, t, f);
          }
        }
        for (int h = 0; h < kH; ++h) {
          Complex expected = e[h];
          for (int i = 0; i < kE; ++i) {
            Complex inner = 0.0;
            for (int j = 0; j < kH; ++j) {
              inner += w1[i][j].item<double>() * e[j];
            }
            expected +=
                w2[h][i].item<double>() * psi[b][t][i].item<double>() * inner;
          }
          worst = std::max(worst, std::abs(expected - value(carried.tensors[0],
                                                            b, h, t, f)));
        }
      }
    }
  }
  EXPECT_LT(worst, 1e-13);
}

TEST(TapeTest, TheZeroStartEqualsRopeExactly) {
  const at::Tensor tokens = Integers({2, 7}, 11, "tokens");
  const auto model = [](const Component& component) {
    return model::testing::MakeTransformer(model::testing::SmallModel(),
                                           component);
  };
  const at::Tensor rope = Logits(*model(Encoding("rope")), tokens);
  EXPECT_TRUE(SameBits(Logits(*model(Tape()), tokens), rope));
}

TEST(TapeTest, WithBothUpdatesOffItIsRope) {
  const at::Tensor tokens = Integers({2, 7}, 11, "tokens");
  const auto rope = SmallTransformer(Encoding("rope"));
  const auto off =
      SmallTransformer(TapeWithout({"attention_update", "mlp_update"}));
  ASSERT_EQ(off->Parameters().size(), rope->Parameters().size());
  model::testing::Randomize(rope->Parameters());
  model::testing::Randomize(off->Parameters());
  EXPECT_TRUE(SameBits(Logits(*off, tokens), Logits(*rope, tokens)));
}

TEST(TapeTest, EachUpdateAloneActs) {
  const at::Tensor tokens = Integers({2, 7}, 11, "tokens");
  const auto rope = SmallTransformer(Encoding("rope"));
  model::testing::Randomize(rope->Parameters());
  for (const char* update : {"attention_update", "mlp_update"}) {
    const auto other = SmallTransformer(TapeWithout({update}));
    model::testing::Randomize(other->Parameters());
    EXPECT_GT(other->Parameters().size(), rope->Parameters().size());
    EXPECT_GT(MaxDifference(Logits(*other, tokens), Logits(*rope, tokens)),
              1e-3)
        << "without " << update;
  }
}

TEST(TapeTest, TheStateStartsFromTheRopeGivenWithIt) {
  Component rope = Encoding("rope");
  (*rope.mutable_params())["base"].set_number_value(100);
  (*rope.mutable_params())["partial"].set_number_value(0.5);
  (*rope.mutable_params())["layout"].set_string_value("interleaved");
  Component tape = Tape();
  *tape.add_with() = rope;
  const at::Tensor tokens = Integers({2, 7}, 11, "tokens");
  EXPECT_TRUE(SameBits(Logits(*SmallTransformer(tape), tokens),
                       Logits(*SmallTransformer(rope), tokens)));
}

TEST(TapeTest, TheLastLayerHasNoParametersAndMixesNothing) {
  const auto made = MakeRandomTape(Tape());
  for (const auto& parameter : made->parameters.all()) {
    EXPECT_EQ(parameter.name.find("layers.2."), std::string::npos)
        << parameter.name;
  }
  const Carried carried = {{Normals({kB, kH, kT, kD}, "state")}, {}};
  const Pass pass;
  const at::Tensor none;
  for (int layer : {1, 2}) {
    const size_t expected = layer == 1 ? 1 : 0;
    EXPECT_EQ(made->encoding->NumMixedValues(layer), expected);
    EXPECT_EQ(made->encoding
                  ->MixedValues({layer, pass, carried, none, none, none, none})
                  .size(),
              expected);
  }
}

TEST(TapeTest, ZeroStartIsOfMixAndOutputOnly) {
  parameters::ParameterSet parameters({});
  const auto tape = *Make(Tape(), {2, kC, kH}, &parameters);
  for (const auto& parameter : parameters.all()) {
    const bool zero = parameter.tensor.abs().max().item<double>() == 0.0;
    const bool expected = parameter.name.find("mix") != std::string::npos ||
                          parameter.name.find("out_proj") != std::string::npos;
    EXPECT_EQ(zero, expected) << parameter.name;
  }
}

}  // namespace
}  // namespace ordo::model::encodings
