#include "model/training/share_state.h"

#include <memory>
#include <string>
#include <vector>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/training/testing/ranks.h"
#include "model/training/testing/tiny_spec.h"

namespace ordo::model::training {
namespace {

using ::ordo::training::v1::TrainSpec;
using testing::ForEachRank;

TrainSpec Spec() {
  TrainSpec spec = testing::TinySpec("tape");
  spec.mutable_training()->set_micro_batch_size(2);
  return spec;
}

std::unique_ptr<Run> MakeRun(Collective* collective) {
  auto run = Run::Create(Spec(), c10::Device(c10::DeviceType::CPU), collective);
  ORDO_EXPECT_OK(run);
  return *std::move(run);
}

void StepTo(Run* run, int64_t step) {
  while (run->cursors().step < step) ORDO_ASSERT_OK(run->Step());
}

TEST(ShareState, BringsAllRanksToThatOfRank0) {
  std::string at_start;
  std::vector<std::string> shared(3);
  std::vector<std::string> later(3);
  ForEachRank(3, [&](Collective& collective) {
    const int rank = collective.rank();
    const auto run = MakeRun(&collective);
    if (rank == 0) {
      const auto trained = MakeRun(nullptr);
      StepTo(trained.get(), 3);
      at_start = StateDigest(trained->State());
      ORDO_ASSERT_OK(run->Load(trained->State()));
    }
    ORDO_ASSERT_OK(ShareState(&collective, run.get()));
    shared[rank] = StateDigest(run->State());
    StepTo(run.get(), 5);
    later[rank] = StateDigest(run->State());
  });
  EXPECT_THAT(shared, ::testing::Each(at_start));
  EXPECT_THAT(later, ::testing::Each(later[0]));
  EXPECT_NE(later[0], at_start);
}

TEST(ShareState, ResumedRanksComeToTheBitsOfAnUndisturbedRun) {
  const int64_t steps = Spec().training().steps();
  std::string whole;
  Snapshot stop;
  ForEachRank(2, [&](Collective& collective) {
    const auto run = MakeRun(&collective);
    StepTo(run.get(), 7);
    if (collective.rank() == 0) stop = Copy(run->State());
    StepTo(run.get(), steps);
    if (collective.rank() == 0) whole = StateDigest(run->State());
  });
  ForEachRank(2, [&](Collective& collective) {
    const auto run = MakeRun(&collective);
    if (collective.rank() == 0) {
      ORDO_ASSERT_OK(run->Load(stop));
    }
    ORDO_ASSERT_OK(ShareState(&collective, run.get()));
    StepTo(run.get(), steps);
    EXPECT_EQ(StateDigest(run->State()), whole);
  });
}

}  // namespace
}  // namespace ordo::model::training
