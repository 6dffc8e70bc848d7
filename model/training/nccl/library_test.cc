// Ranks on the GPUs of this machine, where there are some.

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include "base/clock/clock.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/training/c10d.h"
#include "model/training/nccl/load.h"
#include "model/training/numerics.h"
#include "model/training/run.h"
#include "model/training/snapshot.h"
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
    base::PosixFilesystem files;
    base::RealClock clock;
    const base::testing::TemporaryFolder folder;
    std::vector<std::unique_ptr<Collective>> collectives(ranks);
    std::vector<Trace> traces(ranks);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank) {
      threads.emplace_back([&, rank] {
        ConfigureNumerics(1);
        MeetOptions options;
        options.rank = rank;
        options.ranks = ranks;
        options.address_file = folder.Path("rendezvous");
        options.nccl = nccl_;
        collectives[rank] = Meet(files, clock, options).value();
        traces[rank] = Train(rank, collectives[rank].get());
      });
    }
    for (std::thread& thread : threads) thread.join();
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
