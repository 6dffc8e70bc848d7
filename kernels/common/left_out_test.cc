#include "kernels/common/left_out.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::kernels {
namespace {

using ::testing::HasSubstr;

TEST(LeftOutTest, NoneIsAtFirst) {
  EXPECT_TRUE(CheckLeftIn("attention", "a").ok());
}

TEST(LeftOutTest, KernelsAreLeftOutByTableAndName) {
  LeaveOut({"attention/a", "rows/c"});
  const absl::Status status = CheckLeftIn("attention", "a");
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()), HasSubstr("attention/a"));
  EXPECT_TRUE(CheckLeftIn("update", "a").ok());
  EXPECT_TRUE(CheckLeftIn("attention", "b").ok());
  EXPECT_FALSE(CheckLeftIn("rows", "c").ok());
  LeaveOut({});
  EXPECT_TRUE(CheckLeftIn("attention", "a").ok());
}

}  // namespace
}  // namespace ordo::kernels
