#include <algorithm>
#include <cmath>
#include <string>

#include "ATen/TensorOperators.h"
#include "ATen/core/grad_mode.h"
#include "ATen/ops/cat.h"
#include "gtest/gtest.h"
#include "model/encodings/testing/examples.h"
#include "model/encodings/testing/probe.h"
#include "model/testing/models.h"
#include "model/testing/tensors.h"

namespace ordo::model::encodings {
namespace {

using model::testing::Integers;
using model::testing::Logits;
using model::testing::MaxDifference;
using model::testing::Normals;
using testing::Attention;
using testing::FromText;
using testing::Probe;
using testing::RandomAttention;
using transformer::Transformer;

constexpr int kHeads = 2, kTokens = 6, kWidth = 4, kModel = kHeads * kWidth;

double Dot(const at::Tensor& a, const at::Tensor& b) {
  return (a * b).sum().item<double>();
}

// R_t = [sin | cos], of the model's width.
at::Tensor Wave(int distance) {
  std::vector<double> wave(kModel);
  for (int f = 0; f < kModel / 2; ++f) {
    const double angle = distance * std::pow(10000.0, -2.0 * f / kModel);
    wave[f] = std::sin(angle);
    wave[f + kModel / 2] = std::cos(angle);
  }
  return model::testing::Doubles({kModel}, wave);
}

TEST(TransformerXlTest, EqualsTheFormulaPairByPair) {
  ModelShape shape;
  shape.layers = 2;
  shape.heads = kHeads;
  shape.width = kModel;
  shape.causal = false;
  for (const int clamp : {0, 2}) {
    Probe probe(FromText("{name: transformer_xl, params: {clamp_length: " +
                         std::to_string(clamp) + "}}"),
                shape);
    probe.Randomize();
    Attention attention = RandomAttention(1, kHeads, kTokens, kWidth);
    attention.causal = false;
    attention.layer = 1;
    const at::NoGradGuard no_grad;
    const at::Tensor u = probe.Parameter("model.transformer_xl.key_bias");
    const at::Tensor v = probe.Parameter("model.transformer_xl.distance_bias");
    const at::Tensor w = probe.Parameter(
        "model.layers.1.self_attn.transformer_xl.distance_proj.weight");
    const at::Tensor scores = probe.Scores(attention);
    for (int h = 0; h < kHeads; ++h) {
      for (int i = 0; i < kTokens; ++i) {
        for (int j = 0; j < kTokens; ++j) {
          int distance = i - j;
          if (clamp > 0) {
            distance = std::min(std::max(distance, -clamp), clamp);
          }
          const at::Tensor q = attention.q_BHTD[0][h][i];
          const at::Tensor projected =
              w.matmul(Wave(distance)).narrow(0, h * kWidth, kWidth);
          const double expected = Dot(q + u[h], attention.k_BHTD[0][h][j]) +
                                  Dot(q + v[h], projected);
          EXPECT_NEAR(scores[0][h][i][j].item<double>(), expected / 2.0, 1e-12)
              << clamp << " " << h << i << j;
        }
      }
    }
  }
}

std::unique_ptr<Transformer> InSegments(int length, int memory) {
  auto transformer = model::testing::SmallTransformer(
      FromText("{name: transformer_xl, params: {segment_length: " +
               std::to_string(length) +
               ", memory_length: " + std::to_string(memory) + "}}"));
  model::testing::Randomize(transformer->Parameters());
  return transformer;
}

TEST(TransformerXlTest, ASegmentWithoutMemoryStandsAlone) {
  const auto transformer = InSegments(3, 0);
  const at::Tensor tokens = Integers({2, 7}, 11, "tokens");
  const at::Tensor whole = Logits(*transformer, tokens);
  for (const auto& [start, length] :
       {std::pair(0, 3), std::pair(3, 3), std::pair(6, 1)}) {
    EXPECT_LT(
        MaxDifference(whole.narrow(1, start, length),
                      Logits(*transformer, tokens.narrow(1, start, length))),
        1e-12)
        << start;
  }
}

// Three layers reach back three memories.
TEST(TransformerXlTest, WhatIsBehindTheMemoryIsSeenThroughLayersOnly) {
  const auto transformer = InSegments(2, 1);
  const at::Tensor tokens = Integers({1, 12}, 11, "tokens");
  const auto changes = [&](int token) {
    at::Tensor changed = tokens.clone();
    changed[0][token] = (tokens[0][token].item<int64_t>() + 1) % 11;
    return MaxDifference(Logits(*transformer, changed).select(1, 11),
                         Logits(*transformer, tokens).select(1, 11)) > 1e-9;
  };
  // Token 11 sees 10 and 9 (memory); in the next layer 9 sees 8 and 7, then 5.
  EXPECT_TRUE(changes(9));
  EXPECT_TRUE(changes(5));
  EXPECT_FALSE(changes(4));
}

TEST(TransformerXlTest, AMemoryAsLongAsTheRowIsNoSegmentAtAllInValues) {
  const auto with = InSegments(2, 100);
  auto without =
      model::testing::SmallTransformer(FromText("{name: transformer_xl}"));
  model::testing::Randomize(without->Parameters());
  const at::Tensor tokens = Integers({2, 7}, 11, "tokens");
  EXPECT_LT(MaxDifference(Logits(*with, tokens), Logits(*without, tokens)),
            1e-12);
  // With gradients the values are the same, too.
  EXPECT_LT(
      MaxDifference(with->Forward(tokens).detach(), Logits(*with, tokens)),
      1e-12);
}

// Equals running segment after segment with the memory detached: the gradient
// of the last segment's logits to tokens before it is that through keys' and
// values' weights only.
TEST(TransformerXlTest, TheMemoryPassesOnNoGradientToEarlierTokens) {
  const auto transformer = InSegments(3, 3);
  // A token that is only in the first segment.
  const at::Tensor tokens = model::testing::Longs({1, 6}, {9, 2, 3, 4, 5, 6});
  transformer->Forward(tokens).select(1, 5).pow(2).sum().backward();
  for (const auto& parameter : transformer->Parameters()) {
    if (parameter.name != "model.embed_tokens.weight") continue;
    EXPECT_EQ(parameter.tensor.grad()[9].abs().max().item<double>(), 0.0);
    EXPECT_GT(parameter.tensor.grad()[4].abs().max().item<double>(), 0.0);
  }
  // It is seen all the same.
  at::Tensor changed = tokens.clone();
  changed[0][0] = 10;
  EXPECT_GT(MaxDifference(Logits(*transformer, changed).select(1, 5),
                          Logits(*transformer, tokens).select(1, 5)),
            1e-9);
}

TEST(TransformerXlTest, SegmentsCountTheRealTokens) {
  const auto transformer = InSegments(3, 2);
  const at::Tensor row = Integers({1, 5}, 11, "tokens");
  transformer::ForwardOptions options;
  options.attention_mask = model::testing::Longs({1, 7}, {0, 0, 1, 1, 1, 1, 1});
  const at::Tensor padded =
      at::cat({model::testing::Longs({1, 2}, {0, 0}), row}, 1);
  EXPECT_LT(MaxDifference(Logits(*transformer, padded, options).narrow(1, 2, 5),
                          Logits(*transformer, row)),
            1e-12);
}

TEST(TransformerXlTest, DecodingWithACacheKeepsTheSegments) {
  const auto transformer = InSegments(3, 2);
  const at::Tensor tokens = Integers({2, 8}, 11, "tokens");
  transformer::Cache cache;
  transformer::ForwardOptions options;
  options.cache = &cache;
  std::vector<at::Tensor> logits;
  for (int64_t t = 0; t < 8; ++t) {
    logits.push_back(Logits(*transformer, tokens.narrow(1, t, 1), options));
  }
  EXPECT_LT(MaxDifference(at::cat(logits, 1), Logits(*transformer, tokens)),
            1e-12);
}

}  // namespace
}  // namespace ordo::model::encodings
