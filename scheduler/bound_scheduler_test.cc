#include "scheduler/bound_scheduler.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/testing/fake_scheduler.h"

namespace ordo::scheduler {
namespace {

using base::testing::IsOk;
using base::testing::StatusIs;
using jobs::v1::Job;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kHiddenJob[] = "secret-plan";

// Jobs `mine` and `mine-2` in the queue `day`, and one that is seen elsewhere.
class BoundSchedulerTest : public ::testing::Test {
 protected:
  BoundSchedulerTest() {
    for (const char* id : {"day", "night", "rest"}) {
      queues::v1::Queue queue;
      queue.set_name(std::string("queues/") + id);
      scheduler_.CreateQueue(queue, Author(),
                             [](absl::StatusOr<queues::v1::Queue> made) {
                               EXPECT_THAT(made, IsOk());
                             });
    }
    Put("mine", "day");
    Put(kHiddenJob, "night");
    Put("mine-2", "day");
    for (const char* id : {"mine", kHiddenJob}) {
      const std::string job = std::string("jobs/") + id;
      checkpoints::v1::Checkpoint checkpoint;
      checkpoint.set_name(job + "/checkpoints/1-1");
      checkpoint.set_state(checkpoints::v1::Checkpoint::AVAILABLE);
      scheduler_.PutCheckpoint(checkpoint);
      reports::v1::Report report;
      report.set_name(job + "/reports/r-1");
      scheduler_.PutReport(report);
      scheduler_.SetAlias({std::string(id) + "-alias", checkpoint.name()},
                          Author(),
                          [](absl::StatusOr<checkpoints::v1::Alias> set) {
                            EXPECT_THAT(set, IsOk());
                          });
    }
  }

  void Put(const std::string& id, const std::string& queue) {
    Job job;
    job.set_name("jobs/" + id);
    job.set_state(Job::QUEUED);
    job.mutable_spec()->set_queue(queue);
    job.mutable_owner()->set_user("ada");
    scheduler_.PutJob(job);
  }

  NewJob Wanted(const std::string& queue) {
    NewJob job;
    job.name = "new";
    job.OwnSpec().set_queue(queue);
    return job;
  }
  absl::Status Create(const NewJob& job) {
    absl::Status status = absl::UnknownError("no answer");
    bound_->CreateJobs({job}, [&status](absl::StatusOr<std::vector<Job>> made) {
      status = made.status();
    });
    return status;
  }

  // That what is asked of the hidden job is answered as of none, but for the
  // name.
  template <typename Ask>
  void ExpectAsIfNotThere(const Ask& ask) {
    const absl::Status hidden = ask(std::string(kHiddenJob));
    const absl::Status none = ask(std::string("no-such-job"));
    EXPECT_THAT(hidden, StatusIs(absl::StatusCode::kNotFound));
    std::string text(hidden.message());
    const size_t at = text.find(kHiddenJob);
    ASSERT_NE(at, std::string::npos) << text;
    text.replace(at, std::string(kHiddenJob).size(), "no-such-job");
    EXPECT_EQ(text, none.message());
    EXPECT_EQ(hidden.code(), none.code());
  }

  testing::FakeScheduler scheduler_;
  const std::unique_ptr<Scheduler> bound_ =
      MakeBoundScheduler(scheduler_, {"day", "rest"});
};

TEST_F(BoundSchedulerTest, AJobOfAnotherQueueIsAsIfItWasNotThere) {
  ExpectAsIfNotThere(
      [this](const std::string& job) { return bound_->GetJob(job).status(); });
  ExpectAsIfNotThere([this](const std::string& job) {
    return bound_->GetOwner(job).status();
  });
  ExpectAsIfNotThere(
      [this](const std::string& job) { return bound_->Explain(job).status(); });
  ExpectAsIfNotThere([this](const std::string& job) {
    return bound_->WatchJob(job, [](const Job&, bool) {}).status();
  });
  ExpectAsIfNotThere([this](const std::string& job) {
    return bound_->GetCheckpoint(job, "1-1").status();
  });
  ExpectAsIfNotThere([this](const std::string& job) {
    return bound_->GetReport(job, "r-1").status();
  });
  ExpectAsIfNotThere([this](const std::string& job) {
    return bound_->ListCheckpoints(job, {}).status();
  });
  ExpectAsIfNotThere([this](const std::string& job) {
    return bound_->ListReports(job, {}).status();
  });
  ExpectAsIfNotThere([this](const std::string& job) {
    absl::Status status;
    bound_->CancelJob(job, "eve", [&status](absl::StatusOr<Job> answer) {
      status = answer.status();
    });
    return status;
  });
  ExpectAsIfNotThere([this](const std::string& job) {
    absl::Status status;
    bound_->ChangeCheckpoint(
        CheckpointVerb::kDelete, "jobs/" + job + "/checkpoints/1-1", Author(),
        [&status](absl::StatusOr<checkpoints::v1::Checkpoint> answer) {
          status = answer.status();
        });
    return status;
  });
  EXPECT_THAT(scheduler_.cancelled_by(), ::testing::IsEmpty());
  EXPECT_THAT(bound_->GetJob("mine"), IsOk());
  EXPECT_THAT(bound_->GetCheckpoint("mine", "1-1"), IsOk());
}

TEST_F(BoundSchedulerTest, WhatIsSubmittedNamesOnlyWhatIsSeen) {
  EXPECT_THAT(Create(Wanted("day")), IsOk());
  const auto as_none = [this](const std::string& queue) {
    return std::string(Create(Wanted(queue)).message());
  };
  EXPECT_THAT(as_none("night"), HasSubstr("there is no queue night"));
  EXPECT_THAT(as_none("nigh"), AllOf(HasSubstr("there is no queue nigh"),
                                     Not(HasSubstr("night"))));
  ExpectAsIfNotThere([this](const std::string& job) {
    NewJob wanted = Wanted("day");
    wanted.name = "other";
    wanted.OwnSpec().add_checkpoints("jobs/" + job + "/checkpoints/1-1");
    return Create(wanted);
  });
  ExpectAsIfNotThere([this](const std::string& job) {
    NewJob wanted = Wanted("day");
    wanted.name = "other";
    wanted.OwnSpec().add_needs()->set_job("jobs/" + job);
    return Create(wanted);
  });
}

TEST_F(BoundSchedulerTest, ListsHaveWhatIsSeenPageByPage) {
  std::vector<std::string> names;
  Page page;
  page.size = 1;
  do {
    const auto jobs = bound_->ListJobs({}, page);
    ASSERT_THAT(jobs, IsOk());
    for (const Job& job : jobs->items) names.push_back(job.name());
    page.before = jobs->next;
  } while (!page.before.empty());
  EXPECT_THAT(names, ElementsAre("jobs/mine-2", "jobs/mine"));
  JobFilter of_night;
  of_night.queue = "night";
  EXPECT_TRUE(bound_->ListJobs(of_night, {})->items.empty());

  const auto checkpoints = bound_->ListCheckpoints("", {});
  ASSERT_THAT(checkpoints, IsOk());
  ASSERT_EQ(checkpoints->items.size(), 1u);
  EXPECT_EQ(checkpoints->items[0].name(), "jobs/mine/checkpoints/1-1");
  EXPECT_EQ(checkpoints->next, "");
  const auto reports = bound_->ListReports("", {});
  ASSERT_THAT(reports, IsOk());
  ASSERT_EQ(reports->items.size(), 1u);
  const auto queues = bound_->ListQueues({});
  ASSERT_THAT(queues, IsOk());
  ASSERT_EQ(queues->items.size(), 2u);
  EXPECT_EQ(queues->items[0].name(), "queues/day");
  EXPECT_THAT(bound_->GetQueue("night"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(BoundSchedulerTest, NoPageEndsAtSomethingThatIsNotSeen) {
  Page page;
  page.size = 1;
  const auto aliases = bound_->ListAliases(page);
  ASSERT_THAT(aliases, IsOk());
  ASSERT_EQ(aliases->items.size(), 1u);
  EXPECT_EQ(aliases->items[0].name(), "aliases/mine-alias");
  EXPECT_EQ(aliases->next, "");
}

TEST_F(BoundSchedulerTest, AliasesOfWhatIsNotSeenAreNotThere) {
  EXPECT_THAT(bound_->GetAlias("mine-alias"), IsOk());
  const auto hidden = bound_->GetAlias("secret-plan-alias");
  EXPECT_THAT(hidden, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(hidden.status().message(),
            "there is no alias secret-plan-alias; see: ordo alias list");
  EXPECT_EQ(bound_->GetAlias("secret-plan-alia").status().message(),
            "there is no alias secret-plan-alia; see: ordo alias list");
  const auto set = [this](const std::string& alias,
                          const std::string& checkpoint) {
    absl::Status status;
    bound_->SetAlias({alias, checkpoint}, Author(),
                     [&status](absl::StatusOr<checkpoints::v1::Alias> answer) {
                       status = answer.status();
                     });
    return status;
  };
  EXPECT_THAT(set("main", "jobs/mine/checkpoints/1-1"), IsOk());
  EXPECT_THAT(set("main", "jobs/secret-plan/checkpoints/1-1"),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(set("main", "aliases/secret-plan-alias"),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(set("secret-plan-alias", "jobs/mine/checkpoints/1-1"),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(scheduler_.GetAlias("secret-plan-alias")->checkpoint(),
            "jobs/secret-plan/checkpoints/1-1");
}

TEST_F(BoundSchedulerTest, TextsDoNotNameWhatIsNotSeen) {
  jobs::v1::ExplainResponse explanation;
  explanation.set_summary("it waits: secret-plan, mine-2 come first");
  explanation.add_blockers()->set_message("cpu:0 runs job secret-plan");
  scheduler_.PutExplanation("mine", explanation);
  const auto explained = bound_->Explain("mine");
  ASSERT_THAT(explained, IsOk());
  EXPECT_EQ(explained->summary(), "it waits: another, mine-2 come first");
  EXPECT_EQ(explained->blockers(0).message(), "cpu:0 runs job another");

  workers::v1::Worker worker;
  worker.set_name("workers/w");
  for (const char* job : {"jobs/mine", "jobs/secret-plan"}) {
    auto& device = *worker.add_devices();
    device.set_job(job);
    device.set_attempt(7);
    device.add_blames()->set_job(job);
  }
  scheduler_.PutWorker(worker);
  const auto seen = bound_->GetWorker("w");
  ASSERT_THAT(seen, IsOk());
  EXPECT_EQ(seen->devices(0).job(), "jobs/mine");
  EXPECT_EQ(seen->devices(0).blames(0).job(), "jobs/mine");
  EXPECT_EQ(seen->devices(1).job(), "jobs/another");
  EXPECT_EQ(seen->devices(1).attempt(), 0);
  EXPECT_EQ(seen->devices(1).blames(0).job(), "");
}

TEST_F(BoundSchedulerTest, AnAliasThatWasMovedHidesWhereItWas) {
  const auto set = [](Scheduler& scheduler, const std::string& job) {
    absl::StatusOr<checkpoints::v1::Alias> moved;
    scheduler.SetAlias({"main", "jobs/" + job + "/checkpoints/1-1"}, Author(),
                       [&moved](absl::StatusOr<checkpoints::v1::Alias> answer) {
                         moved = std::move(answer);
                       });
    return moved;
  };
  ASSERT_THAT(set(scheduler_, kHiddenJob), IsOk());
  ASSERT_THAT(set(scheduler_, "mine"), IsOk());
  const auto got = bound_->GetAlias("main");
  ASSERT_THAT(got, IsOk());
  EXPECT_THAT(got->ShortDebugString(), Not(HasSubstr(kHiddenJob)));
  const auto listed = bound_->ListAliases({});
  ASSERT_THAT(listed, IsOk());
  for (const auto& alias : listed->items) {
    EXPECT_THAT(alias.ShortDebugString(), Not(HasSubstr(kHiddenJob)));
  }
  // Nor to who takes the name of one that is no more.
  ASSERT_THAT(set(scheduler_, kHiddenJob), IsOk());
  scheduler_.DeleteAlias("main", "", Author(),
                         [](absl::StatusOr<checkpoints::v1::Alias> deleted) {
                           EXPECT_THAT(deleted, IsOk());
                         });
  const auto taken = set(*bound_, "mine");
  ASSERT_THAT(taken, IsOk());
  EXPECT_GT(taken->changes_size(), 1);
  EXPECT_THAT(taken->ShortDebugString(), Not(HasSubstr(kHiddenJob)));
}

TEST_F(BoundSchedulerTest, WhyAnAliasWasNotChangedDoesNotNameWhereItWas) {
  for (const char* job : {kHiddenJob, "mine"}) {
    scheduler_.SetAlias(
        {"main", std::string("jobs/") + job + "/checkpoints/1-1"}, Author(),
        [](absl::StatusOr<checkpoints::v1::Alias> set) {
          EXPECT_THAT(set, IsOk());
        });
  }
  absl::Status status;
  const auto keep = [&status](absl::StatusOr<checkpoints::v1::Alias> answer) {
    status = answer.status();
  };
  AliasSetting setting{"main", "jobs/mine/checkpoints/1-1"};
  setting.etag = "77";
  bound_->SetAlias(setting, Author(), keep);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kAborted));
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("mine"), Not(HasSubstr(kHiddenJob))));
  bound_->DeleteAlias("main", "77", Author(), keep);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kAborted));
  EXPECT_THAT(std::string(status.message()), Not(HasSubstr(kHiddenJob)));
}

TEST_F(BoundSchedulerTest, ResultsHideTheJobThatTheyWereTakenFrom) {
  reports::v1::Report report;
  report.set_name("jobs/mine/reports/r-2");
  report.set_taken_from("jobs/secret-plan/reports/r-1");
  scheduler_.PutReport(report);
  const std::string hidden = "jobs/another/reports/r-1";
  const auto got = bound_->GetReport("mine", "r-2");
  ASSERT_THAT(got, IsOk());
  EXPECT_EQ(got->taken_from(), hidden);
  for (const char* job : {"", "mine"}) {
    const auto listed = bound_->ListReports(job, {});
    ASSERT_THAT(listed, IsOk());
    EXPECT_EQ(listed->items.size(), 2u);
    for (const auto& each : listed->items) {
      EXPECT_THAT(each.ShortDebugString(), Not(HasSubstr(kHiddenJob)));
    }
  }
}

TEST_F(BoundSchedulerTest, JobsAndResultsHideWhatTheyWereMadeOf) {
  Job job;
  job.set_name("jobs/over-it");
  job.mutable_spec()->set_queue("day");
  job.mutable_spec()->set_start_from("jobs/secret-plan/checkpoints/1-1");
  job.add_notices("it goes on from jobs/secret-plan/checkpoints/1-1");
  scheduler_.PutJob(job);
  reports::v1::Report report;
  report.set_name("jobs/over-it/reports/r-1");
  report.set_checkpoint("jobs/secret-plan/checkpoints/1-1");
  scheduler_.PutReport(report);
  const auto got = bound_->GetJob("over-it");
  ASSERT_THAT(got, IsOk());
  EXPECT_EQ(got->spec().start_from(), "jobs/another/checkpoints/1-1");
  EXPECT_EQ(got->notices(0), "it goes on from jobs/another/checkpoints/1-1");
  const auto result = bound_->GetReport("over-it", "r-1");
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->checkpoint(), "jobs/another/checkpoints/1-1");
  const auto listed = bound_->ListJobs({}, {});
  ASSERT_THAT(listed, IsOk());
  for (const Job& each : listed->items) {
    EXPECT_THAT(each.ShortDebugString(), Not(HasSubstr(kHiddenJob)));
  }
  Job watched = job;
  bound_->Hide(&watched);
  EXPECT_THAT(watched.ShortDebugString(), Not(HasSubstr(kHiddenJob)));
}

TEST_F(BoundSchedulerTest, WhatAWatchIsGivenCanBeHidden) {
  Job job;
  job.set_message("it made room for secret-plan");
  scheduler_.Hide(&job);
  EXPECT_EQ(job.message(), "it made room for secret-plan");
  bound_->Hide(&job);
  EXPECT_EQ(job.message(), "it made room for another");
}

// Says what a scheduler may say of a job that is not asked for.
class NamingScheduler : public testing::FakeScheduler {
 public:
  void CancelJob(const std::string& job, const std::string&,
                 JobCallback done) override {
    done(absl::FailedPreconditionError(job + " is part of secret-plan"));
  }
  void CreateJobs(std::vector<NewJob> jobs, JobsCallback done) override {
    done(absl::InvalidArgumentError("the request made job secret-plan, and " +
                                    jobs.front().name + " is another"));
  }
};

TEST_F(BoundSchedulerTest, ErrorsDoNotNameWhatIsNotSeen) {
  NamingScheduler naming;
  Job job;
  job.set_name("jobs/secret-plan");
  job.mutable_spec()->set_queue("night");
  naming.PutJob(job);
  const auto bound = MakeBoundScheduler(naming, {"day"});
  absl::Status status;
  NewJob wanted = Wanted("day");
  wanted.name = "my-own";
  bound->CreateJobs({wanted}, [&status](absl::StatusOr<std::vector<Job>> made) {
    status = made.status();
  });
  EXPECT_EQ(status, absl::InvalidArgumentError(
                        "the request made job another, and my-own is another"));
  Job own;
  own.set_name("jobs/own");
  own.mutable_spec()->set_queue("day");
  naming.PutJob(own);
  bound->CancelJob("own", "eve", [&status](absl::StatusOr<Job> answer) {
    status = answer.status();
  });
  EXPECT_EQ(status, absl::FailedPreconditionError("own is part of another"));
}

TEST_F(BoundSchedulerTest, UsageOfOtherQueuesIsNotCounted) {
  for (const char* queue : {"day", "night"}) {
    usage::v1::ArchivedUsage usage;
    usage.set_queue(queue);
    scheduler_.PutArchivedUsage(usage);
  }
  std::vector<std::string> counted;
  bound_->ForEachArchivedUsage(
      [&counted](const usage::v1::ArchivedUsage& usage) {
        counted.push_back(usage.queue());
      });
  EXPECT_THAT(counted, ElementsAre("day"));
}

}  // namespace
}  // namespace ordo::scheduler
