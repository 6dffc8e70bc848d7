#include "scheduler/server/reads.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/present.h"
#include "scheduler/store/testing/memory_store.h"

namespace ordo::scheduler::server {
namespace {

using base::testing::IsOk;
using base::testing::StatusIs;
using jobs::v1::Job;
using ::testing::ElementsAre;

core::JobPtr MakeJob(const std::string& name, int64_t sequence,
                     Job::State state = Job::QUEUED) {
  Job job;
  job.mutable_spec()->set_name(name);
  job.mutable_spec()->set_queue("default");
  job.set_sequence(sequence);
  job.set_state(state);
  job.mutable_owner()->set_user("ada");
  if (core::IsTerminal(state)) job.mutable_end_time()->set_seconds(sequence);
  core::SpecTable specs;
  return core::RecordOf({job}, &specs);
}

// One that waits.
core::JobPtr MakeJobOf(const std::string& owner, const std::string& queue,
                       int64_t sequence) {
  Job job;
  job.mutable_spec()->set_name("job-" + std::to_string(sequence));
  job.mutable_spec()->set_queue(queue);
  job.set_sequence(sequence);
  job.set_state(Job::QUEUED);
  job.mutable_owner()->set_user(owner);
  core::SpecTable specs;
  return core::RecordOf({job}, &specs);
}

core::CheckpointPtr MakeCheckpoint(const std::string& job, int64_t step,
                                   int64_t seconds, int attempt = 1) {
  auto checkpoint = std::make_shared<checkpoints::v1::Checkpoint>();
  checkpoint->set_name("jobs/" + job + "/checkpoints/" + std::to_string(step) +
                       "-" + std::to_string(attempt));
  checkpoint->set_step(step);
  checkpoint->set_attempt(attempt);
  checkpoint->set_state(checkpoints::v1::Checkpoint::AVAILABLE);
  checkpoint->mutable_create_time()->set_seconds(seconds);
  return checkpoint;
}

// Its listings leave something out that is damaged, if there is damage.
class DamagedStore : public store::testing::MemoryStore {
 public:
  using MemoryStore::MemoryStore;

  absl::StatusOr<store::Found<core::JobPtr>> ListEnded(
      const store::EndedQuery& query) override {
    auto found = WithDamage(MemoryStore::ListEnded(query));
    if (found.ok() && query.before > damaged_to) {
      found->items.erase(
          std::remove_if(found->items.begin(), found->items.end(),
                         [this](const core::JobPtr& job) {
                           return job->facts->sequence < damaged_to;
                         }),
          found->items.end());
      found->next = damaged_to;
    }
    return found;
  }
  absl::StatusOr<store::Found<core::CheckpointPtr>> ListCheckpoints(
      const store::ArtifactQuery& query) override {
    auto found = WithDamage(MemoryStore::ListCheckpoints(query));
    if (found.ok() && query.before.empty()) found->next = next_checkpoint;
    return found;
  }
  absl::StatusOr<store::Found<core::ReportPtr>> ListReports(
      const store::ArtifactQuery& query) override {
    return WithDamage(MemoryStore::ListReports(query));
  }

  std::vector<absl::Status> damage;
  // The row behind which a listing of jobs ends early; as if all between it and
  // the next of them were damaged.
  int64_t damaged_to = std::numeric_limits<int64_t>::max();
  std::optional<std::string> next_checkpoint;

 private:
  template <typename T>
  absl::StatusOr<T> WithDamage(absl::StatusOr<T> found) {
    if (found.ok()) found->damage = damage;
    return found;
  }
};

class ReadsTest : public ::testing::Test {
 protected:
  // As the writer does.
  void Put(const core::JobPtr& job) {
    ORDO_ASSERT_OK(store_.Commit({core::Record{job}}));
    view_.PutJob(job);
  }
  void Put(const core::CheckpointPtr& checkpoint) {
    ORDO_ASSERT_OK(store_.Commit({core::Record{checkpoint}}));
  }
  std::vector<std::string> Names(const JobFilter& filter,
                                 const Page& page = {}) {
    std::vector<std::string> names;
    const auto listing = reads_.ListJobs(filter, page);
    EXPECT_THAT(listing, IsOk());
    for (const Job& job : listing->items) names.push_back(job.spec().name());
    return names;
  }

  // The same; its spec is in the store only.
  void PutAway(const core::JobPtr& job) {
    Put(job);
    job->facts->spec->LetGo();
  }

  const std::shared_ptr<store::testing::Memory> memory_ =
      std::make_shared<store::testing::Memory>();
  DamagedStore store_{memory_};
  View view_{core::Records(), {}};
  std::vector<absl::Status> told_;
  Reads reads_{view_, store_, [this](const std::vector<absl::Status>& damage) {
                 told_.insert(told_.end(), damage.begin(), damage.end());
               }};
};

TEST_F(ReadsTest, JobsAreListedNewestFirstInPagesWhereverTheyAre) {
  Put(MakeJob("j1", 10));
  Put(MakeJob("j2", 20, Job::FAILED));
  Put(MakeJob("j3", 30, Job::SUCCEEDED));
  Put(MakeJob("j4", 40));
  Put(MakeJob("j5", 50, Job::FAILED));
  ORDO_ASSERT_OK_AND_ASSIGN(const auto first, reads_.ListJobs({}, {"", 2}));
  ASSERT_EQ(first.items.size(), 2u);
  EXPECT_EQ(first.items[0].spec().name(), "j5");
  EXPECT_EQ(first.items[1].spec().name(), "j4");
  EXPECT_EQ(first.next, "40");
  EXPECT_THAT(Names({}, {first.next, 2}), ElementsAre("j3", "j2"));
  ORDO_ASSERT_OK_AND_ASSIGN(const auto last, reads_.ListJobs({}, {"20", 2}));
  EXPECT_EQ(last.items.size(), 1u);
  EXPECT_EQ(last.next, "");
  ORDO_ASSERT_OK_AND_ASSIGN(const auto exact, reads_.ListJobs({}, {"", 5}));
  EXPECT_EQ(exact.items.size(), 5u);
  EXPECT_EQ(exact.next, "");
  EXPECT_THAT(reads_.ListJobs({}, {"x", 2}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(ReadsTest, AJobThatEndsBetweenViewAndStoreIsListedOnceAsEnded) {
  Put(MakeJob("a", 1));
  ORDO_ASSERT_OK(store_.Commit({core::Record{MakeJob("a", 1, Job::FAILED)}}));
  ORDO_ASSERT_OK_AND_ASSIGN(const auto listing, reads_.ListJobs({}, {"", 5}));
  ASSERT_EQ(listing.items.size(), 1u);
  EXPECT_EQ(listing.items[0].state(), Job::FAILED);
}

TEST_F(ReadsTest, FiltersReachLiveAndEndedJobs) {
  Put(MakeJob("a", 1));
  Put(MakeJob("b", 2, Job::FAILED));
  JobFilter owner;
  owner.owner = "ada";
  EXPECT_THAT(Names(owner), ElementsAre("b", "a"));
  JobFilter failed;
  failed.state = Job::FAILED;
  EXPECT_THAT(Names(failed), ElementsAre("b"));
}

TEST_F(ReadsTest, AnEndedJobIsShownAndExplained) {
  Put(MakeJob("a", 1, Job::SUCCEEDED));
  EXPECT_EQ(reads_.GetJob("a")->state(), Job::SUCCEEDED);
  EXPECT_THAT(reads_.Explain("a", absl::UnixEpoch(), std::nullopt), IsOk());
}

TEST_F(ReadsTest, OneThatWasArchivedIsNotFoundWithHowItEnded) {
  ORDO_ASSERT_OK(
      store_.Commit({core::Record{MakeJob("a", 1, Job::SUCCEEDED)}}));
  ORDO_ASSERT_OK(store_.Retire({"a"}, {}));
  for (const absl::Status& status :
       {reads_.GetJob("a").status(), reads_.ListCheckpoints("a", {}).status(),
        reads_.Explain("a", absl::UnixEpoch(), std::nullopt).status()}) {
    EXPECT_THAT(status,
                StatusIs(absl::StatusCode::kNotFound,
                         ::testing::HasSubstr("ended as SUCCEEDED and was")));
    const auto info = base::GetErrorInfo(status);
    ASSERT_TRUE(info.has_value());
    EXPECT_EQ(info->reason, "JOB_ARCHIVED");
    EXPECT_EQ(info->metadata.at("state"), "SUCCEEDED");
  }
  EXPECT_FALSE(base::GetErrorInfo(reads_.GetJob("b").status()).has_value());
}

TEST_F(ReadsTest, WhatIsNotThereIsNotFound) {
  Put(MakeJob("a", 1));
  const auto not_found = StatusIs(absl::StatusCode::kNotFound);
  EXPECT_THAT(reads_.GetJob("x"), not_found);
  EXPECT_THAT(reads_.Explain("x", absl::UnixEpoch(), std::nullopt), not_found);
  EXPECT_THAT(reads_.GetCheckpoint("x", "latest"), not_found);
  EXPECT_THAT(reads_.GetCheckpoint("a", "latest"), not_found);
  EXPECT_THAT(reads_.GetCheckpoint("a", "5-1"), not_found);
  EXPECT_THAT(reads_.GetReport("a", "r"), not_found);
  EXPECT_THAT(reads_.ListCheckpoints("x", {}), not_found);
  EXPECT_THAT(reads_.ListReports("x", {}), not_found);
}

TEST_F(ReadsTest, CheckpointsAreListedNewestFirstOfOneJobOrAll) {
  Put(MakeJob("a", 1));
  Put(MakeJob("b", 2));
  Put(MakeCheckpoint("a", 10, 100));
  Put(MakeCheckpoint("b", 5, 200));
  Put(MakeCheckpoint("a", 20, 300));
  const auto steps = [this](const std::string& job, const Page& page) {
    std::vector<int64_t> steps;
    const auto listing = reads_.ListCheckpoints(job, page);
    EXPECT_THAT(listing, IsOk());
    for (const auto& item : listing->items) steps.push_back(item.step());
    return steps;
  };
  EXPECT_THAT(steps("", {}), ElementsAre(20, 5, 10));
  EXPECT_THAT(steps("a", {}), ElementsAre(20, 10));
  ORDO_ASSERT_OK_AND_ASSIGN(const auto page,
                            reads_.ListCheckpoints("", {"", 1}));
  EXPECT_EQ(page.next, "jobs/a/checkpoints/20-1");
  EXPECT_THAT(steps("", {page.next, 10}), ElementsAre(5, 10));
  EXPECT_THAT(reads_.ListCheckpoints("", {"jobs/x/checkpoints/1-1", 1}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(ReadsTest, ListingsGoOnBehindDamageAndTellIt) {
  Put(MakeJob("a", 1, Job::SUCCEEDED));
  Put(MakeCheckpoint("a", 10, 100));
  store_.damage = {absl::DataLossError("sequence 2")};
  EXPECT_THAT(Names({}), ElementsAre("a"));
  EXPECT_THAT(told_, ElementsAre(store_.damage[0]));
  ORDO_ASSERT_OK_AND_ASSIGN(const auto page, reads_.ListCheckpoints("a", {}));
  EXPECT_EQ(page.items.size(), 1u);
  ORDO_EXPECT_OK(reads_.ListReports("a", {}));
  EXPECT_EQ(told_.size(), 3u);
}

TEST_F(ReadsTest, AJobIsInItsPlaceAmongEndedOnesBehindMuchDamage) {
  Put(MakeJob("j1", 10));
  Put(MakeJob("j2", 20, Job::FAILED));
  Put(MakeJob("j3", 30));
  Put(MakeJob("j5", 50));
  store_.damaged_to = 40;
  ORDO_ASSERT_OK_AND_ASSIGN(const auto first, reads_.ListJobs({}, {"", 5}));
  ASSERT_EQ(first.items.size(), 1u);
  EXPECT_EQ(first.items[0].spec().name(), "j5");
  EXPECT_EQ(first.next, "40");
  EXPECT_THAT(Names({}, {first.next, 5}), ElementsAre("j3", "j2", "j1"));
}

TEST_F(ReadsTest, PagesLeaveNothingOutBehindSpecsThatCannotBeRead) {
  Put(MakeJob("j1", 10));
  Put(MakeJob("j2", 20, Job::FAILED));
  Put(MakeJob("j3", 30));
  PutAway(MakeJob("j4", 40));
  PutAway(MakeJob("j5", 50));
  memory_->specs().Fail(absl::DataLossError("it is damaged"));
  for (const int64_t damaged_to :
       {std::numeric_limits<int64_t>::max(), int64_t{5}}) {
    store_.damaged_to = damaged_to;
    std::vector<std::string> names;
    Page page{"", 1};
    do {
      ORDO_ASSERT_OK_AND_ASSIGN(const auto listing, reads_.ListJobs({}, page));
      for (const Job& job : listing.items) names.push_back(job.spec().name());
      page.before = listing.next;
    } while (!page.before.empty());
    EXPECT_THAT(names, ElementsAre("j3", "j2", "j1"));
  }
}

TEST_F(ReadsTest, AStoreThatIsNotThereIsNoDamage) {
  Put(MakeJob("a", 1));
  PutAway(MakeJob("b", 2));
  memory_->specs().Fail(absl::UnavailableError("the store is closed"));
  EXPECT_THAT(reads_.ListJobs({}, {}),
              StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_TRUE(told_.empty());
  memory_->specs().Fail(absl::OkStatus());
  EXPECT_THAT(Names({}), ElementsAre("b", "a"));
}

TEST_F(ReadsTest, AnEndedJobIsInItsPlaceBehindManyThatDoNotFit) {
  Put(MakeJob("old", 1, Job::FAILED));
  for (int i = 1; i <= View::kMaxLooks + 1; ++i) {
    view_.PutJob(MakeJobOf("ada", "night", 2 * i));
    view_.PutJob(MakeJobOf("bob", "default", 2 * i + 1));
  }
  Put(MakeJob("new", 1'000'000, Job::FAILED));
  JobFilter filter;
  filter.owner = "ada";
  filter.queue = "default";
  ORDO_ASSERT_OK_AND_ASSIGN(const auto first, reads_.ListJobs(filter, {"", 5}));
  ASSERT_EQ(first.items.size(), 1u);
  EXPECT_EQ(first.items[0].spec().name(), "new");
  EXPECT_NE(first.next, "");
  EXPECT_THAT(Names(filter, {first.next, 5}), ElementsAre("old"));
}

TEST_F(ReadsTest, APageOfCheckpointsThatEndsEarlyIsNotTheLast) {
  Put(MakeJob("a", 1));
  store_.next_checkpoint = "jobs/a/checkpoints/7-1";
  ORDO_ASSERT_OK_AND_ASSIGN(const auto page, reads_.ListCheckpoints("a", {}));
  EXPECT_TRUE(page.items.empty());
  EXPECT_EQ(page.next, "jobs/a/checkpoints/7-1");
}

TEST_F(ReadsTest, WhatCannotBeReadMayBeTheLatest) {
  Put(MakeJob("a", 1));
  Put(MakeCheckpoint("a", 10, 100));
  store_.damage = {absl::DataLossError("jobs/a/checkpoints/20-1")};
  EXPECT_THAT(reads_.GetCheckpoint("a", "latest"),
              StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(reads_.GetCheckpoint("a", "10-1"), IsOk());
}

TEST_F(ReadsTest, LatestIsTheLargestStepOfTheLastAttemptThatIsThere) {
  Put(MakeJob("a", 1));
  Put(MakeCheckpoint("a", 20, 100));
  Put(MakeCheckpoint("a", 10, 200));
  EXPECT_EQ(reads_.GetCheckpoint("a", "latest")->step(), 20);
  auto removed = std::make_shared<checkpoints::v1::Checkpoint>(
      *MakeCheckpoint("a", 20, 100));
  removed->set_state(checkpoints::v1::Checkpoint::DELETED);
  Put(core::CheckpointPtr(removed));
  EXPECT_EQ(reads_.GetCheckpoint("a", "latest")->step(), 10);
  EXPECT_EQ(reads_.GetCheckpoint("a", "20-1")->state(),
            checkpoints::v1::Checkpoint::DELETED);
  Put(MakeCheckpoint("a", 5, 300, 2));
  EXPECT_EQ(reads_.GetCheckpoint("a", "latest")->step(), 5);
}

}  // namespace
}  // namespace ordo::scheduler::server
