// The one numeric test of the kernels for the change of a state: table x
// problems. Device code also runs on an emulated device.

#include <string>
#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/common/check/numbers.h"
#include "kernels/common/testing/captured.h"
#include "kernels/common/testing/processor.h"
#include "kernels/cuda/testing/rows.h"
#include "kernels/update/check/case.h"
#include "kernels/update/check/compare.h"
#include "kernels/update/cuda_rows.h"
#include "kernels/update/table.h"

namespace ordo::kernels::update {
namespace {

using check::Case;
using check::MakeTensors;
using check::State;
using kernels::check::Guarded;
using kernels::check::TestResources;

const std::vector<Kernel>& AllKernels() {
  static const bool added =
      cuda::testing::AddRows(CudaKernel(FusedCuda()), AddKernels);
  static_cast<void>(added);
  return Kernels();
}

// From now on memory is where the kernel's problems lie, and so is this one.
void Prepare(const Kernel& kernel, Problem* problem) {
  problem->device = kernel.device;
  cuda::testing::UseMemoryOf(kernel);
}

// What the kernel makes of the tensors.
Tensors TensorsOf(const Case& c, const Kernel& kernel, int threads,
                  const Tensors& x) {
  const check::Ran ran = check::RunKernel(c, kernel, threads, x);
  EXPECT_EQ(ran.trouble, "");
  return ran.tensors;
}

class UpdateTest
    : public ::testing::TestWithParam<std::tuple<std::string, Case>> {
 protected:
  void SetUp() override {
    for (const Kernel& kernel : AllKernels()) {
      if (kernel.name == std::get<0>(GetParam())) kernel_ = &kernel;
    }
    ASSERT_NE(kernel_, nullptr);
    case_ = std::get<1>(GetParam());
    if (kernel_->device == Device::kCpu && case_.other == Type::kFloat16) {
      GTEST_SKIP() << "skipped: kernels of a processor do not do fp16";
    }
    Prepare(*kernel_, &case_.problem);
    const absl::Status supported = kernel_->supports(case_.problem);
    if (!supported.ok()) GTEST_SKIP() << "skipped: " << supported.message();
  }

  const Case& c() const { return case_; }

  Case case_;

  const Kernel* kernel_ = nullptr;
};

TEST_P(UpdateTest, IsNearTheReference) {
  for (const auto& miss : check::MissesOf(c(), *kernel_)) {
    ADD_FAILURE() << miss.what << ": " << miss.error << " is more than "
                  << miss.bound;
  }
}

TEST_P(UpdateTest, ThreadsChangeNoBit) {
  const Tensors inputs = MakeTensors(c());
  const Tensors one = TensorsOf(c(), *kernel_, 1, inputs);
  const Tensors three = TensorsOf(c(), *kernel_, 3, inputs);
  for (const auto& [name, member] : check::Results()) {
    EXPECT_EQ(one.*member, three.*member) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, UpdateTest,
    ::testing::Combine(
        ::testing::ValuesIn(cuda::testing::NamesOf(AllKernels())),
        ::testing::ValuesIn(check::Cases(Device::kCuda))),
    [](const ::testing::TestParamInfo<std::tuple<std::string, Case>>& info) {
      return std::get<0>(info.param) + "_" + std::get<1>(info.param).label;
    });

// A row that refuses what it is for is skipped above.
TEST(UpdateKernelTest, RowsRefuseNothingWhereTheyCanRun) {
  for (const Kernel& kernel : AllKernels()) {
    if (cuda::testing::IsOnGpu(kernel)) continue;
    const absl::Status possible =
        kernel.device == Device::kCpu
            ? kernels::testing::HasInstructionsOf(kernel.name)
            : absl::OkStatus();
    for (Case c : check::Cases(kernel.device)) {
      c.problem.device = kernel.device;
      EXPECT_EQ(kernel.supports(c.problem), possible)
          << kernel.name << " " << c.label;
    }
  }
}

TEST(UpdateKernelTest, FromGraphsPassesGiveTheSameBits) {
  for (const Kernel& kernel : AllKernels()) {
    for (Case c : check::Cases(Device::kCuda)) {
      Prepare(kernel, &c.problem);
      if (kernel.device != Device::kCuda || c.label.rfind("tails", 0) != 0 ||
          !kernel.supports(c.problem).ok()) {
        continue;
      }
      SCOPED_TRACE(kernel.name + " " + c.label);
      const Tensors x = MakeTensors(c);
      const Tensors right = TensorsOf(c, kernel, 1, x);
      const DeviceGraphs& graphs = cuda::testing::UseGraphsOf(kernel);
      const Tensors found =
          TensorsOf(c, kernels::testing::WithGraphs(graphs, kernel), 1, x);
      for (const auto& [name, member] : check::Results()) {
        EXPECT_EQ(found.*member, right.*member) << name;
      }
      cuda::testing::UseMemoryOf(kernel);
    }
  }
}

// A token's state depends on no other token, and a map of zeros leaves it.
TEST(UpdateKernelTest, TokensKeepTheirBitsWhateverIsBesideThem) {
  Case all{"", {1, 12, 40, 64, 48}};
  const Tensors x = MakeTensors(all);
  for (const Kernel& kernel : AllKernels()) {
    Prepare(kernel, &all.problem);
    if (!kernel.supports(all.problem).ok()) continue;
    const std::vector<double> whole = TensorsOf(all, kernel, 1, x).out_BHTW;
    Case last = all;
    last.problem.tokens = 1;
    Tensors of_last = x;
    of_last.psi_BTE = {x.psi_BTE.end() - 48, x.psi_BTE.end()};
    of_last.x_BHTW.clear();
    std::vector<double> expected;
    for (int64_t h = 0; h < 12; ++h) {
      for (int64_t w = 0; w < 64; ++w) {
        const size_t at = (h * 40 + 39) * 64 + w;
        of_last.x_BHTW.push_back(x.x_BHTW[at]);
        expected.push_back(whole[at]);
      }
    }
    of_last.d_out_BHTW = of_last.x_BHTW;
    EXPECT_EQ(TensorsOf(last, kernel, 1, of_last).out_BHTW, expected)
        << kernel.name;
    Tensors still = x;
    still.out_HE.assign(x.out_HE.size(), 0);
    EXPECT_EQ(TensorsOf(all, kernel, 1, still).out_BHTW, x.x_BHTW)
        << kernel.name;
  }
}

TEST(UpdateKernelTest, AProcessorsKernelsRefuseFloat16ByName) {
  Case c{"", {1, 2, 3, 4, 5}};
  c.other = Type::kFloat16;
  const Tensors x = MakeTensors(c);
  for (const Kernel& kernel : AllKernels()) {
    if (kernel.device != Device::kCpu) continue;
    Prepare(kernel, &c.problem);
    if (!kernel.supports(c.problem).ok()) continue;
    EXPECT_THAT(check::RunKernel(c, kernel, 1, x).trouble,
                ::testing::HasSubstr("does not do fp16"));
  }
}

TEST(UpdateKernelTest, GradientsThatNobodyWantsAreNotWritten) {
  Case c{"", {1, 3, 4, 8, 5}};
  const Tensors x = MakeTensors(c);
  for (const Kernel& kernel : AllKernels()) {
    Prepare(kernel, &c.problem);
    if (!kernel.supports(c.problem).ok()) continue;
    State in(c, c.type, x.x_BHTW), out(c, c.type),
        d_out(c, c.type, x.d_out_BHTW);
    Guarded w1(Type::kFloat32, x.in_EH), w2(Type::kFloat32, x.out_HE),
        psi(c.other, x.psi_BTE);
    const TestResources resources(
        kernel.workspace_bytes(c.problem, Way::kBackward, 1), 1);
    Call call;
    call.problem = c.problem;
    call.inputs = {{},          in.view(),  nullptr, w1.floats(),
                   w2.floats(), psi.data(), c.other};
    call.gradients.d_out = d_out.view();
    EXPECT_TRUE(kernel.backward(call, resources.get()).ok());
    EXPECT_TRUE(resources.IsIntact());
  }
}

}  // namespace
}  // namespace ordo::kernels::update
