#include "scheduler/server/checkpoint_sweep.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/store/testing/memory_store.h"

namespace ordo::scheduler::server {
namespace {

using checkpoints::v1::Checkpoint;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class CheckpointSweepTest : public ::testing::Test {
 protected:
  void Put(const std::string& id, Checkpoint::State state, bool thin) {
    auto checkpoint = std::make_shared<Checkpoint>();
    checkpoint->set_name("jobs/a/checkpoints/" + id);
    checkpoint->set_state(state);
    if (thin) checkpoint->mutable_thin_time()->set_seconds(1);
    ORDO_ASSERT_OK(
        store_.Commit({{core::CheckpointPtr(std::move(checkpoint))}}));
  }
  // All paths, however they come.
  std::vector<std::string> All() {
    std::vector<std::string> all;
    CheckpointSweep sweep(store_);
    while (const auto paths = sweep.Next()) {
      all.insert(all.end(), paths->begin(), paths->end());
    }
    return all;
  }

  std::shared_ptr<store::testing::Memory> memory_ =
      std::make_shared<store::testing::Memory>();
  store::testing::MemoryStore store_{memory_};
};

TEST_F(CheckpointSweepTest, FindsFoldersOfDeletedAndFilesOfThinnedOnes) {
  Put("1-1", Checkpoint::DELETED, false);
  Put("2-1", Checkpoint::AVAILABLE, true);
  Put("3-1", Checkpoint::AVAILABLE, false);
  Put("4-1", Checkpoint::DELETED, true);
  EXPECT_THAT(All(),
              ElementsAre("jobs/a/checkpoints/1-1", "jobs/a/checkpoints/4-1",
                          "jobs/a/checkpoints/2-1/optimizer.safetensors"));
}

TEST_F(CheckpointSweepTest, LooksAtMoreThanFitAtOnce) {
  for (int i = 0; i < 2100; ++i) {
    Put(absl::StrCat(10'000 + i, "-1"), Checkpoint::AVAILABLE, true);
  }
  EXPECT_EQ(All().size(), 2100u);
}

TEST_F(CheckpointSweepTest, WithoutCheckpointsThereIsNothing) {
  EXPECT_THAT(All(), IsEmpty());
}

}  // namespace
}  // namespace ordo::scheduler::server
