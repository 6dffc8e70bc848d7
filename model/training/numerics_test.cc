#include "model/training/numerics.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::training {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Numerics, TakesTheThreadsOfTheSpecAndDeterministicAlgorithms) {
  ConfigureNumerics(3);
  EXPECT_EQ(at::get_num_threads(), 3);
  EXPECT_EQ(at::get_num_interop_threads(), 1);
  EXPECT_TRUE(at::globalContext().deterministicAlgorithms());
  ConfigureNumerics(2);
  EXPECT_EQ(CurrentEnvironment("abc").threads, 2);
}

TEST(Differences, NamesEachThingThatChanged) {
  const Environment before{"b1", 2, "AVX2", "2.11.0"};
  EXPECT_THAT(Differences(before, before), IsEmpty());
  EXPECT_THAT(
      Differences(before, {"b2", 4, "AVX512", "2.12.0"}),
      ElementsAre(HasSubstr("build"), HasSubstr("threads was 2 and is 4"),
                  HasSubstr("AVX2 and is AVX512"),
                  HasSubstr("2.11.0 and is 2.12.0")));
}

}  // namespace
}  // namespace ordo::model::training
