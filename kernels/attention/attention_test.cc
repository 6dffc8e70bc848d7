// The one numeric test of all kernels: table x problems.

#include <string>
#include <tuple>
#include <unistd.h>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/attention/check/case.h"
#include "kernels/attention/check/compare.h"
#include "kernels/attention/check/problems.h"
#include "kernels/attention/cpu_pairs.h"
#include "kernels/attention/reference.h"
#include "kernels/attention/table.h"
#include "kernels/attention/testing/emulated_tiles.h"
#include "kernels/attention/testing/suite.h"
#include "kernels/common/cpu_features.h"
#include "kernels/cuda/testing/rows.h"

namespace ordo::kernels::attention {
namespace {

using check::Case;
using check::RunOptions;
using cuda::testing::Library;

// Of a kernel's device. On a GPU rows begin where boxes of them can be copied:
// elsewhere cuda_hopper does not compute.
RunOptions OptionsFor(const Kernel& kernel) {
  RunOptions options;
  if (kernel.device != Device::kCuda) return options;
  options.memory = &Library()->memory;
  options.gap = 8;
  return options;
}

class AttentionTest
    : public ::testing::TestWithParam<std::tuple<std::string, Case>> {
 protected:
  void SetUp() override {
    for (const Kernel& kernel : Kernels()) {
      if (kernel.name == std::get<0>(GetParam())) kernel_ = &kernel;
    }
    ASSERT_NE(kernel_, nullptr);
    case_ = std::get<1>(GetParam());
    case_.problem.device = kernel_->device;
    const absl::Status supported = kernel_->supports(case_.problem);
    if (!supported.ok()) GTEST_SKIP() << "skipped: " << supported.message();
  }

  Case case_;
  const Kernel* kernel_ = nullptr;
};

TEST_P(AttentionTest, IsNearTheReference) {
  RunOptions options = OptionsFor(*kernel_);
  options.threads = 2;
  testing::ExpectNearReference(case_, *kernel_, options);
}

TEST_P(AttentionTest, ThreadsAndWhereRowsBeginChangeNoBit) {
  RunOptions others = OptionsFor(*kernel_);
  others.threads = 3;
  others.gap = kernel_->device == Device::kCuda ? 16 : 8;
  testing::ExpectSameBits(case_.problem, *kernel_, OptionsFor(*kernel_),
                          others);
}

std::vector<std::string> KernelNames() {
  Library();
  static const bool added = [] {
    AddKernels(
        {PairKernel("_emulated_amx", testing::kEmulatedTiles, HasAvx512Bf16)});
    return true;
  }();
  static_cast<void>(added);
  return cuda::testing::NamesOf(Kernels());
}

INSTANTIATE_TEST_SUITE_P(
    Table, AttentionTest,
    ::testing::Combine(::testing::ValuesIn(KernelNames()),
                       ::testing::ValuesIn(check::Problems())),
    [](const ::testing::TestParamInfo<std::tuple<std::string, Case>>& info) {
      return std::get<0>(info.param) + "_" + std::get<1>(info.param).label;
    });

// TAPE's state gets no gradient in some layers.
TEST(MissingGradientTest, IsZero) {
  Problem problem = check::Plain(70, 24);
  problem.num_values = 2;
  problem.values[1] = {48, problem.heads};
  Tensors judge = check::MakeTensors(problem, 3);
  judge.d_outputs[kMixed + 1].clear();
  const Tensors inputs = judge;
  ReferenceBackward(problem, &judge);
  for (const Kernel& kernel : Kernels()) {
    if (!kernel.supports(problem).ok()) continue;
    Tensors found = inputs;
    EXPECT_EQ(check::RunKernel(problem, kernel, RunOptions(), &found), "");
    EXPECT_EQ(check::Largest(found.d_inputs[kValue + 1]), 0) << kernel.name;
    for (const Input input : {kQ, kK, kValue}) {
      EXPECT_LT(check::Distance(found.d_inputs[input], judge.d_inputs[input]),
                1e-5)
          << kernel.name << ": " << NameOf(input);
    }
  }
}

TEST(NotANumberTest, IsSeenByAllWhoSeeItsKeyOrAreItsQuery) {
  for (const Kernel& kernel : Kernels()) {
    if (kernel.device != Device::kCpu) continue;
    testing::ExpectNotANumberIsSeen(Type::kFloat32, kernel);
    testing::ExpectNotANumberIsSeen(Type::kBfloat16, kernel);
  }
}

TEST(FarKeysTest, AreLeftOutWhereABiasLeavesThemNoWeight) {
  for (const Kernel& kernel : Kernels()) {
    for (const Type type : {Type::kFloat32, Type::kBfloat16}) {
      testing::ExpectFarKeysAreLeftOut(type, kernel, OptionsFor(kernel));
    }
  }
}

// That no row was tested on a device is said once, and why.
TEST(CudaTest, ThereIsADevice) {
  if (access(cuda::testing::kLibraryPath, F_OK) != 0)
    GTEST_SKIP() << "skipped: no nvcc";
  ASSERT_NE(Library(), nullptr);
  const char* const missing = Library()->missing_device();
  if (missing != nullptr) GTEST_SKIP() << "skipped: no device: " << missing;
}

}  // namespace
}  // namespace ordo::kernels::attention
