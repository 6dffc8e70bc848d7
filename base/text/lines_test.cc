#include "base/text/lines.h"

#include "gtest/gtest.h"

namespace ordo::base {
namespace {

constexpr char kCpuInfo[] =
    "processor\t: 0\nmodel name\t: A: B \nflags\t\t: fpu avx2\n\n"
    "processor\t: 1\nmodel name\t: C";

TEST(LineValueTest, IsThatOfTheFirstLineWithTheWholeKey) {
  EXPECT_EQ(LineValue(kCpuInfo, "model name"), "A: B");
  EXPECT_EQ(LineValue(kCpuInfo, "flags"), "fpu avx2");
  EXPECT_EQ(LineValue(kCpuInfo, "model"), "");
  EXPECT_EQ(LineValue("flags:\nModel:  H100", "Model"), "H100");
}

TEST(LineValueTest, IsEmptyWhereThereIsNone) {
  EXPECT_EQ(LineValue("", "a"), "");
  EXPECT_EQ(LineValue("a\nb: 1\n", "a"), "");
  EXPECT_EQ(LineValue("a:\n", "a"), "");
  EXPECT_EQ(LineValue("\n\na: \t \nb: 1", "a"), "");
}

}  // namespace
}  // namespace ordo::base
