#include "kernels/cuda/load.h"

#include <string>
#include <unistd.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/attention/table.h"

namespace ordo::kernels::cuda {
namespace {

using ::testing::HasSubstr;

constexpr char kPath[] = "kernels/cuda/libordo_cuda.so";

TEST(LoadCudaTest, AMissingLibraryIsNotFoundByItsPath) {
  const absl::Status status = LoadCuda("kernels/cuda/none.so").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("kernels/cuda/none.so"));
}

TEST(LoadCudaTest, AFileThatIsNoLibraryIsRefusedWithTheReason) {
  const absl::Status status = LoadCuda("/proc/self/cmdline").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("cannot be loaded"));
}

TEST(LoadCudaTest, AnotherLibraryIsRefused) {
  const absl::Status status = LoadCuda("/proc/self/exe").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
}

TEST(LoadCudaTest, RowsJoinTheTableOnceAndSayWhatIsMissing) {
  if (access(kPath, F_OK) != 0) GTEST_SKIP() << "skipped: no nvcc";
  const auto library = LoadCuda(kPath);
  ASSERT_TRUE(library.ok()) << library.status();
  ASSERT_EQ(LoadCuda(kPath).value(), *library);
  int rows = 0;
  attention::Problem problem;
  problem.device = Device::kCuda;
  for (const attention::Kernel& kernel : attention::Kernels()) {
    if (kernel.device != Device::kCuda) continue;
    ++rows;
    const absl::Status supported = kernel.supports(problem);
    EXPECT_EQ(supported.code(), absl::StatusCode::kUnimplemented);
    const bool missing = (*library)->missing_device() != nullptr;
    EXPECT_THAT(std::string(supported.message()),
                HasSubstr(missing ? "no device" : "bf16"))
        << kernel.name;
  }
  EXPECT_EQ(rows, (*library)->num_attention);
}

}  // namespace
}  // namespace ordo::kernels::cuda
