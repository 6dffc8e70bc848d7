#include "scheduler/server/archivist.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/clock/testing/fake_clock.h"
#include "base/files/file_util.h"
#include "base/files/testing/faulty_filesystem.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/store/testing/memory_store.h"
#include "scheduler/store/testing/records.h"

namespace ordo::scheduler::server {
namespace {

using base::testing::IsOkAndHolds;
using base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Leaves the job "job-1" out, as if its row were damaged.
class DamagedReader : public store::testing::MemoryStore {
 public:
  using MemoryStore::MemoryStore;

  absl::StatusOr<store::ExpiredJobs> FindExpired(
      const store::ExpiredQuery& query) override {
    auto found = MemoryStore::FindExpired(query);
    if (!found.ok() || found->jobs.empty()) return found;
    if (found->jobs[0].job->id() != "job-1") return found;
    found->jobs.erase(found->jobs.begin());
    found->damage = {absl::DataLossError("job-1")};
    return found;
  }
};

// Ten jobs that ended a second after one another, the first 1001 s after 1970.
class ArchivistTest : public ::testing::Test {
 protected:
  ArchivistTest() {
    for (int i = 1; i <= 10; ++i) {
      ORDO_EXPECT_OK(store_.Commit(
          {store::testing::EndedJobRecord(i, absl::StrCat("job-", i))}));
    }
    options_.retention.archive = folder_.Path("archive.jsonl");
    options_.reader = &store_;
    options_.clock = &clock_;
    options_.files = &files_;
    options_.claim = [this](std::vector<core::PastJob> jobs) {
      jobs.erase(std::remove_if(jobs.begin(), jobs.end(),
                                [this](const core::PastJob& past) {
                                  return past.job->id() == needed_;
                                }),
                 jobs.end());
      ++num_claims_;
      return jobs;
    };
    options_.retire = [this](const std::vector<core::PastJob>& jobs) {
      std::vector<std::string> ids;
      for (const core::PastJob& past : jobs) ids.push_back(past.job->id());
      // What leaves is in the archive already.
      EXPECT_GE(NumLines(), static_cast<int>(ids.size()));
      return store_.Retire(ids, {});
    };
    options_.let_go = [this] { ++num_let_go_; };
    options_.on_look = [](const absl::StatusOr<int64_t>&) {};
  }
  absl::StatusOr<int64_t> Look() { return Archivist(options_).Look(); }
  int NumLines() {
    const auto text =
        base::ReadFile(files_, options_.retention.archive, 1 << 20);
    if (!text.ok()) return 0;
    return static_cast<int>(std::count(text->begin(), text->end(), '\n'));
  }
  std::vector<std::string> Left() {
    std::vector<std::string> ids;
    for (const core::JobPtr& job : memory_->All().jobs) {
      ids.push_back(job->id());
    }
    return ids;
  }

  base::testing::TemporaryFolder folder_;
  base::PosixFilesystem posix_;
  base::testing::FaultyFilesystem files_{posix_};
  base::testing::FakeClock clock_;
  const std::shared_ptr<store::testing::Memory> memory_ =
      std::make_shared<store::testing::Memory>();
  store::testing::MemoryStore store_{memory_};
  ArchivistOptions options_;
  std::string needed_;
  int num_claims_ = 0;
  int num_let_go_ = 0;
};

TEST_F(ArchivistTest, WithoutALimitNothingLeaves) {
  EXPECT_THAT(Look(), IsOkAndHolds(0));
  EXPECT_EQ(num_claims_, 0);
}

TEST_F(ArchivistTest, AllButTheLastToEndLeave) {
  options_.retention.max_jobs = 3;
  EXPECT_THAT(Look(), IsOkAndHolds(7));
  EXPECT_THAT(Left(), ElementsAre("job-8", "job-9", "job-10"));
  EXPECT_EQ(NumLines(), 7);
  EXPECT_THAT(Look(), IsOkAndHolds(0));
}

TEST_F(ArchivistTest, NoneNeedStay) {
  options_.retention.max_jobs = 0;
  EXPECT_THAT(Look(), IsOkAndHolds(10));
  EXPECT_THAT(Left(), IsEmpty());
}

TEST_F(ArchivistTest, ThoseThatEndedLongAgoLeave) {
  clock_.JumpTo(absl::FromUnixSeconds(2005));
  options_.retention.age = absl::Seconds(1000);
  EXPECT_THAT(Look(), IsOkAndHolds(4));
  EXPECT_THAT(Left(), ElementsAre("job-5", "job-6", "job-7", "job-8", "job-9",
                                  "job-10"));
}

TEST_F(ArchivistTest, AJobThatIsNeededStaysAndHoldsUpNone) {
  needed_ = "job-1";
  options_.retention.max_jobs = 0;
  EXPECT_THAT(Look(), IsOkAndHolds(9));
  EXPECT_THAT(Left(), ElementsAre("job-1"));
  EXPECT_EQ(num_let_go_, num_claims_);
}

TEST_F(ArchivistTest, AJobThatIsDamagedIsReportedAndHoldsUpNone) {
  DamagedReader reader(memory_);
  options_.reader = &reader;
  options_.retention.max_jobs = 0;
  std::vector<absl::Status> told;
  options_.on_damage = [&told](const std::vector<absl::Status>& damage) {
    told = damage;
  };
  EXPECT_THAT(Look(), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(Left(), ElementsAre("job-1"));
  EXPECT_THAT(told, ElementsAre(absl::DataLossError("job-1")));
}

TEST_F(ArchivistTest, WhatCannotBeArchivedStays) {
  files_.Fail(base::testing::FileOperation::kSync, "archive", ENOSPC);
  options_.retention.max_jobs = 0;
  EXPECT_THAT(Look(), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(Left().size(), 10u);
  EXPECT_EQ(num_let_go_, num_claims_);
  files_.Heal();
  EXPECT_THAT(Look(), IsOkAndHolds(10));
}

TEST_F(ArchivistTest, WhatCannotBeRemovedIsArchivedAgain) {
  memory_->Fail(absl::ResourceExhaustedError("no room"));
  options_.retention.max_jobs = 0;
  EXPECT_THAT(Look(), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(Left().size(), 10u);
  memory_->Fail(absl::OkStatus());
  EXPECT_THAT(Look(), IsOkAndHolds(10));
  EXPECT_EQ(NumLines(), 20);
}

}  // namespace
}  // namespace ordo::scheduler::server
