#include <cmath>

#include "ATen/TensorOperators.h"
#include "ATen/core/grad_mode.h"
#include "ATen/ops/arange.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/encodings/registry.h"
#include "model/encodings/testing/examples.h"
#include "model/encodings/testing/probe.h"
#include "model/testing/tensors.h"

namespace ordo::model::encodings {
namespace {

using base::testing::StatusIs;
using model::testing::Longs;
using model::testing::MaxDifference;
using testing::FromText;
using ::testing::HasSubstr;
using testing::NoProduct;
using testing::Probe;

constexpr int kHeads = 2, kWidth = 4;

ModelShape Shape(bool causal = true, int layers = 1) {
  return {layers, kHeads * kWidth, kHeads, 0, causal};
}

// Bucket of each distance: the bias where bucket b has the value b.
std::vector<int64_t> Buckets(const std::string& params, bool causal,
                             const std::vector<int64_t>& distances) {
  const Probe probe(FromText("{name: t5, params: {" + params + "}}"),
                    Shape(causal));
  const at::Tensor table = probe.Parameter("model.t5.weight");
  {
    const at::NoGradGuard no_grad;
    table.copy_(at::arange(table.size(0)).unsqueeze(1).expand_as(table));
  }
  std::vector<int64_t> buckets;
  for (const int64_t distance : distances) {
    testing::Attention attention =
        NoProduct(Longs({1, 2}, {5000, 5000 + distance}), kHeads, kWidth);
    attention.causal = causal;
    buckets.push_back(static_cast<int64_t>(
        probe.Scores(attention)[0][0][1][0].item<double>()));
  }
  return buckets;
}

// Bounds by hand: bucket 16 + k starts at the first n >= 16 * 8^(k/16).
TEST(T5Test, CausalBucketsAreExactThenGeometric) {
  EXPECT_EQ(Buckets("", true, {0, 1, 15, 16, 18, 19, 20, 21, 23, 24}),
            (std::vector<int64_t>{0, 1, 15, 16, 16, 17, 17, 18, 18, 19}));
  EXPECT_EQ(Buckets("", true, {31, 32, 63, 64, 112, 113, 127, 128, 4000}),
            (std::vector<int64_t>{21, 21, 26, 26, 30, 31, 31, 31, 31}));
}

// 16 buckets a side, 8 of them exact; bucket 8 + k starts at 8 * 16^(k/8), so
// at 16, 32 and 64 for k = 2, 4, 6.
TEST(T5Test, BothSidesHaveHalfOfTheBucketsEach) {
  EXPECT_EQ(
      Buckets("", false,
              {0, 1, 7, 8, 11, 12, 15, 16, 31, 32, 63, 64, 91, 1000}),
      (std::vector<int64_t>{0, 1, 7, 8, 8, 9, 9, 10, 11, 12, 13, 14, 15, 15}));
  EXPECT_EQ(Buckets("", false, {-1, -7, -16, -32, -64, -1000}),
            (std::vector<int64_t>{17, 23, 26, 28, 30, 31}));
}

TEST(T5Test, NumberAndRangeOfBucketsAreOptions) {
  EXPECT_EQ(Buckets("buckets: 8, max_distance: 64", true,
                    {3, 4, 7, 8, 15, 16, 31, 32, 64, 100}),
            (std::vector<int64_t>{3, 4, 4, 5, 5, 6, 6, 7, 7, 7}));
}

TEST(T5Test, HeadsHaveColumnsOfTheTable) {
  const Probe probe(FromText("{name: t5}"), Shape());
  const at::Tensor table = probe.Parameter("model.t5.weight");
  const at::Tensor bias = probe.Scores(
      NoProduct(Longs({2, 3}, {0, 1, 2, 0, 3, 9}), kHeads, kWidth));
  EXPECT_EQ(bias.sizes(), (std::vector<int64_t>{2, kHeads, 3, 3}));
  for (int h = 0; h < kHeads; ++h) {
    EXPECT_EQ(bias[0][h][2][0].item<double>(), table[2][h].item<double>());
    EXPECT_EQ(bias[1][h][2][1].item<double>(), table[6][h].item<double>());
  }
}

TEST(T5Test, WithoutScaleTheProductIsNotDivided) {
  const testing::Attention attention =
      testing::RandomAttention(2, kHeads, 5, kWidth);
  const auto scores = [&](const std::string& scale) {
    return Probe(FromText("{name: t5, params: {init: zero, scale: " + scale +
                          "}}"),
                 Shape())
        .Scores(attention);
  };
  const at::Tensor product =
      attention.q_BHTD.matmul(attention.k_BHTD.transpose(2, 3));
  EXPECT_LT(MaxDifference(scores("none"), product), 1e-14);
  EXPECT_LT(MaxDifference(scores("sqrt_d"), product / std::sqrt(kWidth)),
            1e-14);
}

TEST(T5Test, TablesAreSharedOrOnePerLayerAndStartAsAsked) {
  const Probe shared(FromText("{name: t5}"), Shape(true, 3));
  EXPECT_EQ(shared.parameters().NumValues(), 32 * kHeads);
  // 64 normal values of variance 1/8.
  const double std = shared.Parameter("model.t5.weight").std().item<double>();
  EXPECT_NEAR(std, std::sqrt(1.0 / 8), 0.1);
  const Probe own(FromText("{name: t5, params: {per_layer: true, init: zero}}"),
                  Shape(true, 3));
  EXPECT_EQ(own.parameters().NumValues(), 3 * 32 * kHeads);
  EXPECT_EQ(own.Parameter("model.layers.2.self_attn.t5.weight")
                .abs()
                .max()
                .item<double>(),
            0.0);
}

TEST(T5Test, PerLayerEveryLayerReadsItsOwnTable) {
  const Probe probe(FromText("{name: t5, params: {per_layer: true}}"),
                    Shape(true, 2));
  testing::Attention attention =
      NoProduct(Longs({1, 2}, {0, 3}), kHeads, kWidth);
  for (attention.layer = 0; attention.layer < 2; ++attention.layer) {
    const at::Tensor table =
        probe.Parameter("model.layers." + std::to_string(attention.layer) +
                        ".self_attn.t5.weight");
    EXPECT_EQ(probe.Scores(attention)[0][1][1][0].item<double>(),
              table[3][1].item<double>());
  }
}

TEST(T5Test, BucketsThatDoNotFitAreRefused) {
  const auto make = [](const std::string& params, bool causal) {
    parameters::ParameterSet parameters({});
    return Make(FromText("{name: t5, params: {" + params + "}}"), Shape(causal),
                &parameters)
        .status();
  };
  EXPECT_TRUE(make("buckets: 6, max_distance: 4", true).ok());
  EXPECT_THAT(make("buckets: 6", false),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("encoding.params.buckets")));
  EXPECT_THAT(make("max_distance: 16", true),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("encoding.params.max_distance")));
}

}  // namespace
}  // namespace ordo::model::encodings
