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
      Differences(before,
                  {"b2", 4, "AVX512", "2.12.0", "tiled", "OMP_DYNAMIC=1"}),
      ElementsAre(HasSubstr("build"), HasSubstr("threads was 2 and is 4"),
                  HasSubstr("AVX2 and is AVX512"),
                  HasSubstr("2.11.0 and is 2.12.0"),
                  HasSubstr("reference and is tiled"),
                  HasSubstr("'' and is 'OMP_DYNAMIC=1'")));
}

TEST(Numerics, EnvironmentSaysWhatLibrariesChooseKernelsBy) {
  const Environment before = CurrentEnvironment("abc");
  EXPECT_EQ(before.kernels, "reference");
  // Vendor, family/model: "AVX512+fma+avx2 GenuineIntel 6/143".
  EXPECT_THAT(before.cpu_capability,
              ::testing::MatchesRegex("[A-Z0-9_]+\\S* \\S+ [0-9]+/[0-9]+"));
  ASSERT_EQ(setenv("MKL_CBWR", "AVX2", /*overwrite=*/1), 0);
  EXPECT_THAT(CurrentEnvironment("abc").settings, HasSubstr("MKL_CBWR=AVX2"));
  ASSERT_EQ(unsetenv("MKL_CBWR"), 0);
}

}  // namespace
}  // namespace ordo::model::training
