#include "kernels/torch/gpu.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::kernels::torch {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

TEST(OpenGpuTest, SaysWhatIsMissingOrWhatThereIs) {
  const auto gpu = OpenGpu("kernels/cuda/libordo_cuda.so");
  if (gpu.ok()) {
    EXPECT_THAT(*gpu, HasSubstr("sm_"));
    return;
  }
  EXPECT_EQ(gpu.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(gpu.status().message()),
              AnyOf(HasSubstr("libtorch_cuda.so"), HasSubstr("nvidia-smi"),
                    HasSubstr("nvcc")));
}

}  // namespace
}  // namespace ordo::kernels::torch
