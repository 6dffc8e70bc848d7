// The one numeric test of the kernels for rows: table x problems. Device
// code also runs on an emulated device.

#include "kernels/cuda/testing/rows.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/common/check/numbers.h"
#include "kernels/common/testing/captured.h"
#include "kernels/common/testing/processor.h"
#include "kernels/rows/check/compare.h"
#include "kernels/rows/check/turn.h"
#include "kernels/rows/cuda_rows.h"
#include "kernels/rows/reference.h"
#include "kernels/rows/table.h"

namespace ordo::kernels::rows {
namespace {

using check::Contiguous;
using kernels::check::BytesOf;
using kernels::check::Distance;
using kernels::check::Guarded;
using kernels::check::Placed;
using kernels::check::TestResources;

constexpr Type kSingle = Type::kFloat32;

const std::vector<Kernel>& AllKernels() {
  static const bool added =
      cuda::testing::AddRows(CudaKernel(FusedCuda()), AddKernels);
  static_cast<void>(added);
  return Kernels();
}

void ExpectNone(const std::vector<kernels::check::Miss>& misses,
                const std::string& label) {
  for (const auto& miss : misses) {
    ADD_FAILURE() << label << ": " << miss.what << ": " << miss.error
                  << " is more than " << miss.bound;
  }
}

Numbers ValuesOf(const Guarded& guarded) {
  EXPECT_TRUE(guarded.IsIntact());
  return guarded.Values();
}

RotationTensors RunTurn(const Kernel& kernel, const Rotation& rotation,
                        const RotationTensors& given) {
  check::Ran ran;
  RotationTensors result = check::RunTurn(kernel, rotation, given, &ran);
  ExpectNone(ran.misses(), "turn");
  return result;
}

class RowsTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    for (const Kernel& kernel : AllKernels()) {
      if (kernel.name == GetParam()) kernel_ = &kernel;
    }
    ASSERT_NE(kernel_, nullptr);
    const absl::Status supported = kernel_->supports();
    if (!supported.ok()) GTEST_SKIP() << "skipped: " << supported.message();
    cuda::testing::UseMemoryOf(*kernel_);
  }

  const Kernel* kernel_ = nullptr;
  const TestResources two_{0, 2};
};

INSTANTIATE_TEST_SUITE_P(
    Table, RowsTest, ::testing::ValuesIn(cuda::testing::NamesOf(AllKernels())),
    [](const auto& info) { return info.param; });

TEST_P(RowsTest, EverythingIsNearTheReference) {
  for (const check::Case& c : check::Cases(kernel_->device)) {
    ExpectNone(c.misses_of(*kernel_), c.label);
  }
}

// A row that refuses all is skipped everywhere.
TEST(RowsSupportTest, RowsRefuseNothingWhereTheyCanRun) {
  for (const Kernel& kernel : AllKernels()) {
    if (cuda::testing::IsOnGpu(kernel)) continue;
    EXPECT_EQ(kernel.supports(),
              kernel.device == Device::kCpu
                  ? kernels::testing::HasInstructionsOf(kernel.name)
                  : absl::OkStatus())
        << kernel.name;
  }
}

// The row with all passes from graphs.
Kernel WithGraphs(const DeviceGraphs& graphs, Kernel kernel) {
  const auto capture = [&graphs](auto* pass) {
    *pass = kernels::testing::Captured(graphs, std::move(*pass));
  };
  capture(&kernel.turn);
  capture(&kernel.turn_backward);
  capture(&kernel.norm);
  capture(&kernel.norm_backward);
  capture(&kernel.gate);
  capture(&kernel.gate_backward);
  capture(&kernel.adam);
  capture(&kernel.loss);
  capture(&kernel.loss_backward);
  return kernel;
}

// Passes that write in place are run twice from what was there, too.
TEST_P(RowsTest, FromGraphsEverythingIsNearTheReference) {
  constexpr int64_t kMaxCount = 8000;
  if (kernel_->device != Device::kCuda) GTEST_SKIP() << "skipped: no GPU's";
  const Kernel of_graphs =
      WithGraphs(cuda::testing::UseGraphsOf(*kernel_), *kernel_);
  for (const check::Case& c : check::Cases(kernel_->device)) {
    if (c.count > kMaxCount) continue;
    ExpectNone(c.misses_of(*kernel_), c.label);
    ExpectNone(c.misses_of(of_graphs), c.label);
  }
  cuda::testing::UseMemoryOf(*kernel_);
}

TEST_P(RowsTest, AProcessorsKernelsRefuseFloat16ByName) {
  if (kernel_->device != Device::kCpu) GTEST_SKIP() << "skipped: it does fp16";
  Rotation turn;
  Norm norm;
  Gate gate;
  turn.type = norm.type = gate.type = Type::kFloat16;
  for (const absl::Status& status :
       {kernel_->turn(turn, two_.get()),
        kernel_->turn_backward(turn, two_.get()),
        kernel_->norm(norm, two_.get()),
        kernel_->norm_backward(norm, two_.get()),
        kernel_->gate(gate, two_.get()),
        kernel_->gate_backward(gate, two_.get())}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
    EXPECT_EQ(status.message(), "cpu_fused does not do fp16");
  }
}

// q and k of one state, and q with fewer keys and a table that all share.
TEST_P(RowsTest, TwoAreTurnedAsEachAlone) {
  Rotation r = check::RotationOf({"", 20, 32, 24}, kSingle, false);
  const RotationTensors q = check::RotationNumbers(r);
  RotationTensors k = q;
  std::swap(k.x, k.d_y);
  const RotationTensors of_q = RunTurn(*kernel_, r, q);
  const RotationTensors of_k = RunTurn(*kernel_, r, k);
  const auto size = static_cast<int64_t>(q.x.size());
  Guarded table(kSingle, q.table), x(kSingle, q.x), d(kSingle, q.d_y);
  Guarded d_table(kSingle, static_cast<int64_t>(q.table.size()));
  Guarded y[2] = {{kSingle, size}, {kSingle, size}};
  Guarded d_x[2] = {{kSingle, size}, {kSingle, size}};
  r.table_BHTR = Contiguous(&table, r, r.channels);
  r.d_table_BHTR = Contiguous(&d_table, r, r.channels);
  r.num_turned = 2;
  for (int i = 0; i < 2; ++i) {
    r.turned[i] = {r.heads, Contiguous(i == 0 ? &x : &d, r, r.width),
                   Contiguous(&y[i], r, r.width),
                   Contiguous(i == 0 ? &d : &x, r, r.width),
                   Contiguous(&d_x[i], r, r.width)};
  }
  EXPECT_TRUE(kernel_->turn(r, two_.get()).ok());
  EXPECT_TRUE(kernel_->turn_backward(r, two_.get()).ok());
  EXPECT_EQ(ValuesOf(y[0]), of_q.y);
  EXPECT_EQ(ValuesOf(y[1]), of_k.y);
  EXPECT_EQ(ValuesOf(d_x[0]), of_q.d_x);
  EXPECT_EQ(ValuesOf(d_x[1]), of_k.d_x);
  Numbers sum = of_q.d_table;
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += of_k.d_table[i];
  EXPECT_LT(Distance(ValuesOf(d_table), sum), 1e-5);

  // One table for all heads and rows of the batch, one head of keys.
  r.table_BHTR.batch_stride = r.table_BHTR.head_stride = 0;
  r.d_table_BHTR = {};
  r.turned[1].heads = 1;
  r.turned[1].y_BHTD.batch_stride = r.tokens * r.width;
  const Numbers before = y[1].Values();
  EXPECT_TRUE(kernel_->turn(r, two_.get()).ok());
  RotationTensors shared = q;
  const int64_t row = r.tokens * r.channels;
  for (int64_t i = 0; i < static_cast<int64_t>(q.table.size()); ++i) {
    shared.table[i] = q.table[i % row];
  }
  EXPECT_EQ(ValuesOf(y[0]), RunTurn(*kernel_, r, shared).y);
  const Numbers after = ValuesOf(y[1]);
  const int64_t written = r.batch * r.tokens * r.width;
  EXPECT_EQ(Numbers(after.begin() + written, after.end()),
            Numbers(before.begin() + written, before.end()));
}

TEST_P(RowsTest, ALogitThatIsNoNumberMakesTheLossNone) {
  for (const size_t at : {0, 5, 69}) {
    Loss loss;
    loss.rows = 1;
    loss.width = 70;
    Numbers numbers(70, 1);
    numbers[at] = std::nan("");
    Guarded logits(kSingle, numbers), found(kSingle, 1), log_sum(kSingle, 1);
    Placed target(BytesOf(std::vector<int64_t>{7}));
    loss.logits_NC = logits.floats();
    loss.targets_N = reinterpret_cast<const int64_t*>(target.data());
    loss.loss_N = found.floats();
    loss.log_sum_N = log_sum.floats();
    EXPECT_TRUE(kernel_->loss(loss, two_.get()).ok());
    EXPECT_TRUE(std::isnan(found.Values()[0])) << at;
  }
}

}  // namespace
}  // namespace ordo::kernels::rows
