#include "model/encodings/sinusoid.h"

#include <cmath>

#include "gtest/gtest.h"
#include "model/testing/tensors.h"

namespace ordo::model::encodings {
namespace {

TEST(SinusoidTest, SinesAndCosinesAlternate) {
  const at::Tensor wave =
      Sinusoid(model::testing::Longs({2, 2}, {0, 1, 77, 1000000}), 6, 100.0);
  ASSERT_EQ(wave.sizes(), (std::vector<int64_t>{2, 2, 6}));
  const double positions[] = {0, 1, 77, 1000000};
  for (int n = 0; n < 4; ++n) {
    for (int c = 0; c < 6; ++c) {
      const double angle = positions[n] * std::pow(100.0, -2.0 * (c / 2) / 6.0);
      EXPECT_NEAR(wave[n / 2][n % 2][c].item<double>(),
                  c % 2 == 0 ? std::sin(angle) : std::cos(angle), 1e-9)
          << positions[n] << " " << c;
    }
  }
}

}  // namespace
}  // namespace ordo::model::encodings
