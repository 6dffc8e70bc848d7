#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/core/grad_mode.h"
#include "ATen/ops/einsum.h"
#include "ATen/ops/linear.h"
#include "gtest/gtest.h"
#include "model/encodings/registry.h"
#include "model/encodings/tape.h"
#include "model/encodings/testing/examples.h"
#include "model/encodings/testing/layers.h"
#include "model/encodings/testing/probe.h"
#include "model/testing/models.h"
#include "model/testing/tensors.h"

// The readings and variants of TAPE beside the canonical one.
//
// Legend: B batch, H heads, T tokens, D head width, C model width, R turning
// channels (here all), E inner width of the position MLP.

namespace ordo::model::encodings {
namespace {

using model::testing::Integers;
using model::testing::Logits;
using model::testing::Longs;
using model::testing::MaxDifference;
using model::testing::Normals;
using model::testing::SameBits;
using model::testing::SmallTransformer;
using ordo::training::v1::Component;
using testing::FromText;
using testing::Made;
using testing::MakeRandom;
using testing::RunLayers;
using testing::StartState;
using testing::Stream;
using transformer::ForwardOptions;

constexpr int kLayers = 3, kB = 2, kH = 3, kT = 5, kD = 12, kE = 7;
constexpr int kC = kH * kD;

ModelShape Shape() {
  ModelShape shape;
  shape.layers = kLayers;
  shape.width = kC;
  shape.heads = kH;
  return shape;
}

Component Tape(const std::string& params) {
  return FromText("{name: tape, params: {position_size: 7, " + params + "}}");
}

const char* const kVariants[] = {
    "reading: released",
    "psi_input: attention_output",
    "equivariant: false",
    "equivariant: false, reading: released",
    "embedding: vector",
    "mix_axis: L",
    "mix_axis: L, block_rows: 3, block_columns: 4",
    "block_rows: 1, block_columns: 2",
};

at::Tensor Weight(const Made& made, const std::string& name, int layer = 1) {
  return made.parameters
      .Find("model.layers." + std::to_string(layer) + ".self_attn.tape." +
            name + ".weight")
      .detach();
}

at::Tensor Psi(const Made& made, const at::Tensor& m) {
  const at::Tensor in = at::linear(m, Weight(made, "gate_proj"));
  return in * in.sigmoid();
}

// What one layer makes of a random state [B,H,T,width], given what attention
// made of another.
struct OneLayer {
  at::Tensor state, attended, output, mlp, result;

  OneLayer(const Made& made, int64_t width) {
    state = Normals({kB, kH, kT, width}, "state");
    attended = Normals({kB, kH, kT, width}, "attended");
    output = Normals({kB, kT, kC}, "output");
    mlp = Normals({kB, kT, kC}, "mlp");
    const at::NoGradGuard no_grad;
    Carried carried = {{state}, {}};
    made.encoding->AfterAttention(1, {output, {attended}}, &carried);
    made.encoding->AfterMlp(1, mlp, &carried);
    result = carried.tensors[0];
  }
};

TEST(TapeVariantsTest, ReleasedAttentionIsAGainForEachHead) {
  const auto made = MakeRandom(Tape("reading: released"), Shape());
  const OneLayer layer(*made, kD);
  const at::Tensor g = Weight(*made, "mix");
  at::Tensor middle = layer.state.clone();
  for (int h = 0; h < kH; ++h) {
    double gain = 0.0;
    for (int j = 0; j < kH; ++j) gain += g[h][j].item<double>();
    middle.select(1, h) += layer.attended.select(1, h) * gain;
  }
  const at::Tensor change = at::einsum(
      "he,bte,ej,bjtc->bhtc", {Weight(*made, "out_proj"), Psi(*made, layer.mlp),
                               Weight(*made, "in_proj"), middle});
  EXPECT_LT(MaxDifference(layer.result, middle + change), 1e-13);
}

TEST(TapeVariantsTest, ReleasedStartsW1AtZeroAndHasParametersInAllLayers) {
  parameters::ParameterSet parameters({});
  const auto tape = *Make(FromText("{name: tape, params: {reading: released}}"),
                          Shape(), &parameters);
  EXPECT_EQ(parameters.all().size(), 4u * kLayers);
  for (const auto& parameter : parameters.all()) {
    const double most = parameter.tensor.abs().max().item<double>();
    const bool zero = parameter.name.find("mix") != std::string::npos ||
                      parameter.name.find("in_proj") != std::string::npos;
    EXPECT_EQ(most == 0.0, zero) << parameter.name;
    EXPECT_LT(most, 0.12) << parameter.name;
  }
  EXPECT_EQ(tape->NumMixedValues(kLayers - 1), 0);
}

TEST(TapeVariantsTest, TheGateReadsAttentionsOutputIfAsked) {
  const auto made = MakeRandom(Tape("psi_input: attention_output"), Shape());
  const OneLayer layer(*made, kD);
  const at::Tensor middle =
      layer.state +
      at::einsum("hj,bjtc->bhtc", {Weight(*made, "mix"), layer.attended});
  const at::Tensor change =
      at::einsum("he,bte,ej,bjtc->bhtc",
                 {Weight(*made, "out_proj"), Psi(*made, layer.output),
                  Weight(*made, "in_proj"), middle});
  EXPECT_LT(MaxDifference(layer.result, middle + change), 1e-13);
}

// W1 [E,C] and W2 [C,E] over heads and channels; G across heads.
TEST(TapeVariantsTest, WithoutEquivarianceHeadsAndChannelsMix) {
  const auto made = MakeRandom(Tape("equivariant: false"), Shape());
  const OneLayer layer(*made, 2 * kD);
  EXPECT_EQ(Weight(*made, "in_proj").sizes(), (std::vector<int64_t>{kE, kC}));
  EXPECT_EQ(Weight(*made, "mix").sizes(), (std::vector<int64_t>{kH, kH}));
  const at::Tensor middle =
      layer.state +
      at::einsum("hj,bjtc->bhtc", {Weight(*made, "mix"), layer.attended});
  // [B,T,2,C]: cosines and sines.
  const at::Tensor halves =
      middle.unflatten(-1, {2, kD}).permute({0, 2, 3, 1, 4}).flatten(3);
  const at::Tensor change =
      at::einsum("ne,bte,em,btsm->btsn",
                 {Weight(*made, "out_proj"), Psi(*made, layer.mlp),
                  Weight(*made, "in_proj"), halves})
          .unflatten(-1, {kH, kD})
          .permute({0, 3, 1, 2, 4})
          .flatten(3);
  EXPECT_LT(MaxDifference(layer.result, middle + change), 1e-12);
}

// W1 [E,d], W2 [d,E] and G [d,d] over the channels of each head.
TEST(TapeVariantsTest, AVectorMixesTheChannelsOfEachHead) {
  const auto made = MakeRandom(Tape("embedding: vector"), Shape());
  const OneLayer layer(*made, 2 * kD);
  const auto halves = [](const at::Tensor& x) {
    return x.unflatten(-1, {2, kD});
  };
  const at::Tensor middle =
      halves(layer.state) +
      at::einsum("nm,bhtsm->bhtsn",
                 {Weight(*made, "mix"), halves(layer.attended)});
  const at::Tensor change =
      at::einsum("ne,bte,em,bhtsm->bhtsn",
                 {Weight(*made, "out_proj"), Psi(*made, layer.mlp),
                  Weight(*made, "in_proj"), middle});
  EXPECT_LT(MaxDifference(halves(layer.result), middle + change), 1e-12);
}

// Left multiplication of each block of L rows.
TEST(TapeVariantsTest, RowsOfABlockMix) {
  const auto made =
      MakeRandom(Tape("mix_axis: L, block_rows: 3, block_columns: 4"), Shape());
  const OneLayer layer(*made, 4 * 3 * 4);
  EXPECT_EQ(Weight(*made, "mix").sizes(), (std::vector<int64_t>{3, 3}));
  const auto blocks = [](const at::Tensor& x) {
    return x.unflatten(-1, {4, 3, 4});
  };
  const at::Tensor middle =
      blocks(layer.state) +
      at::einsum("lm,bhtkmd->bhtkld",
                 {Weight(*made, "mix"), blocks(layer.attended)});
  const at::Tensor change =
      at::einsum("le,bte,em,bhtkmd->bhtkld",
                 {Weight(*made, "out_proj"), Psi(*made, layer.mlp),
                  Weight(*made, "in_proj"), middle});
  EXPECT_LT(MaxDifference(blocks(layer.result), middle + change), 1e-13);
}

// Of blocks of 3 rows and 4 columns, 16 channels meet where a head has 12; at
// position 0 row l is that of exp(i pi l / 3).
TEST(TapeVariantsTest, ALogitIsDividedByTheRootOfTheHeadWidth) {
  const testing::Probe probe(Tape("block_rows: 3, block_columns: 4"), Shape());
  testing::Attention attention = testing::RandomAttention(1, kH, 2, kD);
  attention.positions_BT = Longs({1, 2}, {0, 0});
  constexpr int kBlocks = 4;
  double expected = 0.0;
  for (int l = 0; l < 3; ++l) {
    for (int m = 0; m < 3; ++m) {
      for (int b = 0; b < kBlocks; ++b) {
        expected += attention.q_BHTD[0][2][1][l * kBlocks + b].item<double>() *
                    attention.k_BHTD[0][2][0][m * kBlocks + b].item<double>() *
                    std::cos(M_PI * (l - m) / 3.0);
      }
    }
  }
  EXPECT_NEAR(probe.Scores(attention)[0][2][1][0].item<double>(),
              expected / std::sqrt(double{kD}), 1e-13);
}

// The fast path and the general one, through layers that all change the state.
TEST(TapeVariantsTest, ComplexNumbersEqualTheGeneralFormOfTwoByTwo) {
  for (const char* params :
       {"reading: canonical", "reading: released",
        "psi_input: attention_output", "start: random_fourier"}) {
    const auto fast = MakeRandom(Tape(params), Shape());
    const auto general = MakeRandom(Tape(params), Shape(), MakeTapeInBlocks);
    ASSERT_EQ(fast->parameters.all().size(), general->parameters.all().size());
    const at::Tensor x = Normals({kB, kT, kC}, "x");
    const at::Tensor positions = Longs({1, kT}, {0, 1, 2, 5, 9});
    const at::NoGradGuard no_grad;
    for (size_t i = 0; i < fast->parameters.all().size(); ++i) {
      EXPECT_TRUE(SameBits(fast->parameters.all()[i].tensor,
                           general->parameters.all()[i].tensor));
    }
    const auto run = [&](const Made& made) {
      return RunLayers(*made.encoding, kLayers,
                       {x, StartState(*made.encoding, x, positions)}, true);
    };
    const Stream numbers = run(*fast), blocks = run(*general);
    EXPECT_EQ(blocks.state_BHTW.size(-1), 2 * numbers.state_BHTW.size(-1));
    EXPECT_LT(MaxDifference(numbers.x_BTC, blocks.x_BTC), 1e-11) << params;
    // [[re, im], [-im, re]] of each.
    const at::Tensor block = blocks.state_BHTW.unflatten(-1, {-1, 2, 2});
    const auto part = [&](int i) { return numbers.state_BHTW.chunk(2, -1)[i]; };
    const auto entry = [&](int row, int column) {
      return block.select(-1, column).select(-1, row);
    };
    EXPECT_LT(MaxDifference(entry(0, 0), part(0)), 1e-11);
    EXPECT_LT(MaxDifference(entry(0, 1), part(1)), 1e-11);
    EXPECT_LT(MaxDifference(entry(1, 0), -part(1)), 1e-11);
    EXPECT_LT(MaxDifference(entry(1, 1), part(0)), 1e-11);
  }
}

// An orthogonal [D,D] matrix for each of `blocks` blocks, reflections among
// them: [blocks,D,D].
at::Tensor Orthogonal(int64_t blocks, int64_t columns) {
  at::Tensor result = Normals({blocks, columns, columns}, "orthogonal").clone();
  for (int64_t b = 0; b < blocks; ++b) {
    for (int64_t i = 0; i < columns; ++i) {
      at::Tensor row = result[b][i];
      for (int64_t j = 0; j < i; ++j) {
        row.sub_(result[b][j] * (result[b][i] * result[b][j]).sum());
      }
      row.div_(row.norm());
    }
  }
  return result;
}

// E R for R in O(D), another for each block, passes through: all updates act
// from the left.
TEST(TapeVariantsTest, OrthogonalMatricesFromTheRightTurnTheStateOnly) {
  for (const auto& [params, rows, columns] :
       std::vector<std::tuple<std::string, int, int>>{
           {"mix_axis: L", 2, 2},
           {"mix_axis: L, block_rows: 3, block_columns: 4", 3, 4},
           {"mix_axis: L, block_rows: 4, block_columns: 3, start: learned", 4,
            3},
           {"block_rows: 6, block_columns: 2", 6, 2}}) {
    const auto made = MakeRandom(Tape(params), Shape());
    const int64_t blocks = kD / rows;
    const at::Tensor x = Normals({kB, kT, kC}, "x");
    const at::Tensor state =
        Normals({kB, kH, kT, blocks * rows * columns}, "state");
    const at::Tensor r = Orthogonal(blocks, columns);
    const auto turn = [&, rows = rows, columns = columns](const at::Tensor& e) {
      return at::einsum("bhtkld,kdc->bhtklc",
                        {e.unflatten(-1, {blocks, rows, columns}), r})
          .flatten(3);
    };
    const at::NoGradGuard no_grad;
    const Stream plain = RunLayers(*made->encoding, kLayers, {x, state}, true);
    const Stream turned =
        RunLayers(*made->encoding, kLayers, {x, turn(state)}, true);
    EXPECT_LT(MaxDifference(turned.x_BTC, plain.x_BTC), 1e-11) << params;
    EXPECT_LT(MaxDifference(turned.state_BHTW, turn(plain.state_BHTW)), 1e-11)
        << params;
    EXPECT_GT(MaxDifference(plain.state_BHTW, state), 0.1) << params;
  }
}

TEST(TapeVariantsTest, EveryVariantPermutesWithItsTokens) {
  for (const char* params : kVariants) {
    const auto made = MakeRandom(Tape(params), Shape());
    const at::Tensor x = Normals({kB, kT, kC}, "x");
    const at::Tensor state =
        StartState(*made->encoding, x, Longs({1, kT}, {0, 1, 2, 3, 4}));
    const at::Tensor order = Longs({kT}, {3, 0, 4, 1, 2});
    const at::NoGradGuard no_grad;
    const Stream plain = RunLayers(*made->encoding, kLayers, {x, state}, false);
    const Stream permuted = RunLayers(
        *made->encoding, kLayers,
        {x.index_select(1, order), state.index_select(2, order)}, false);
    EXPECT_LT(MaxDifference(permuted.x_BTC, plain.x_BTC.index_select(1, order)),
              1e-10)
        << params;
  }
}

TEST(TapeVariantsTest, EveryVariantStartsAsRope) {
  const at::Tensor tokens = Integers({2, 7}, 11, "tokens");
  const at::Tensor rope =
      Logits(*SmallTransformer(FromText("{name: rope}")), tokens);
  for (const char* params :
       {"reading: released", "psi_input: attention_output",
        "equivariant: false", "equivariant: false, reading: released",
        "embedding: vector", "mix_axis: L"}) {
    const at::Tensor logits = Logits(*SmallTransformer(Tape(params)), tokens);
    EXPECT_LT(MaxDifference(logits, rope), 1e-14) << params;
  }
  EXPECT_TRUE(SameBits(
      Logits(*SmallTransformer(Tape("reading: released")), tokens), rope));
}

// How far logits move under a shift of all positions.
double MovedBy(const Component& tape, int64_t shift) {
  const auto model = SmallTransformer(tape);
  model::testing::Randomize(model->Parameters());
  const at::Tensor tokens = Integers({2, 6}, 11, "tokens");
  ForwardOptions shifted;
  shifted.positions = Longs({1, 6}, {0, 1, 2, 3, 4, 5}) + shift;
  return MaxDifference(Logits(*model, tokens, shifted), Logits(*model, tokens));
}

TEST(TapeVariantsTest, OnlyWhatUntiesTheStateFeelsAShift) {
  for (const char* params :
       {"equivariant: false", "embedding: vector", "start: learned"}) {
    EXPECT_GT(MovedBy(Tape(params), 1537), 1e-3) << params;
  }
  for (const char* params :
       {"reading: released", "mix_axis: L", "start: random_fourier"}) {
    EXPECT_LT(MovedBy(Tape(params), 1537), 1e-9) << params;
  }
}

TEST(TapeVariantsTest, TrainingMovesAllPositionsOfAStepByOneNumber) {
  const auto made = MakeRandom(Tape("random_offset: 40"), Shape());
  PositionsInput input;
  input.counted = Longs({1, 3}, {0, 1, 2});
  EXPECT_TRUE(SameBits(made->encoding->Positions(input), input.counted));
  std::vector<int> seen(41);
  for (int64_t step = 0; step < 1000; ++step) {
    input.training = TrainingStep{7, step};
    const at::Tensor moved = made->encoding->Positions(input);
    const auto offset = moved[0][0].item<int64_t>();
    ASSERT_TRUE(SameBits(moved, input.counted + offset));
    ++seen.at(offset);
    EXPECT_TRUE(SameBits(made->encoding->Positions(input), moved));
  }
  // Both ends are among them.
  EXPECT_GT(*std::min_element(seen.begin(), seen.end()), 5);
  const auto none = MakeRandom(Tape("random_offset: 0"), Shape());
  EXPECT_TRUE(SameBits(none->encoding->Positions(input), input.counted));
}

}  // namespace
}  // namespace ordo::model::encodings
