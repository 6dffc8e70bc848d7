#include "kernels/update/table.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::kernels::update {
namespace {

TEST(UpdateTableTest, AProblemWithoutTokensIsRefusedByName) {
  const absl::Status status = Select({1, 12, 0, 64, 48}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              ::testing::HasSubstr("tokens is 0; at least 1"));
}

TEST(UpdateTableTest, AnyProblemHasAKernel) {
  EXPECT_TRUE(Select({1, 12, 1, 64, 48}).ok());
  EXPECT_TRUE(Select({3, 1, 7, 5, 0}).ok());
}

TEST(UpdateTableTest, WithoutALibraryThereIsNoneForAGpu) {
  const Problem problem = {1, 12, 1, 64, 48, Device::kCuda};
  EXPECT_EQ(Select(problem).status().code(), absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace ordo::kernels::update
