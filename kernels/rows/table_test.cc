#include "kernels/rows/table.h"

#include "gtest/gtest.h"

namespace ordo::kernels::rows {
namespace {

TEST(RowsTableTest, TheFirstThatThisMachineRunsIsTaken) {
  for (const Kernel& kernel : Kernels()) {
    if (!kernel.supports().ok()) continue;
    EXPECT_EQ(Select(Device::kCpu).value()->name, kernel.name);
    return;
  }
  FAIL() << "no kernel runs on this machine";
}

TEST(RowsTableTest, TheLastRunsOnAnyMachine) {
  EXPECT_TRUE(Kernels().back().supports().ok());
}

TEST(RowsTableTest, WithoutALibraryThereIsNoneForAGpu) {
  EXPECT_EQ(Select(Device::kCuda).status().code(),
            absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace ordo::kernels::rows
