#include "scheduler/server/archived_usage.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "scheduler/core/job.h"
#include "scheduler/core/spec_table.h"
#include "scheduler/past_usage.h"

namespace ordo::scheduler::server {
namespace {

// It had one device for so long in one attempt.
core::PastJob JobOf(const std::string& queue, const std::string& owner,
                    double seconds) {
  auto spec = std::make_shared<jobs::v1::JobSpec>();
  spec->set_queue(queue);
  auto facts = std::make_shared<core::JobFacts>(
      core::FactsOf(*spec, core::SpecTable().Keep(spec)));
  facts->user = owner;
  auto attempt = std::make_shared<jobs::v1::Attempt>();
  attempt->mutable_end_time()->set_seconds(1'700'000'000);
  attempt->set_device_seconds(seconds);
  auto job = std::make_shared<core::JobRecord>();
  job->facts = facts;
  job->attempts.push_back(attempt);
  return {job, {}, {}};
}

// What the rows say.
std::vector<usage::v1::ArchivedUsage> List(const ArchivedUsage& archived) {
  std::vector<usage::v1::ArchivedUsage> all;
  for (const core::RowPtr& row : archived.rows()) {
    all.push_back(ParseUsageRow(*row));
  }
  return all;
}

// These jobs leave.
void Archive(const std::vector<core::PastJob>& jobs, ArchivedUsage* archived) {
  for (const core::RowPtr& row : archived->With(jobs)) archived->Put(row);
}

// Used by all, in all days.
double Used(const usage::v1::ArchivedUsage& row) {
  double used = 0;
  for (const auto& day : row.usage().days()) {
    used += day.usage().used_device_seconds();
  }
  return used;
}

TEST(ArchivedUsageTest, JobsAreAddedUpByQueueAndOwner) {
  ArchivedUsage archived;
  Archive({JobOf("night", "ada", 1), JobOf("night", "ada", 2),
           JobOf("night", "bob", 4), JobOf("", "ada", 8)},
          &archived);
  Archive({JobOf("night", "ada", 16)}, &archived);
  const auto all = List(archived);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].queue(), "default");
  EXPECT_EQ(Used(all[0]), 8);
  EXPECT_EQ(all[1].queue(), "night");
  EXPECT_EQ(all[1].owner(), "ada");
  EXPECT_EQ(Used(all[1]), 19);
  EXPECT_EQ(all[2].owner(), "bob");
  EXPECT_EQ(Used(all[2]), 4);
}

TEST(ArchivedUsageTest, NothingChangesBeforeTheRowsArePut) {
  ArchivedUsage archived;
  EXPECT_EQ(archived.With({JobOf("night", "ada", 1)}).size(), 1u);
  EXPECT_TRUE(archived.rows().empty());
}

TEST(ArchivedUsageTest, JobThatNeverRanHasNone) {
  core::PastJob past = JobOf("night", "ada", 1);
  auto job = std::make_shared<core::JobRecord>(*past.job);
  job->attempts.clear();
  past.job = job;
  EXPECT_TRUE(ArchivedUsage().With({past}).empty());
}

TEST(ArchivedUsageTest, AttemptsThatAJobKeptNoMoreCountToo) {
  core::PastJob past = JobOf("night", "ada", 1);
  auto earlier = std::make_shared<usage::v1::PastUsage>();
  auto& day = *earlier->add_days();
  day.mutable_start_time()->set_seconds(0);
  day.mutable_usage()->set_used_device_seconds(5);
  auto job = std::make_shared<core::JobRecord>(*past.job);
  job->earlier_usage = earlier;
  past.job = job;
  ArchivedUsage archived;
  Archive({past}, &archived);
  EXPECT_EQ(Used(List(archived)[0]), 6);
}

TEST(ArchivedUsageTest, OwnersBeyondTheMostShareARow) {
  ArchivedUsage archived;
  std::vector<core::PastJob> jobs;
  for (size_t i = 1; i < kMaxUsageRows; ++i) {
    jobs.push_back(JobOf("night", absl::StrCat("owner", i), 1));
  }
  Archive(jobs, &archived);
  // One may come, and two are too many; those that are known go on.
  Archive({JobOf("night", "ada", 1), JobOf("night", "bob", 2),
           JobOf("day", "eve", 4), JobOf("night", "owner1", 8)},
          &archived);
  Archive({JobOf("day", "bob", 16), JobOf("night", "ada", 32)}, &archived);
  const auto all = List(archived);
  ASSERT_EQ(all.size(), kMaxUsageRows + 1);
  EXPECT_EQ(all[0].queue(), kOtherUsage);
  EXPECT_EQ(all[0].owner(), kOtherUsage);
  EXPECT_EQ(Used(all[0]), 2 + 4 + 16);
  EXPECT_EQ(all[1].owner(), "ada");
  EXPECT_EQ(Used(all[1]), 33);
  EXPECT_EQ(all[2].owner(), "owner1");
  EXPECT_EQ(Used(all[2]), 9);
}

}  // namespace
}  // namespace ordo::scheduler::server
