#include "kernels/rows/reference.h"

#include <cmath>
#include <functional>
#include <string>

#include "gtest/gtest.h"
#include "kernels/common/check/numbers.h"

namespace ordo::kernels::rows {
namespace {

Numbers Random(int64_t count, const std::string& name) {
  return kernels::check::Normals(count, name, Type::kFloat32);
}

double Dot(const Numbers& x, const Numbers& y) {
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

// `gradient` is that of `value` in `loss`, which reads it.
void ExpectGradient(const Numbers& gradient, Numbers* value,
                    const std::function<double()>& loss) {
  ASSERT_EQ(gradient.size(), value->size());
  for (size_t i = 0; i < value->size(); ++i) {
    const double before = (*value)[i];
    (*value)[i] = before + 1e-4;
    const double more = loss();
    (*value)[i] = before - 1e-4;
    const double less = loss();
    (*value)[i] = before;
    EXPECT_NEAR(gradient[i], (more - less) / 2e-4, 1e-6);
  }
}

TEST(RowsReferenceTest, GradientsOfTurnsAreDifferences) {
  for (const bool interleaved : {false, true}) {
    Rotation r;
    r.batch = r.heads = 1;
    r.tokens = 2;
    r.width = 7;
    r.channels = 6;
    r.interleaved = interleaved;
    RotationTensors x;
    x.x = Random(14, "x");
    x.d_y = Random(14, "d_y");
    x.table = Random(12, "table");
    const auto loss = [&] {
      RotationTensors y = x;
      ReferenceTurn(r, &y);
      return Dot(y.y, x.d_y);
    };
    RotationTensors right = x;
    ReferenceTurn(r, &right);
    // The pairs' channels are where the model expects them: d_y is y's.
    ExpectGradient(right.d_x, &x.x, loss);
    ExpectGradient(right.d_table, &x.table, loss);
  }
}

// (1 + 2i) (3 + 4i) = -5 + 10i, and the rest as it was.
TEST(RowsReferenceTest, PairsAreComplexNumbers) {
  Rotation r;
  r.batch = r.heads = r.tokens = 1;
  r.width = 3;
  r.channels = 2;
  RotationTensors x;
  x.x = x.d_y = {1, 2, 9};
  x.table = {3, 4};
  ReferenceTurn(r, &x);
  EXPECT_EQ(x.y, (Numbers{-5, 10, 9}));
}

TEST(RowsReferenceTest, GradientsOfNormsAreDifferences) {
  Norm norm;
  norm.rows = 2;
  norm.width = 5;
  norm.epsilon = 0.1F;
  NormTensors x = {
      Random(10, "x"), Random(5, "w"), {}, Random(10, "d"), {}, {}};
  const auto loss = [&] {
    NormTensors y = x;
    ReferenceNorm(norm, &y);
    return Dot(y.y_NC, x.d_y_NC);
  };
  NormTensors right = x;
  ReferenceNorm(norm, &right);
  ExpectGradient(right.d_x_NC, &x.x_NC, loss);
  ExpectGradient(right.d_weight_C, &x.weight_C, loss);
}

TEST(RowsReferenceTest, GradientsOfGatesAreDifferences) {
  Gate gate;
  gate.rows = 1;
  gate.width = 6;
  GateTensors x = {Random(6, "g"), Random(6, "u"), {}, Random(6, "d"), {}, {}};
  const auto loss = [&] {
    GateTensors y = x;
    ReferenceGate(gate, &y);
    return Dot(y.y_NC, x.d_y_NC);
  };
  GateTensors right = x;
  ReferenceGate(gate, &right);
  ExpectGradient(right.d_gate_NC, &x.gate_NC, loss);
  ExpectGradient(right.d_up_NC, &x.up_NC, loss);
}

TEST(RowsReferenceTest, GradientsOfLossesAreDifferences) {
  Loss loss;
  loss.rows = 2;
  loss.width = 4;
  loss.factor = 0.25F;
  LossTensors x;
  x.logits_NC = Random(8, "logits");
  x.targets_N = {3, 0};
  LossTensors right = x;
  ReferenceLoss(loss, &right);
  ExpectGradient(right.d_logits_NC, &x.logits_NC, [&] {
    LossTensors y = x;
    ReferenceLoss(loss, &y);
    return 0.25 * (y.loss_N[0] + y.loss_N[1]);
  });
}

// The first step from nothing goes by the rate, whatever the gradient's size.
TEST(RowsReferenceTest, TheFirstStepIsTheRate) {
  Adam adam;
  adam.beta1 = 0.75F;
  adam.one_less_beta1 = 0.25F;
  adam.beta2 = 0.75F;
  adam.one_less_beta2 = 0.25F;
  adam.root = 0.5F;
  adam.step = 0.5F / 0.25F;
  adam.keep = 0.5F;
  AdamTensors x = {{3, -100}, {1, 1}, {0, 0}, {0, 0}};
  ReferenceAdam(adam, &x);
  EXPECT_NEAR(x.parameter[0], 0.5 - 0.5, 1e-12);
  EXPECT_NEAR(x.parameter[1], 0.5 + 0.5, 1e-12);
}

}  // namespace
}  // namespace ordo::kernels::rows
