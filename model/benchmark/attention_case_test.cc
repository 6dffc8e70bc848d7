#include "model/benchmark/attention_case.h"

#include "base/status/testing/status_matchers.h"
#include "gtest/gtest.h"

namespace ordo::model::benchmark {
namespace {

using kernels::attention::Kernel;

// What is timed is attention: on the tensors that it is given, all of it.
TEST(AttentionCaseTest, KernelsAndFlashAttentionGiveTheSame) {
  AttentionShape shape;
  shape.length = 70;
  shape.width = 16;
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto plain,
      AttentionCase::Create(AttentionClasses().front(), shape));
  for (const Kernel& kernel : kernels::attention::Kernels()) {
    if (!kernel.supports(plain->problem()).ok()) continue;
    ORDO_ASSERT_OK_AND_ASSIGN(const double distance,
                              plain->DistanceToFlash(kernel));
    EXPECT_LT(distance, 1e-4) << kernel.name;
  }
}

}  // namespace
}  // namespace ordo::model::benchmark
