#include "scheduler/store/stored_specs.h"

#include <memory>
#include <string>
#include <utility>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/store/testing/memory_store.h"
#include "scheduler/store/testing/records.h"

namespace ordo::scheduler::store {
namespace {

using base::testing::IsOk;
using base::testing::StatusIs;
using ::testing::Not;

class StoredSpecsTest : public ::testing::Test {
 protected:
  StoredSpecsTest() { specs_.Open(&store_); }

  // Stores so many specs, whose numbers are 0, 1, ...
  void Store(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      const auto sequence = static_cast<int64_t>(i) + 1;
      ORDO_ASSERT_OK(store_.Commit(
          {testing::JobRecord(sequence, "j" + std::to_string(i))}));
    }
  }
  int num_reads() { return memory_->specs().num_reads(); }

  const std::shared_ptr<testing::Memory> memory_ =
      std::make_shared<testing::Memory>();
  testing::MemoryStore store_{memory_};
  StoredSpecs specs_;
};

TEST_F(StoredSpecsTest, ASpecThatWasReadIsNotReadAgain) {
  Store(2);
  ORDO_ASSERT_OK_AND_ASSIGN(const core::SpecPtr spec, specs_.ReadSpec(1));
  EXPECT_EQ(spec->training().steps(), 2);
  ORDO_ASSERT_OK_AND_ASSIGN(const core::SpecPtr again, specs_.ReadSpec(1));
  EXPECT_EQ(again, spec);
  EXPECT_EQ(num_reads(), 1);
}

TEST_F(StoredSpecsTest, ThoseThatWereUsedLastStay) {
  Store(StoredSpecs::kMaxKept + 1);
  for (size_t i = 0; i < StoredSpecs::kMaxKept; ++i) {
    EXPECT_THAT(specs_.ReadSpec(static_cast<int64_t>(i)), IsOk());
  }
  EXPECT_EQ(specs_.num_kept(), StoredSpecs::kMaxKept);
  EXPECT_THAT(specs_.ReadSpec(0), IsOk());
  EXPECT_THAT(specs_.ReadSpec(StoredSpecs::kMaxKept), IsOk());
  EXPECT_EQ(specs_.num_kept(), StoredSpecs::kMaxKept);
  const int before = num_reads();
  EXPECT_THAT(specs_.ReadSpec(0), IsOk());
  EXPECT_EQ(num_reads(), before);
  EXPECT_THAT(specs_.ReadSpec(1), IsOk());
  EXPECT_EQ(num_reads(), before + 1);
}

TEST_F(StoredSpecsTest, WhatIsRememberedIsNotRead) {
  auto spec = std::make_shared<jobs::v1::JobSpec>();
  specs_.Remember(7, spec);
  auto newer = std::make_shared<jobs::v1::JobSpec>();
  specs_.Remember(7, newer);
  ORDO_ASSERT_OK_AND_ASSIGN(const core::SpecPtr found, specs_.ReadSpec(7));
  EXPECT_EQ(found, newer);
  EXPECT_EQ(specs_.num_kept(), 1u);
  EXPECT_EQ(num_reads(), 0);
}

TEST_F(StoredSpecsTest, LargeOnesAreFewer) {
  auto spec = std::make_shared<jobs::v1::JobSpec>();
  spec->set_queue(std::string(1 << 20, 'q'));
  const size_t fit = StoredSpecs::kMaxBytes / spec->ByteSizeLong();
  ASSERT_LT(fit, StoredSpecs::kMaxKept / 2);
  for (size_t i = 0; i <= fit; ++i) {
    specs_.Remember(static_cast<int64_t>(i), spec);
    // One that is known takes no more room.
    specs_.Remember(static_cast<int64_t>(i), spec);
  }
  EXPECT_EQ(specs_.num_kept(), fit);
  EXPECT_THAT(specs_.ReadSpec(1), IsOk());
  EXPECT_EQ(num_reads(), 0);
  EXPECT_THAT(specs_.ReadSpec(0), Not(IsOk()));
  EXPECT_EQ(num_reads(), 1);
}

TEST_F(StoredSpecsTest, ASpecThatCannotBeReadMayBeReadLater) {
  Store(1);
  memory_->specs().Fail(absl::DataLossError("it is damaged"));
  EXPECT_THAT(specs_.ReadSpec(0), StatusIs(absl::StatusCode::kDataLoss));
  memory_->specs().Fail(absl::OkStatus());
  EXPECT_THAT(specs_.ReadSpec(0), IsOk());
}

TEST_F(StoredSpecsTest, NothingIsReadOfAStoreThatIsClosed) {
  Store(2);
  EXPECT_THAT(specs_.ReadSpec(0), IsOk());
  specs_.Close();
  EXPECT_THAT(specs_.ReadSpec(0), IsOk());
  EXPECT_THAT(specs_.ReadSpec(1), StatusIs(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace ordo::scheduler::store
