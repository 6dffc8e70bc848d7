#include "model/training/numerics.h"

#include <dlfcn.h>
#include <string>
#include <vector>

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <torch/version.h>

#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/common/left_out.h"
#include "model/training/loaded_libraries.h"

namespace ordo::model::training {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(Numerics, TakesTheThreadsOfTheSpecAndDeterministicAlgorithms) {
  ConfigureNumerics(3);
  EXPECT_EQ(at::get_num_threads(), 3);
  EXPECT_EQ(at::get_num_interop_threads(), 1);
  EXPECT_TRUE(at::globalContext().deterministicAlgorithms());
  ConfigureNumerics(2);
  EXPECT_EQ(CurrentEnvironment("abc").threads, 2);
}

TEST(Numerics, KernelsAreThoseOfTheTypeThatAreNotLeftOut) {
  const auto kernels_in = [](const std::string& precision) {
    const std::vector<std::string> names =
        absl::StrSplit(KernelsIn(precision), ' ');
    return names;
  };
  // It runs on every processor, and takes every type.
  EXPECT_THAT(kernels_in("fp32"), Contains("cpu_tiled"));
  EXPECT_THAT(kernels_in("bf16"), Contains("cpu_tiled"));
  EXPECT_THAT(KernelsIn("fp32"), Not(HasSubstr("cpu_pairs")));
  kernels::LeaveOut({"attention/cpu_tiled"});
  EXPECT_THAT(kernels_in("fp32"),
              AllOf(Not(Contains("cpu_tiled")),
                    Contains("without:attention/cpu_tiled")));
  kernels::LeaveOut({});
}

TEST(Numerics, IsDeterministicOnceItIsConfigured) {
  at::Context& context = at::globalContext();
  context.setDeterministicAlgorithms(false, /*warn_only=*/false);
  EXPECT_FALSE(IsDeterministic());
  context.setDeterministicAlgorithms(true, /*warn_only=*/true);
  EXPECT_FALSE(IsDeterministic());
  ConfigureNumerics(1);
  EXPECT_TRUE(IsDeterministic());
}

TEST(Numerics, TakesAsManyThreadsWhateverTheRuntimeMayChoose) {
  auto* const set_dynamic =
      reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_dynamic"));
  auto* const get_dynamic =
      reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_dynamic"));
  ASSERT_NE(set_dynamic, nullptr);
  // As OMP_DYNAMIC=true does.
  set_dynamic(1);
  ASSERT_NE(get_dynamic(), 0);
  ConfigureNumerics(2);
  EXPECT_EQ(get_dynamic(), 0);
}

TEST(Numerics, EnvironmentNamesTheLibTorchThatIsLoaded) {
  EXPECT_THAT(CurrentEnvironment("abc").torch_version,
              ::testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+\\S* "
                                      "[0-9a-f]{16}"));
  EXPECT_THAT(CurrentEnvironment("abc").torch_version,
              ::testing::StartsWith(TORCH_VERSION));
  EXPECT_THAT(CurrentEnvironment("abc").torch_version,
              ::testing::EndsWith(DigestOfLoaded(
                  {"libtorch_cpu.", "libc10.", "libgomp.", "libm."})));
}

TEST(Numerics, OnAProcessorNoGpuIsOpenedOrNamed) {
  const auto device = OpenDevice("cpu", "none.so");
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_TRUE(device->is_cpu());
  EXPECT_EQ(CurrentEnvironment("abc").gpu, "");
}

TEST(Differences, NamesEachThingThatChanged) {
  const Environment before{"b1", 2, "AVX2", "2.11.0", "reference"};
  EXPECT_THAT(Differences(before, before), IsEmpty());
  EXPECT_THAT(
      Differences(before, {"b2", 4, "AVX512", "2.12.0", "tiled",
                           "MKL_CBWR=AVX2", "NVIDIA H200", 4}),
      ElementsAre(HasSubstr("build"), HasSubstr("threads was 2 and is 4"),
                  HasSubstr("AVX2 and is AVX512"),
                  HasSubstr("2.11.0 and is 2.12.0"),
                  HasSubstr("reference and is tiled"),
                  HasSubstr("'' and is 'MKL_CBWR=AVX2'"),
                  HasSubstr("the GPU was '' and is 'NVIDIA H200'"),
                  HasSubstr("ranks was 1 and is 4")));
}

TEST(Numerics, EnvironmentSaysWhatLibrariesChooseKernelsBy) {
  const Environment before = CurrentEnvironment("abc");
  // The last one is for any processor.
  EXPECT_THAT(before.kernels, ::testing::EndsWith("cpu_tiled"));
  EXPECT_EQ(CurrentEnvironment("abc", "reference").kernels, "reference");
  kernels::LeaveOut({"rows/cpu_fused"});
  EXPECT_EQ(CurrentEnvironment("abc", "reference").kernels,
            "reference without:rows/cpu_fused");
  kernels::LeaveOut({});
  // Vendor, family/model: "AVX512+fma+avx2 GenuineIntel 6/143".
  EXPECT_THAT(before.cpu_capability,
              ::testing::MatchesRegex("[A-Z0-9_]+\\S* \\S+ [0-9]+/[0-9]+"));
  ASSERT_EQ(setenv("MKL_CBWR", "AVX2", /*overwrite=*/1), 0);
  EXPECT_THAT(CurrentEnvironment("abc").settings, HasSubstr("MKL_CBWR=AVX2"));
  ASSERT_EQ(unsetenv("MKL_CBWR"), 0);
}

}  // namespace
}  // namespace ordo::model::training
