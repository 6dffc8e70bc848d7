// Ranks on the GPUs of this machine, where there are some.

#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/training/nccl/load.h"
#include "model/training/numerics.h"
#include "model/training/run.h"
#include "model/training/snapshot.h"
#include "model/training/testing/ranks.h"
#include "model/training/testing/tiny_spec.h"

namespace ordo::model::training::nccl {
namespace {

using ::ordo::training::v1::TrainSpec;

// What a rank comes to.
struct Trace {
  std::vector<double> losses;
  std::string digest;
};

class NcclTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto device = OpenDevice("cuda", "kernels/cuda/libordo_cuda.so");
    if (!device.ok()) {
      GTEST_SKIP() << "skipped: no device: " << device.status().message();
    }
    const auto nccl = LoadLibrary("model/training/nccl/libordo_nccl.so");
    ORDO_ASSERT_OK(nccl);
    nccl_ = *nccl;
    ConfigureNumerics(1);
    num_gpus_ =
        c10::impl::getDeviceGuardImpl(c10::DeviceType::CUDA)->deviceCount();
  }

  static TrainSpec Spec() {
    TrainSpec spec = testing::TinySpec("rope");
    spec.mutable_training()->set_precision("bf16");
    spec.mutable_training()->set_micro_batch_size(2);
    return spec;
  }

  static Trace Train(int gpu, Collective* collective) {
    const c10::Device device(c10::DeviceType::CUDA, gpu);
    const c10::DeviceGuard on_device(device);
    auto run = Run::Create(Spec(), device, collective);
    ORDO_EXPECT_OK(run);
    Trace trace;
    while ((*run)->cursors().step < Spec().training().steps()) {
      const auto result = (*run)->Step();
      ORDO_EXPECT_OK(result);
      if (!result.ok()) break;
      trace.losses.push_back(result->loss);
    }
    trace.digest = StateDigest((*run)->State());
    return trace;
  }

  // Each on its GPU.
  std::vector<Trace> TrainOn(int ranks) {
    std::vector<Trace> traces(ranks);
    testing::ForEachRank(
        ranks,
        [&](Collective& collective) {
          const int rank = collective.rank();
          traces[rank] = Train(rank, &collective);
        },
        testing::Leaving::kTogether, nccl_);
    return traces;
  }

  const Library* nccl_ = nullptr;
  int num_gpus_ = 0;
};

TEST_F(NcclTest, OneRankTrainsToTheBitsOfOneProcess) {
  const Trace alone = Train(0, nullptr);
  const Trace rank = TrainOn(1)[0];
  EXPECT_EQ(rank.losses, alone.losses);
  EXPECT_EQ(rank.digest, alone.digest);
}

TEST_F(NcclTest, TwoRanksTrainWhatOneTrainsAndGiveTheSameBitsAgain) {
  if (num_gpus_ < 2) GTEST_SKIP() << "skipped: one device";
  const Trace alone = Train(0, nullptr);
  const std::vector<Trace> first = TrainOn(2);
  const std::vector<Trace> second = TrainOn(2);
  for (const std::vector<Trace>& traces : {first, second}) {
    for (const Trace& trace : traces) {
      EXPECT_EQ(trace.digest, first[0].digest);
      EXPECT_THAT(trace.losses, ::testing::Pointwise(
                                    ::testing::DoubleNear(1e-2), alone.losses));
    }
  }
}

}  // namespace
}  // namespace ordo::model::training::nccl
