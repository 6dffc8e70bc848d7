#include "scheduler/server/writer.h"

#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock/testing/fake_clock.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/spec_table.h"
#include "scheduler/server/backlog.h"
#include "scheduler/store/testing/memory_store.h"

namespace ordo::scheduler::server {
namespace {

using base::testing::StatusIs;
using ::testing::ElementsAre;

core::Effect JobRecord(const std::string& name, int64_t version) {
  auto facts = std::make_shared<core::JobFacts>();
  facts->id = name;
  facts->sequence = static_cast<int64_t>(name[0]);
  facts->spec =
      core::SpecTable().Keep(std::make_shared<const jobs::v1::JobSpec>());
  auto record = std::make_shared<core::JobRecord>();
  record->facts = facts;
  record->version = version;
  return core::Record{core::JobPtr(record)};
}

core::Effect Answer(uint64_t call) {
  return core::Answer{call, std::vector<core::JobPtr>()};
}

class WriterTest : public ::testing::Test {
 protected:
  WriterTest() {
    options_.store = &store_;
    options_.clock = &clock_;
    options_.release = [this](std::vector<core::Effects> turns) {
      num_committed_at_release_ = memory_->num_committed();
      for (const core::Effects& effects : turns) {
        for (const core::Effect& effect : effects) {
          if (const auto* answer = std::get_if<core::Answer>(&effect)) {
            released_.push_back(answer->call);
          }
        }
      }
    };
    options_.on_failure = [this](const absl::Status& status) {
      failure_.set_value(status);
    };
  }
  // Waits until the writer has begun so many commits.
  void WaitForCommits(int count) {
    while (memory_->num_begun() < count) std::this_thread::yield();
  }

  std::shared_ptr<store::testing::Memory> memory_ =
      std::make_shared<store::testing::Memory>();
  store::testing::MemoryStore store_{memory_};
  base::testing::FakeClock clock_;
  WriterOptions options_;
  std::vector<uint64_t> released_;
  int num_committed_at_release_ = 0;
  std::promise<absl::Status> failure_;
};

TEST_F(WriterTest, EffectsAreReleasedInOrderAfterTheirCommit) {
  Writer writer(options_);
  writer.Append({JobRecord("a", 1), Answer(1)});
  writer.Append({JobRecord("b", 1), Answer(2)});
  writer.Drain();
  EXPECT_THAT(released_, ElementsAre(1, 2));
  EXPECT_GE(num_committed_at_release_, 1);
}

TEST_F(WriterTest, WhatQueuesDuringACommitGoesIntoOneTransaction) {
  memory_->Hold();
  Writer writer(options_);
  writer.Append({JobRecord("a", 1)});
  WaitForCommits(1);
  for (uint64_t i = 1; i <= 20; ++i) {
    writer.Append({JobRecord("b", static_cast<int64_t>(i)), Answer(i)});
  }
  memory_->Continue();
  writer.Drain();
  EXPECT_EQ(memory_->num_begun(), 2);
  EXPECT_EQ(released_.size(), 20u);
}

TEST_F(WriterTest, WhatQueuesDuringALongCommitIsMerged) {
  std::vector<core::Effects> last;
  options_.release = [&last](std::vector<core::Effects> turns) {
    last = std::move(turns);
  };
  memory_->Hold();
  Writer writer(options_);
  writer.Append({JobRecord("a", 0)});
  WaitForCommits(1);
  for (int64_t i = 1; i <= 5000; ++i) writer.Append({JobRecord("a", i)});
  memory_->Continue();
  writer.Drain();
  EXPECT_LE(last.size(), Backlog::kMaxTurns);
  const auto records = LastOfEachKey(last);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(std::get<core::JobPtr>(records[0].value)->version, 5000);
}

TEST_F(WriterTest, WhatIsMergedStaysOnItsSideOfATask) {
  memory_->Hold();
  Writer writer(options_);
  writer.Append({JobRecord("a", 0)});
  WaitForCommits(1);
  const auto append = [&writer](uint64_t first) {
    for (uint64_t i = first; i < first + 2000; ++i) {
      writer.Append({Answer(i), JobRecord("a", static_cast<int64_t>(i))});
    }
  };
  std::vector<uint64_t> released_before;
  append(1);
  writer.AppendTask([&] { released_before = released_; });
  append(2001);
  memory_->Continue();
  writer.Drain();
  EXPECT_EQ(released_before.size(), 2000u);
  ASSERT_EQ(released_.size(), 4000u);
  for (uint64_t i = 0; i < 4000; ++i) EXPECT_EQ(released_[i], i + 1);
}

TEST_F(WriterTest, EffectsWithoutRecordsNeedNoTransaction) {
  Writer writer(options_);
  writer.Append({Answer(1)});
  writer.Drain();
  EXPECT_THAT(released_, ElementsAre(1));
  EXPECT_EQ(memory_->num_begun(), 0);
}

TEST_F(WriterTest, ATaskRunsAfterWhatCameBeforeIt) {
  Writer writer(options_);
  size_t released_before = 0;
  writer.Append({JobRecord("a", 1), Answer(1)});
  writer.AppendTask([&] { released_before = released_.size(); });
  writer.Append({Answer(2)});
  writer.Drain();
  EXPECT_EQ(released_before, 1u);
  EXPECT_THAT(released_, ElementsAre(1, 2));
}

TEST_F(WriterTest, AfterAFailedCommitNothingIsReleased) {
  memory_->Fail(absl::UnavailableError("broken"));
  Writer writer(options_);
  writer.Append({JobRecord("a", 1), Answer(1)});
  EXPECT_THAT(failure_.get_future().get(),
              StatusIs(absl::StatusCode::kUnavailable));
  writer.Append({Answer(2)});
  writer.Drain();
  EXPECT_TRUE(released_.empty());
}

// A disk that is full, and later is not.
class FullDiskTest : public WriterTest {
 protected:
  FullDiskTest() {
    options_.full_retry = absl::Milliseconds(1);
    options_.on_full = [this](const absl::Status& status) {
      full_.set_value(status);
    };
    options_.on_room = [this] { room_.set_value(); };
    memory_->Fail(absl::ResourceExhaustedError("disk full"));
  }

  std::promise<absl::Status> full_;
  std::promise<void> room_;
};

TEST_F(FullDiskTest, WhatFindsNoRoomIsReleasedWhenThereIsSome) {
  Writer writer(options_);
  writer.Append({JobRecord("a", 1), Answer(1)});
  EXPECT_THAT(full_.get_future().get(),
              StatusIs(absl::StatusCode::kResourceExhausted));
  writer.Append({JobRecord("b", 1), Answer(2)});
  EXPECT_EQ(memory_->num_committed(), 0);
  memory_->Fail(absl::OkStatus());
  room_.get_future().get();
  writer.Drain();
  EXPECT_THAT(released_, ElementsAre(1, 2));
  EXPECT_EQ(store_.Load()->records.jobs.size(), 2u);
}

TEST_F(FullDiskTest, ATaskDoesNotWaitForRoom) {
  Writer writer(options_);
  writer.Append({JobRecord("a", 1), Answer(1)});
  full_.get_future().wait();
  auto released = std::make_shared<std::promise<bool>>();
  writer.AppendTask([=] { released->set_value(!released_.empty()); });
  EXPECT_FALSE(released->get_future().get());
}

TEST_F(FullDiskTest, WhatQueuesMeanwhileIsMerged) {
  std::vector<core::Effects> released;
  options_.release = [&released](std::vector<core::Effects> turns) {
    released = std::move(turns);
  };
  Writer writer(options_);
  writer.Append({JobRecord("a", 0)});
  full_.get_future().wait();
  for (int64_t i = 1; i <= 5000; ++i) writer.Append({JobRecord("a", i)});
  // A task runs when what came before it is taken, and what is merged in one
  // round is so before the next.
  for (int round = 0; round < 2; ++round) {
    auto taken = std::make_shared<std::promise<void>>();
    writer.AppendTask([taken] { taken->set_value(); });
    taken->get_future().wait();
  }
  memory_->Fail(absl::OkStatus());
  room_.get_future().get();
  // Beside what is merged are at most as many as are not worth it.
  EXPECT_LE(released.size(), Backlog::kMaxTurns);
  const auto records = LastOfEachKey(released);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(std::get<core::JobPtr>(records[0].value)->version, 5000);
}

TEST_F(FullDiskTest, DrainingDropsWhatStillFindsNoRoom) {
  Writer writer(options_);
  writer.Append({JobRecord("a", 1), Answer(1)});
  full_.get_future().wait();
  writer.Drain();
  EXPECT_TRUE(released_.empty());
  EXPECT_TRUE(store_.Load()->records.jobs.empty());
}

TEST(LastOfEachKeyTest, OnlyTheNewestRecordOfAKeyIsWritten) {
  const auto records = LastOfEachKey(
      {{JobRecord("a", 1), JobRecord("b", 1)}, {Answer(1), JobRecord("a", 2)}});
  ASSERT_EQ(records.size(), 2u);
  const auto& first = std::get<core::JobPtr>(records[0].value);
  EXPECT_EQ(first->id(), "a");
  EXPECT_EQ(first->version, 2);
}

}  // namespace
}  // namespace ordo::scheduler::server
