#include <cmath>

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
using testing::FromText;
using ::testing::HasSubstr;
using testing::NoProduct;
using testing::Probe;

TEST(SandwichTest, TheBiasIsASumOfCosinesWeakerFromHeadToHead) {
  constexpr int kHeads = 3;
  const Probe probe(FromText("{name: sandwich}"), {1, 12, kHeads});
  const int positions[] = {2, 3, 10, 900};
  const at::Tensor bias =
      probe.Scores(NoProduct(Longs({1, 4}, {2, 3, 10, 900}), kHeads, 4));
  for (int h = 0; h < kHeads; ++h) {
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) {
        double sum = 0.0;
        for (int f = 0; f < 64; ++f) {
          sum += std::cos((positions[i] - positions[j]) *
                          std::pow(10000.0, -2.0 * f / 128));
        }
        EXPECT_NEAR(bias[0][h][i][j].item<double>(),
                    sum / (8.0 * (h + 1) / kHeads), 1e-10);
      }
    }
  }
}

TEST(SandwichTest, WidthAndBaseAreOptions) {
  const Probe probe(FromText("{name: sandwich, params: {width: 4, base: 100}}"),
                    {1, 4, 1});
  const double bias =
      probe.Scores(NoProduct(Longs({1, 2}, {0, 7}), 1, 4))[0][0][1][0]
          .item<double>();
  EXPECT_NEAR(bias, (std::cos(7.0) + std::cos(0.7)) / 8, 1e-14);
}

TEST(SandwichTest, AnOddWidthIsRefused) {
  parameters::ParameterSet parameters({});
  EXPECT_THAT(Make(FromText("{name: sandwich, params: {width: 5}}"), {1, 8, 2},
                   &parameters)
                  .status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("encoding.params.width")));
}

}  // namespace
}  // namespace ordo::model::encodings
