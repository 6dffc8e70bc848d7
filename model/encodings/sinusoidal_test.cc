#include <cmath>

#include "ATen/TensorOperators.h"
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
using model::testing::Normals;
using testing::FromText;
using ::testing::HasSubstr;
using testing::Probe;

constexpr int kWidth = 8;

// What is added at the given positions, [T,C].
at::Tensor Added(const std::string& yaml,
                 const std::vector<int64_t>& positions) {
  const Probe probe(FromText(yaml), {1, kWidth, 2});
  Pass pass;
  const auto length = static_cast<int64_t>(positions.size());
  pass.positions_BT = pass.positions_BS = Longs({1, length}, positions);
  const at::Tensor x = Normals({2, length, kWidth}, "x");
  const at::Tensor added = probe.encoding().Embed(x, pass) - x;
  EXPECT_LT(MaxDifference(added[0], added[1]), 1e-14);
  return added[0];
}

double Wave(double position, int channel, int width) {
  const double angle =
      position * std::pow(10000.0, -2.0 * (channel / 2) / width);
  return channel % 2 == 0 ? std::sin(angle) : std::cos(angle);
}

TEST(SinusoidalTest, SinesAndCosinesOfThePositionAreAdded) {
  const std::vector<int64_t> positions = {0, 1, 30, 4000};
  const at::Tensor added = Added("{name: sinusoidal}", positions);
  for (int t = 0; t < 4; ++t) {
    for (int c = 0; c < kWidth; ++c) {
      EXPECT_NEAR(added[t][c].item<double>(),
                  Wave(static_cast<double>(positions[t]), c, kWidth), 1e-11);
    }
  }
}

TEST(SinusoidalTest, AGridHasItsRowThenItsColumn) {
  const std::vector<int64_t> positions = {0, 2, 3, 17};
  const at::Tensor added =
      Added("{name: grid_sinusoidal, params: {columns: 3}}", positions);
  for (int t = 0; t < 4; ++t) {
    for (int c = 0; c < kWidth; ++c) {
      const int64_t place = c < 4 ? positions[t] / 3 : positions[t] % 3;
      EXPECT_NEAR(added[t][c].item<double>(),
                  Wave(static_cast<double>(place), c % 4, 4), 1e-13)
          << t << " " << c;
    }
  }
}

TEST(SinusoidalTest, AGridNeedsAWidthOfFours) {
  parameters::ParameterSet parameters({});
  EXPECT_THAT(
      Make(FromText("{name: grid_sinusoidal}"), {1, 6, 1}, &parameters)
          .status(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("multiple of 4")));
}

}  // namespace
}  // namespace ordo::model::encodings
