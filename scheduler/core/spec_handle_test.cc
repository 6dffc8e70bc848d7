#include "scheduler/core/spec_handle.h"

#include <memory>
#include <string>
#include <utility>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/job.h"

namespace ordo::scheduler::core {
namespace {

using base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// Tells a spec by its number, and counts how often it is asked.
class CountingSource : public SpecSource {
 public:
  absl::StatusOr<SpecPtr> ReadSpec(int64_t id) override {
    ++num_reads;
    if (id != 7) return absl::DataLossError("it is damaged");
    auto spec = std::make_shared<jobs::v1::JobSpec>();
    spec->mutable_training()->set_seed(7);
    return spec;
  }

  int num_reads = 0;
};

class SpecHandleTest : public ::testing::Test {
 protected:
  static SpecPtr MakeSpec() {
    auto spec = std::make_shared<jobs::v1::JobSpec>();
    spec->mutable_training()->set_seed(7);
    spec->set_queue("night");
    (*spec->mutable_labels())["k"] = "v";
    return spec;
  }
  static std::unique_ptr<SpecHandle> Keep(const SpecPtr& spec) {
    Outline outline;
    outline.demand = std::make_shared<const Demand>(DemandOf(*spec));
    outline.labels.insert(spec->labels().begin(), spec->labels().end());
    return std::make_unique<SpecHandle>(
        spec, std::make_shared<const Outline>(std::move(outline)));
  }

  const std::shared_ptr<CountingSource> source_ =
      std::make_shared<CountingSource>();
};

TEST_F(SpecHandleTest, ASpecStaysInMemoryUntilItIsStored) {
  const auto handle = Keep(MakeSpec());
  handle->LetGo();
  EXPECT_EQ((*handle->Get())->training().seed(), 7);
  handle->NoteStored(7, source_);
  EXPECT_EQ((*handle->Get())->training().seed(), 7);
  EXPECT_EQ(source_->num_reads, 0);
}

TEST_F(SpecHandleTest, ASpecThatIsStoredIsReadOnceItHasLeft) {
  SpecPtr spec = MakeSpec();
  const std::weak_ptr<const jobs::v1::JobSpec> held = spec;
  const auto handle = Keep(spec);
  spec = nullptr;
  handle->NoteStored(7, source_);
  EXPECT_FALSE(held.expired());
  handle->LetGo();
  EXPECT_TRUE(held.expired());
  EXPECT_EQ((*handle->Get())->training().seed(), 7);
  EXPECT_EQ(source_->num_reads, 1);
}

TEST_F(SpecHandleTest, ASpecThatCannotBeReadIsAnError) {
  const auto handle = Keep(MakeSpec());
  handle->NoteStored(8, source_);
  handle->LetGo();
  EXPECT_THAT(handle->Get(), StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(SpecHandleTest, ASpecThatHasLeftStaysWhereItIs) {
  const auto handle = Keep(MakeSpec());
  handle->NoteStored(7, source_);
  handle->LetGo();
  const auto other = std::make_shared<CountingSource>();
  handle->NoteStored(8, other);
  EXPECT_EQ(handle->IdIn(other.get()), std::nullopt);
  EXPECT_EQ(handle->IdIn(source_.get()), 7);
  EXPECT_EQ((*handle->Get())->training().seed(), 7);
}

TEST_F(SpecHandleTest, ASpecThatWasNeverInMemoryIsRead) {
  const SpecHandle handle(
      7, source_,
      std::make_shared<const Outline>(
          Outline{std::make_shared<const Demand>(DemandOf(*MakeSpec())), {}}));
  EXPECT_EQ(handle.IdIn(source_.get()), 7);
  handle.LetGo();
  EXPECT_EQ((*handle.Get())->training().seed(), 7);
  EXPECT_EQ(source_->num_reads, 1);
}

TEST_F(SpecHandleTest, ItHasNoNumberWhereItIsNotStored) {
  const auto handle = Keep(MakeSpec());
  EXPECT_EQ(handle->IdIn(source_.get()), std::nullopt);
  EXPECT_EQ(handle->IdIn(nullptr), std::nullopt);
  handle->NoteStored(7, source_);
  EXPECT_EQ(handle->IdIn(source_.get()), 7);
  EXPECT_EQ(handle->IdIn(nullptr), std::nullopt);
}

TEST_F(SpecHandleTest, WhatDecisionsAndListingsNeedIsNeverRead) {
  const auto handle = Keep(MakeSpec());
  handle->NoteStored(8, source_);
  handle->LetGo();
  EXPECT_EQ(handle->queue(), "night");
  EXPECT_EQ(handle->demand().shape.kind, "cpu");
  EXPECT_THAT(handle->labels(), ElementsAre(Pair("k", "v")));
  EXPECT_THAT(Keep(std::make_shared<jobs::v1::JobSpec>())->labels(), IsEmpty());
  EXPECT_EQ(source_->num_reads, 0);
}

TEST_F(SpecHandleTest, ItIsSmall) {
  // There may be one for each job; 16 more are those of its shared pointer.
  EXPECT_LE(sizeof(SpecHandle), 64u);
}

}  // namespace
}  // namespace ordo::scheduler::core
