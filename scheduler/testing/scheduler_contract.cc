#include "scheduler/testing/scheduler_contract.h"

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"

namespace ordo::scheduler::testing {
namespace {

using base::testing::IsOkAndHolds;
using base::testing::StatusIs;
using checkpoints::v1::Alias;
using checkpoints::v1::Checkpoint;
using jobs::v1::Job;
using jobs::v1::JobSpec;
using queues::v1::Queue;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using workers::v1::Worker;

using Jobs = std::vector<Job>;

constexpr std::chrono::seconds kDeadline(20);

NewJob JobNamed(const std::string& name, const std::string& request_id = "") {
  NewJob job;
  job.OwnSpec().set_kind(JobSpec::TRAIN);
  job.name = name;
  job.OwnSpec().set_queue("default");
  job.OwnSpec().mutable_training()->set_steps(10);
  job.OwnSpec().mutable_resources()->set_ranks(1);
  job.OwnSpec().mutable_resources()->set_device("cpu");
  job.OwnSpec().mutable_checkpoint()->set_keep(3);
  job.OwnSpec().mutable_retry()->set_max_attempts(3);
  job.request_id = request_id;
  job.fingerprint = "fingerprint of " + name;
  job.owner.set_user("ada");
  return job;
}

Author By(const std::string& user) {
  Author author;
  author.owner.set_user(user);
  author.reason = "because";
  return author;
}

// Waits for the answer of a call that is made with a callback.
template <typename T, typename Make>
absl::StatusOr<T> Await(const Make& make) {
  auto promise = std::make_shared<std::promise<absl::StatusOr<T>>>();
  make([promise](absl::StatusOr<T> answer) {
    promise->set_value(std::move(answer));
  });
  auto future = promise->get_future();
  if (future.wait_for(kDeadline) != std::future_status::ready) {
    return absl::DeadlineExceededError("no answer");
  }
  return future.get();
}

absl::StatusOr<Jobs> Create(Scheduler& scheduler, std::vector<NewJob> jobs) {
  return Await<Jobs>([&](Scheduler::JobsCallback done) {
    scheduler.CreateJobs(std::move(jobs), std::move(done));
  });
}

absl::StatusOr<Job> Cancel(Scheduler& scheduler, const std::string& job) {
  return Await<Job>([&](Scheduler::JobCallback done) {
    scheduler.CancelJob(job, "bob", std::move(done));
  });
}

absl::StatusOr<Job> Hold(Scheduler& scheduler, const std::string& job,
                         const std::string& user) {
  return Await<Job>([&](Scheduler::JobCallback done) {
    scheduler.HoldJob(job, user, std::move(done));
  });
}

absl::StatusOr<Job> Release(Scheduler& scheduler, const std::string& job) {
  return Await<Job>([&](Scheduler::JobCallback done) {
    scheduler.ReleaseJob(job, "bob", std::move(done));
  });
}

absl::StatusOr<Job> SetPriority(Scheduler& scheduler, const std::string& job,
                                int32_t priority, const std::string& user) {
  return Await<Job>([&](Scheduler::JobCallback done) {
    scheduler.SetPriority(job, priority, user, std::move(done));
  });
}

Queue QueueNamed(const std::string& id, double weight,
                 const std::string& etag = "") {
  Queue queue;
  queue.set_name("queues/" + id);
  queue.set_weight(weight);
  queue.set_max_queued_jobs(kDefaultMaxQueuedJobs);
  queue.set_etag(etag);
  return queue;
}

// Makes a job that holds an uploaded checkpoint, 3-0, with the optimizer's
// state.
absl::StatusOr<Jobs> Import(Scheduler& scheduler, const std::string& name) {
  NewJob job = JobNamed(name);
  job.OwnSpec().set_kind(JobSpec::IMPORT);
  job.imported.emplace();
  job.imported->set_step(3);
  job.imported->set_manifest_sha256("digest of " + name);
  for (const char* path : {"model.safetensors", "optimizer.safetensors"}) {
    job.imported->add_files()->set_path(path);
  }
  return Create(scheduler, {job});
}

absl::StatusOr<Checkpoint> Change(Scheduler& scheduler, CheckpointVerb verb,
                                  const std::string& checkpoint) {
  return Await<Checkpoint>([&](Scheduler::CheckpointCallback done) {
    scheduler.ChangeCheckpoint(verb, checkpoint, By("bob"), std::move(done));
  });
}

absl::StatusOr<Alias> Set(Scheduler& scheduler, const AliasSetting& setting) {
  return Await<Alias>([&](Scheduler::AliasCallback done) {
    scheduler.SetAlias(setting, By("bob"), std::move(done));
  });
}

absl::StatusOr<Alias> DeleteAlias(Scheduler& scheduler,
                                  const std::string& alias,
                                  const std::string& etag = "") {
  return Await<Alias>([&](Scheduler::AliasCallback done) {
    scheduler.DeleteAlias(alias, etag, By("bob"), std::move(done));
  });
}

// What a watch was told, until the last call.
struct Told {
  std::vector<Job> jobs;
  std::promise<void> first;
  std::promise<void> last;
};

Scheduler::WatchCallback Remember(std::shared_ptr<Told> told) {
  return [told](const Job& job, bool last) {
    told->jobs.push_back(job);
    if (told->jobs.size() == 1) told->first.set_value();
    if (last) told->last.set_value();
  };
}

bool IsReady(std::promise<void>& promise) {
  return promise.get_future().wait_for(kDeadline) == std::future_status::ready;
}

std::vector<std::string> NamesOf(const absl::StatusOr<Listing<Job>>& listing) {
  std::vector<std::string> names;
  if (!listing.ok()) return {listing.status().ToString()};
  for (const Job& job : listing->items) names.push_back(job.name());
  return names;
}

TEST_P(SchedulerContract, CreatedJobIsQueuedAndReadable) {
  const auto made = Create(scheduler(), {JobNamed("a")});
  ORDO_ASSERT_OK(made);
  ASSERT_EQ(made->size(), 1u);
  const auto read = scheduler().GetJob("a");
  ORDO_ASSERT_OK(read);
  EXPECT_THAT(scheduler().GetQueueOf("a"),
              IsOkAndHolds(std::string("default")));
  const auto owner = scheduler().GetOwner("a");
  ORDO_ASSERT_OK(owner);
  EXPECT_EQ(owner->user(), "ada");
  for (const Job& job : {made->front(), *read}) {
    EXPECT_EQ(job.name(), "jobs/a");
    EXPECT_EQ(job.state(), Job::QUEUED);
    EXPECT_EQ(job.owner().user(), "ada");
    EXPECT_EQ(job.version(), 1);
    EXPECT_EQ(job.spec().training().steps(), 10);
  }
}

TEST_P(SchedulerContract, BatchIsAllOrNone) {
  ORDO_ASSERT_OK(Create(scheduler(), {JobNamed("a")}));
  EXPECT_THAT(Create(scheduler(), {JobNamed("b"), JobNamed("a")}),
              StatusIs(absl::StatusCode::kAlreadyExists));
  EXPECT_THAT(scheduler().GetJob("b"), StatusIs(absl::StatusCode::kNotFound));
  const auto made = Create(scheduler(), {JobNamed("c"), JobNamed("b")});
  ORDO_ASSERT_OK(made);
  ASSERT_EQ(made->size(), 2u);
  EXPECT_EQ((*made)[0].name(), "jobs/c");
  EXPECT_EQ((*made)[1].name(), "jobs/b");
  EXPECT_LT((*made)[0].sequence(), (*made)[1].sequence());
}

TEST_P(SchedulerContract, RepeatOfARequestGivesTheJobThatItMade) {
  const auto first = Create(scheduler(), {JobNamed("a", "r")});
  ORDO_ASSERT_OK(first);
  const auto again = Create(scheduler(), {JobNamed("a", "r")});
  ORDO_ASSERT_OK(again);
  EXPECT_EQ(again->front().sequence(), first->front().sequence());
  NewJob other = JobNamed("a", "r");
  other.fingerprint = "another";
  EXPECT_THAT(Create(scheduler(), {other}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_P(SchedulerContract, PartsAreCreatedAndAnsweredWithBeforeTheirParentOnce) {
  NewJob part = JobNamed("s-0");
  part.parent = "s";
  part.part = "steps=10";
  NewJob parent = JobNamed("s", "r");
  parent.OwnSpec().set_kind(JobSpec::SWEEP);
  parent.parts = {"s-0"};
  const auto made = Create(scheduler(), {part, parent});
  ORDO_ASSERT_OK(made);
  ASSERT_EQ(made->size(), 2u);
  EXPECT_EQ((*made)[0].parent(), "jobs/s");
  EXPECT_EQ((*made)[0].part(), "steps=10");
  EXPECT_THAT((*made)[1].parts(), ElementsAre("jobs/s-0"));
  const auto again = Create(scheduler(), {part, parent});
  ORDO_ASSERT_OK(again);
  ASSERT_EQ(again->size(), 1u);
  EXPECT_EQ(again->front().sequence(), made->back().sequence());
}

TEST_P(SchedulerContract, AnImportedCheckpointIsListedUnderItsJob) {
  NewJob job = JobNamed("a", "upload");
  job.OwnSpec().set_kind(JobSpec::IMPORT);
  job.imported.emplace();
  job.imported->set_step(3);
  job.imported->set_manifest_sha256("digest");
  const auto made = Create(scheduler(), {job});
  ORDO_ASSERT_OK(made);
  EXPECT_EQ(made->front().state(), Job::SUCCEEDED);
  for (const char* id : {"3-0", "latest"}) {
    const auto checkpoint = scheduler().GetCheckpoint("a", id);
    ORDO_ASSERT_OK(checkpoint);
    EXPECT_EQ(checkpoint->name(), "jobs/a/checkpoints/3-0");
    EXPECT_EQ(checkpoint->manifest_sha256(), "digest");
    EXPECT_EQ(checkpoint->origin(), checkpoints::v1::Checkpoint::IMPORTED);
  }
  ORDO_EXPECT_OK(Create(scheduler(), {job}));
  const auto listing = scheduler().ListCheckpoints("", Page());
  ORDO_ASSERT_OK(listing);
  EXPECT_EQ(listing->items.size(), 1u);
}

TEST_P(SchedulerContract, AnAliasIsSetMovedAndDeleted) {
  ORDO_ASSERT_OK(Import(scheduler(), "a"));
  ORDO_ASSERT_OK(Import(scheduler(), "b"));
  const auto first =
      Set(scheduler(), {"main", "jobs/a/checkpoints/3-0", kNoDigest});
  ORDO_ASSERT_OK(first);
  EXPECT_EQ(first->name(), "aliases/main");
  EXPECT_EQ(first->manifest_sha256(), "digest of a");
  EXPECT_THAT(Set(scheduler(), {"main", "jobs/b", "digest of b"}),
              StatusIs(absl::StatusCode::kAborted));
  const auto moved = Set(scheduler(), {"main", "jobs/b", "digest of a"});
  ORDO_ASSERT_OK(moved);
  EXPECT_EQ(moved->checkpoint(), "jobs/b/checkpoints/3-0");
  EXPECT_NE(moved->etag(), first->etag());
  const auto read = scheduler().GetAlias("main");
  ORDO_ASSERT_OK(read);
  ASSERT_EQ(read->changes_size(), 2);
  EXPECT_EQ(read->changes(1).user(), "bob");
  EXPECT_EQ(read->changes(1).reason(), "because");
  EXPECT_THAT(DeleteAlias(scheduler(), "main", first->etag()),
              StatusIs(absl::StatusCode::kAborted));
  const auto deleted = DeleteAlias(scheduler(), "main", moved->etag());
  ORDO_ASSERT_OK(deleted);
  EXPECT_TRUE(deleted->has_delete_time());
  EXPECT_THAT(scheduler().GetAlias("main"),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_P(SchedulerContract, AliasesAreListedPageByPage) {
  ORDO_ASSERT_OK(Import(scheduler(), "a"));
  for (const char* alias : {"c", "a", "b"}) {
    ORDO_ASSERT_OK(Set(scheduler(), {alias, "jobs/a"}));
  }
  const auto first = scheduler().ListAliases({"", 2});
  ORDO_ASSERT_OK(first);
  ASSERT_EQ(first->items.size(), 2u);
  EXPECT_EQ(first->items[1].name(), "aliases/b");
  EXPECT_EQ(first->next, "aliases/b");
  const auto second = scheduler().ListAliases({first->next, 2});
  ORDO_ASSERT_OK(second);
  ASSERT_EQ(second->items.size(), 1u);
  EXPECT_EQ(second->items[0].name(), "aliases/c");
  EXPECT_EQ(second->next, "");
}

TEST_P(SchedulerContract, WhatNamesACheckpointIsShownAndKeepsIt) {
  const std::string name = "jobs/a/checkpoints/3-0";
  ORDO_ASSERT_OK(Import(scheduler(), "a"));
  ORDO_ASSERT_OK(Set(scheduler(), {"main", name}));
  ORDO_ASSERT_OK(Change(scheduler(), CheckpointVerb::kPin, name));
  const auto held = StatusIs(absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Change(scheduler(), CheckpointVerb::kDelete, name), held);
  const auto shown = scheduler().GetCheckpoint("a", "latest");
  ORDO_ASSERT_OK(shown);
  EXPECT_THAT(shown->aliases(), ElementsAre("aliases/main"));
  EXPECT_EQ(shown->pin().user(), "bob");
  const auto listed = scheduler().ListCheckpoints("", Page());
  ORDO_ASSERT_OK(listed);
  EXPECT_TRUE(listed->items.at(0).has_pin());
  ORDO_ASSERT_OK(DeleteAlias(scheduler(), "main"));
  EXPECT_THAT(Change(scheduler(), CheckpointVerb::kThin, name), held);
  const auto unpinned = Change(scheduler(), CheckpointVerb::kUnpin, name);
  ORDO_ASSERT_OK(unpinned);
  EXPECT_FALSE(unpinned->has_pin());
  EXPECT_EQ(unpinned->changes_size(), 2);
}

TEST_P(SchedulerContract, ACheckpointIsThinnedThenDeletedOnce) {
  const std::string name = "jobs/a/checkpoints/3-0";
  ORDO_ASSERT_OK(Import(scheduler(), "a"));
  const auto thin = Change(scheduler(), CheckpointVerb::kThin, name);
  ORDO_ASSERT_OK(thin);
  EXPECT_TRUE(thin->has_thin_time());
  ASSERT_EQ(thin->files_size(), 1);
  EXPECT_EQ(thin->files(0).path(), "model.safetensors");
  for (int i = 0; i < 2; ++i) {
    const auto deleted = Change(scheduler(), CheckpointVerb::kDelete, name);
    ORDO_ASSERT_OK(deleted);
    EXPECT_EQ(deleted->state(), Checkpoint::DELETED);
    EXPECT_EQ(deleted->changes_size(), 2);
  }
  EXPECT_EQ(scheduler().GetCheckpoint("a", "3-0")->state(),
            Checkpoint::DELETED);
  EXPECT_THAT(scheduler().GetCheckpoint("a", "latest"),
              StatusIs(absl::StatusCode::kNotFound));
  const auto gone = StatusIs(absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Change(scheduler(), CheckpointVerb::kPin, name), gone);
  EXPECT_THAT(Change(scheduler(), CheckpointVerb::kThin, name), gone);
  EXPECT_THAT(Set(scheduler(), {"main", name}), gone);
}

TEST_P(SchedulerContract, WhatAJobThatWaitsNamesIsNotDeleted) {
  const std::string name = "jobs/a/checkpoints/3-0";
  ORDO_ASSERT_OK(Import(scheduler(), "a"));
  NewJob job = JobNamed("e");
  job.OwnSpec().set_kind(JobSpec::EVALUATE);
  job.OwnSpec().add_checkpoints(name);
  ORDO_ASSERT_OK(Create(scheduler(), {job}));
  EXPECT_THAT(Change(scheduler(), CheckpointVerb::kDelete, name),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  ORDO_ASSERT_OK(Cancel(scheduler(), "e"));
  ORDO_EXPECT_OK(Change(scheduler(), CheckpointVerb::kDelete, name));
}

TEST_P(SchedulerContract, WhatIsNotThereIsNeitherNamedNorChanged) {
  const auto not_found = StatusIs(absl::StatusCode::kNotFound);
  EXPECT_THAT(Set(scheduler(), {"main", "jobs/a/checkpoints/3-0"}), not_found);
  EXPECT_THAT(Set(scheduler(), {"main", "aliases/other"}), not_found);
  EXPECT_THAT(DeleteAlias(scheduler(), "main"), not_found);
  for (const CheckpointVerb verb :
       {CheckpointVerb::kPin, CheckpointVerb::kUnpin, CheckpointVerb::kThin,
        CheckpointVerb::kDelete}) {
    EXPECT_THAT(Change(scheduler(), verb, "jobs/a/checkpoints/3-0"), not_found);
  }
  EXPECT_THAT(scheduler().GetAlias("main"), not_found);
}

TEST_P(SchedulerContract, WhatDoesNotExistIsNotFound) {
  const auto not_found = StatusIs(absl::StatusCode::kNotFound);
  EXPECT_THAT(scheduler().GetJob("a"), not_found);
  EXPECT_THAT(scheduler().GetOwner("a"), not_found);
  EXPECT_THAT(scheduler().GetQueueOf("a"), not_found);
  EXPECT_THAT(scheduler().Explain("a"), not_found);
  EXPECT_THAT(Cancel(scheduler(), "a"), not_found);
  EXPECT_THAT(scheduler().WatchJob("a", [](const Job&, bool) {}), not_found);
  EXPECT_THAT(scheduler().GetCheckpoint("a", "1-1"), not_found);
  EXPECT_THAT(scheduler().GetReport("a", "r-1"), not_found);
  EXPECT_THAT(scheduler().GetWorker("w"), not_found);
  ORDO_ASSERT_OK(Create(scheduler(), {JobNamed("a")}));
  EXPECT_THAT(scheduler().GetCheckpoint("a", "latest"), not_found);
}

TEST_P(SchedulerContract, ListingsWithoutEntriesAreEmpty) {
  EXPECT_THAT(NamesOf(scheduler().ListJobs({}, {})), IsEmpty());
  const auto checkpoints = scheduler().ListCheckpoints("", {});
  ORDO_ASSERT_OK(checkpoints);
  EXPECT_THAT(checkpoints->items, IsEmpty());
  const auto reports = scheduler().ListReports("", {});
  ORDO_ASSERT_OK(reports);
  EXPECT_THAT(reports->items, IsEmpty());
  const auto workers = scheduler().ListWorkers({});
  ORDO_ASSERT_OK(workers);
  EXPECT_THAT(workers->items, IsEmpty());
  EXPECT_EQ(workers->next, "");
}

TEST_P(SchedulerContract, ListIsNewestFirstAndGoesOnAfterEachPage) {
  ORDO_ASSERT_OK(Create(scheduler(), {JobNamed("a"), JobNamed("b"),
                                      JobNamed("c"), JobNamed("d")}));
  const auto first = scheduler().ListJobs({}, {"", 2});
  EXPECT_THAT(NamesOf(first), ElementsAre("jobs/d", "jobs/c"));
  // What comes in between does not move the rest.
  ORDO_ASSERT_OK(Create(scheduler(), {JobNamed("e")}));
  const auto second = scheduler().ListJobs({}, {first->next, 2});
  EXPECT_THAT(NamesOf(second), ElementsAre("jobs/b", "jobs/a"));
  EXPECT_EQ(second->next, "");
}

TEST_P(SchedulerContract, ListMatchesEveryTermOfTheFilter) {
  NewJob labelled = JobNamed("b");
  (*labelled.OwnSpec().mutable_labels())["team"] = "x";
  labelled.owner.set_user("bob");
  ORDO_ASSERT_OK(Create(scheduler(), {JobNamed("a"), labelled}));
  ORDO_ASSERT_OK(Cancel(scheduler(), "a"));
  const auto with = [this](const std::function<void(JobFilter*)>& change) {
    JobFilter filter;
    change(&filter);
    return NamesOf(scheduler().ListJobs(filter, {}));
  };
  EXPECT_THAT(with([](JobFilter* filter) { filter->owner = "bob"; }),
              ElementsAre("jobs/b"));
  EXPECT_THAT(with([](JobFilter* filter) { filter->state = Job::CANCELLED; }),
              ElementsAre("jobs/a"));
  EXPECT_THAT(with([](JobFilter* filter) { filter->labels["team"] = "x"; }),
              ElementsAre("jobs/b"));
  EXPECT_THAT(with([](JobFilter* filter) { filter->labels["team"] = "y"; }),
              IsEmpty());
  EXPECT_THAT(with([](JobFilter* filter) {
                filter->queue = "default";
                filter->owner = "ada";
              }),
              ElementsAre("jobs/a"));
}

TEST_P(SchedulerContract, PartsAreListedByTheirParentAlsoWhenTheyHaveEnded) {
  std::vector<NewJob> jobs = {JobNamed("s-0"), JobNamed("s-1"), JobNamed("s"),
                              JobNamed("other")};
  for (int i = 0; i < 2; ++i) jobs[i].parent = "s";
  jobs[2].parts = {"s-0", "s-1"};
  ORDO_ASSERT_OK(Create(scheduler(), jobs));
  ORDO_ASSERT_OK(Cancel(scheduler(), "s-0"));
  JobFilter filter;
  filter.parent = "s";
  EXPECT_THAT(NamesOf(scheduler().ListJobs(filter, {})),
              ElementsAre("jobs/s-1", "jobs/s-0"));
  filter.parent = "other";
  EXPECT_THAT(NamesOf(scheduler().ListJobs(filter, {})), IsEmpty());
}

TEST_P(SchedulerContract, CancelOfAQueuedJobEndsItOnce) {
  ORDO_ASSERT_OK(Create(scheduler(), {JobNamed("a")}));
  const auto cancelled = Cancel(scheduler(), "a");
  ORDO_ASSERT_OK(cancelled);
  EXPECT_EQ(cancelled->state(), Job::CANCELLED);
  EXPECT_EQ(cancelled->cancelled_by(), "bob");
  EXPECT_GT(cancelled->version(), 1);
  EXPECT_THAT(Cancel(scheduler(), "a"),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_P(SchedulerContract, CancelOfAParentEndsItsParts) {
  NewJob part = JobNamed("s-0");
  part.parent = "s";
  NewJob parent = JobNamed("s");
  parent.OwnSpec().set_kind(JobSpec::SWEEP);
  parent.parts = {"s-0"};
  ORDO_ASSERT_OK(Create(scheduler(), {part, parent}));
  ORDO_ASSERT_OK(Cancel(scheduler(), "s"));
  const auto cancelled = scheduler().GetJob("s-0");
  ORDO_ASSERT_OK(cancelled);
  EXPECT_EQ(cancelled->state(), Job::CANCELLED);
  EXPECT_EQ(cancelled->cancelled_by(), "bob");
}

TEST_P(SchedulerContract, HeldJobSaysWhoHeldItFirstUntilItIsReleased) {
  ORDO_ASSERT_OK(Create(scheduler(), {JobNamed("a")}));
  for (const char* user : {"bob", "eve"}) {
    const auto held = Hold(scheduler(), "a", user);
    ORDO_ASSERT_OK(held);
    EXPECT_EQ(held->state(), Job::QUEUED);
    EXPECT_EQ(held->held_by(), "bob");
  }
  for (int i = 0; i < 2; ++i) {
    const auto released = Release(scheduler(), "a");
    ORDO_ASSERT_OK(released);
    EXPECT_EQ(released->held_by(), "");
  }
}

TEST_P(SchedulerContract, JobSaysWhoLastGaveItAnotherPriority) {
  ORDO_ASSERT_OK(Create(scheduler(), {JobNamed("a")}));
  EXPECT_EQ(scheduler().GetJob("a")->priority_set_by(), "");
  const auto set = SetPriority(scheduler(), "a", 7, "bob");
  ORDO_ASSERT_OK(set);
  EXPECT_EQ(set->priority(), 7);
  EXPECT_EQ(set->priority_set_by(), "bob");
  const auto same = SetPriority(scheduler(), "a", 7, "eve");
  ORDO_ASSERT_OK(same);
  EXPECT_EQ(same->priority_set_by(), "bob");
  const auto back = SetPriority(scheduler(), "a", 0, "eve");
  ORDO_ASSERT_OK(back);
  EXPECT_EQ(back->priority_set_by(), "eve");
}

TEST_P(SchedulerContract, OnlyAQueuedJobIsHeldOrReleased) {
  EXPECT_THAT(Hold(scheduler(), "a", "bob"),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(Release(scheduler(), "a"), StatusIs(absl::StatusCode::kNotFound));
  ORDO_ASSERT_OK(Create(scheduler(), {JobNamed("a")}));
  ORDO_ASSERT_OK(Cancel(scheduler(), "a"));
  EXPECT_THAT(Hold(scheduler(), "a", "bob"),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(Release(scheduler(), "a"),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_P(SchedulerContract, WatchTellsTheJobNowAndItsEnd) {
  ORDO_ASSERT_OK(Create(scheduler(), {JobNamed("a")}));
  const auto told = std::make_shared<Told>();
  const auto watch = scheduler().WatchJob("a", Remember(told));
  ORDO_ASSERT_OK(watch);
  ASSERT_TRUE(IsReady(told->first));
  ORDO_ASSERT_OK(Cancel(scheduler(), "a"));
  ASSERT_TRUE(IsReady(told->last));
  scheduler().StopWatch(*watch);
  EXPECT_EQ(told->jobs.front().state(), Job::QUEUED);
  EXPECT_EQ(told->jobs.back().state(), Job::CANCELLED);
}

TEST_P(SchedulerContract, WatchOfAnEndedJobEndsWithItsFirstCall) {
  ORDO_ASSERT_OK(Create(scheduler(), {JobNamed("a")}));
  ORDO_ASSERT_OK(Cancel(scheduler(), "a"));
  const auto told = std::make_shared<Told>();
  const auto watch = scheduler().WatchJob("a", Remember(told));
  ORDO_ASSERT_OK(watch);
  ASSERT_TRUE(IsReady(told->last));
  scheduler().StopWatch(*watch);
  EXPECT_EQ(told->jobs.size(), 1u);
}

TEST_P(SchedulerContract, NoCallComesAfterStopWatch) {
  ORDO_ASSERT_OK(Create(scheduler(), {JobNamed("a")}));
  const auto stopped = std::make_shared<Told>();
  const auto watch = scheduler().WatchJob("a", Remember(stopped));
  ORDO_ASSERT_OK(watch);
  scheduler().StopWatch(*watch);
  const size_t num_calls = stopped->jobs.size();
  // Another watch shows when the change has been told.
  const auto told = std::make_shared<Told>();
  const auto other = scheduler().WatchJob("a", Remember(told));
  ORDO_ASSERT_OK(other);
  ORDO_ASSERT_OK(Cancel(scheduler(), "a"));
  ASSERT_TRUE(IsReady(told->last));
  scheduler().StopWatch(*other);
  EXPECT_EQ(stopped->jobs.size(), num_calls);
}

TEST_P(SchedulerContract, CallbacksMayCallBack) {
  ORDO_ASSERT_OK(Create(scheduler(), {JobNamed("a")}));
  std::promise<absl::StatusOr<Job>> read;
  Scheduler& called = scheduler();
  called.CancelJob("a", "bob", [&](const absl::StatusOr<Job>&) {
    read.set_value(called.GetJob("a"));
  });
  auto future = read.get_future();
  ASSERT_EQ(future.wait_for(kDeadline), std::future_status::ready);
  const auto job = future.get();
  ORDO_ASSERT_OK(job);
  EXPECT_EQ(job->state(), Job::CANCELLED);
}

TEST_P(SchedulerContract, QueuesAreMadeChangedAndDeleted) {
  const auto made = Await<Queue>([this](Scheduler::QueueCallback done) {
    scheduler().CreateQueue(QueueNamed("night", 2), By("ada"), done);
  });
  ORDO_ASSERT_OK(made);
  EXPECT_EQ(made->weight(), 2);
  EXPECT_EQ(made->changes(0).user(), "ada");
  const auto update = [this](double weight, const std::string& etag) {
    return Await<Queue>([&](Scheduler::QueueCallback done) {
      scheduler().UpdateQueue(QueueNamed("night", weight, etag), By("bob"),
                              done);
    });
  };
  ORDO_ASSERT_OK(update(3, made->etag()));
  EXPECT_THAT(update(4, made->etag()), StatusIs(absl::StatusCode::kAborted));
  const auto read = scheduler().GetQueue("night");
  ORDO_ASSERT_OK(read);
  EXPECT_EQ(read->weight(), 3);
  EXPECT_EQ(read->changes_size(), 2);
  const auto listing = scheduler().ListQueues({});
  ORDO_ASSERT_OK(listing);
  ASSERT_EQ(listing->items.size(), 2u);
  EXPECT_EQ(listing->items[0].name(), "queues/default");
  EXPECT_EQ(listing->items[1].name(), "queues/night");
  const auto deleted = Await<Queue>([this](Scheduler::QueueCallback done) {
    scheduler().DeleteQueue("night", "", By("ada"), done);
  });
  ORDO_ASSERT_OK(deleted);
  EXPECT_THAT(scheduler().GetQueue("night"),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_P(SchedulerContract, TokensAreKeptChangedAndForgotten) {
  const auto put = [this](const std::string& sha256,
                          const std::optional<access::v1::Token>& token) {
    std::promise<absl::Status> done;
    scheduler().PutToken(sha256, token, [&done](const absl::Status& status) {
      done.set_value(status);
    });
    return done.get_future().get();
  };
  access::v1::Token token;
  token.set_name("tokens/ci");
  token.set_role(access::v1::USER);
  ORDO_EXPECT_OK(put("b", token));
  ORDO_EXPECT_OK(put("a", token));
  token.set_revoker("ada");
  ORDO_EXPECT_OK(put("b", token));

  const auto tokens = scheduler().ListTokens();
  ASSERT_EQ(tokens.size(), 2u);
  EXPECT_EQ(tokens[0].sha256, "a");
  EXPECT_EQ(tokens[0].token.revoker(), "");
  EXPECT_EQ(tokens[1].sha256, "b");
  EXPECT_EQ(tokens[1].token.revoker(), "ada");

  ORDO_EXPECT_OK(put("a", std::nullopt));
  ORDO_EXPECT_OK(put("none", std::nullopt));
  EXPECT_EQ(scheduler().ListTokens().size(), 1u);
}

TEST_P(SchedulerContract, JobOfAQueueThatIsNotThereIsNotFound) {
  NewJob job = JobNamed("a");
  job.OwnSpec().set_queue("night");
  EXPECT_THAT(Create(scheduler(), {job}),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_P(SchedulerContract, FullQueueTakesNoMoreJobs) {
  Queue small = QueueNamed("night", 2);
  small.set_max_queued_jobs(1);
  ORDO_ASSERT_OK(Await<Queue>([&](Scheduler::QueueCallback done) {
    scheduler().CreateQueue(small, By("ada"), done);
  }));
  NewJob job = JobNamed("a", "request");
  job.OwnSpec().set_queue("night");
  ORDO_ASSERT_OK(Create(scheduler(), {job}));
  ORDO_EXPECT_OK(Create(scheduler(), {job}));
  NewJob other = JobNamed("b");
  other.OwnSpec().set_queue("night");
  EXPECT_THAT(Create(scheduler(), {other}),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST_P(SchedulerContract, QueuesAreListedPageByPage) {
  for (const char* id : {"a", "b"}) {
    ORDO_ASSERT_OK(Await<Queue>([&](Scheduler::QueueCallback done) {
      scheduler().CreateQueue(QueueNamed(id, 2), By("ada"), done);
    }));
  }
  std::vector<std::string> names;
  Page page{"", 1};
  do {
    const auto listing = scheduler().ListQueues(page);
    ORDO_ASSERT_OK(listing);
    for (const Queue& queue : listing->items) names.push_back(queue.name());
    page.before = listing->next;
  } while (!page.before.empty() && names.size() < 10);
  EXPECT_THAT(names, ElementsAre("queues/a", "queues/b", "queues/default"));
}

TEST_P(SchedulerContract, QueueWithJobsIsNotDeleted) {
  ORDO_ASSERT_OK(Await<Queue>([this](Scheduler::QueueCallback done) {
    scheduler().CreateQueue(QueueNamed("night", 2), By("ada"), done);
  }));
  NewJob job = JobNamed("a");
  job.OwnSpec().set_queue("night");
  ORDO_ASSERT_OK(Create(scheduler(), {job}));
  EXPECT_THAT(Await<Queue>([this](Scheduler::QueueCallback done) {
                scheduler().DeleteQueue("night", "", By("ada"), done);
              }),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_P(SchedulerContract, ChangeOfAWorkerNobodyKnowsIsNotFound) {
  const auto not_found = StatusIs(absl::StatusCode::kNotFound);
  EXPECT_THAT(Await<Worker>([this](Scheduler::WorkerCallback done) {
                scheduler().CordonWorker("w", By("ada"), done);
              }),
              not_found);
  EXPECT_THAT(Await<Worker>([this](Scheduler::WorkerCallback done) {
                scheduler().DrainWorker("w", absl::InfinitePast(), By("ada"),
                                        done);
              }),
              not_found);
  EXPECT_THAT(Await<Worker>([this](Scheduler::WorkerCallback done) {
                scheduler().UncordonWorker("w", By("ada"), done);
              }),
              not_found);
  EXPECT_THAT(Await<Worker>([this](Scheduler::WorkerCallback done) {
                scheduler().ReleaseDevice("w", "cpu:0", By("ada"), done);
              }),
              not_found);
}

TEST_P(SchedulerContract, AnnouncementWithoutAWorkerIsInvalid) {
  EXPECT_THAT(scheduler().Announce({}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace ordo::scheduler::testing
