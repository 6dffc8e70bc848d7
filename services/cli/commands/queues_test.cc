#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/loopback_cli_test.h"

namespace ordo::services::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using QueuesTest = testing::LoopbackCliTest;

TEST_F(QueuesTest, ListShowsEachQueue) {
  EXPECT_EQ(Run({"queues", "create", "night", "--weight", "2", "--quota",
                 "cuda=4:8", "--quota", "cpu=2"}),
            0)
      << err();
  EXPECT_EQ(out(), "night created\n");
  EXPECT_EQ(Run({"queues", "list"}), 0) << err();
  EXPECT_EQ(out(),
            "NAME     WEIGHT  QUOTAS                      HELD  QUEUED  "
            "ACTIVE\n"
            "default       1                                         0  "
            "     0\n"
            "night         2  cuda 4 of at most 8, cpu 2             0  "
            "     0\n");
  const std::string list = out();
  EXPECT_EQ(Run({"queues"}), 0) << err();
  EXPECT_EQ(out(), list);
  EXPECT_EQ(Run({"queues", "list", "-o", "json"}), 0) << err();
  EXPECT_THAT(out(), HasSubstr("\"name\":\"queues/night\""));
}

TEST_F(QueuesTest, ShowTellsSettingsAndChanges) {
  EXPECT_EQ(Run({"queues", "create", "night", "--max-run-time", "2h",
                 "--reason", "exams"}),
            0)
      << err();
  EXPECT_EQ(Run({"queues", "show", "night"}), 0) << err();
  EXPECT_THAT(out(), HasSubstr("2h"));
  EXPECT_THAT(out(), HasSubstr("0 of 1000000"));
  EXPECT_THAT(out(), HasSubstr("exams"));
}

TEST_F(QueuesTest, UpdateChangesWhatIsNamedAndNothingElse) {
  EXPECT_EQ(Run({"queues", "create", "night", "--weight", "2",
                 "--max-queued-jobs", "5"}),
            0)
      << err();
  EXPECT_EQ(Run({"queues", "update", "night", "--weight", "3", "--unset",
                 "max-queued-jobs"}),
            0)
      << err();
  EXPECT_EQ(out(), "night updated\n");
  const auto queue = loopback_.scheduler().GetQueue("night").value();
  EXPECT_EQ(queue.weight(), 3);
  EXPECT_EQ(queue.max_queued_jobs(), 1'000'000);
}

TEST_F(QueuesTest, QuotaOfOneDeviceLeavesThoseOfOthers) {
  EXPECT_EQ(Run({"queues", "create", "night", "--quota", "cpu=1", "--quota",
                 "cuda=4:8"}),
            0)
      << err();
  EXPECT_EQ(Run({"queues", "update", "night", "--quota", "cuda=:2"}), 0)
      << err();
  const auto queue = loopback_.scheduler().GetQueue("night").value();
  ASSERT_EQ(queue.quotas_size(), 2);
  EXPECT_EQ(queue.quotas(0).guaranteed(), 1);
  EXPECT_EQ(queue.quotas(1).limit(), 2);
  EXPECT_EQ(Run({"queues", "update", "night", "--unset", "quota"}), 0) << err();
  EXPECT_EQ(loopback_.scheduler().GetQueue("night")->quotas_size(), 0);
}

TEST_F(QueuesTest, EtagGuardsAChange) {
  EXPECT_EQ(Run({"queues", "create", "night"}), 0) << err();
  EXPECT_EQ(Run({"queues", "update", "night", "--weight", "3", "--etag", "9"}),
            8);
  EXPECT_THAT(err(), HasSubstr("changed meanwhile by"));
  EXPECT_THAT(err(), HasSubstr("ordo queues show night"));
  EXPECT_EQ(Run({"queues", "delete", "night", "--etag", "9"}), 8);
  EXPECT_EQ(Run({"queues", "delete", "night", "--etag", "1"}), 0) << err();
  EXPECT_EQ(out(), "night deleted\n");
}

TEST_F(QueuesTest, WhatWasDoneWhenTheAnswerWasLostIsDone) {
  const std::vector<std::vector<std::string>> commands = {
      {"create", "night", "--weight", "2", "--reason", "exams"},
      {"update", "night", "--weight", "3", "--etag", "1"},
      {"update", "night", "--quota", "cuda=:2", "--etag", "2"},
      {"update", "night", "--quota", "cpu=1"},
      {"update", "night", "--unset", "weight", "--etag", "4"},
      {"delete", "night", "--etag", "5"}};
  for (const std::vector<std::string>& command : commands) {
    loopback_.scheduler().LoseAnswers(1);
    std::vector<std::string> args = {"queues"};
    args.insert(args.end(), command.begin(), command.end());
    EXPECT_EQ(Run(args), 0) << command[0] << ": " << err();
  }
}

TEST_F(QueuesTest, OlderQueueIsNotTakenForTheOneToCreate) {
  EXPECT_EQ(Run({"queues", "create", "night", "--weight", "2"}), 0) << err();
  const std::vector<std::vector<std::string>> others = {
      {"--weight", "3"}, {}, {"--weight", "2", "--reason", "exams"}};
  for (const std::vector<std::string>& other : others) {
    loopback_.scheduler().LoseAnswers(1);
    std::vector<std::string> args = {"queues", "create", "night"};
    args.insert(args.end(), other.begin(), other.end());
    EXPECT_EQ(Run(args), 2);
    EXPECT_THAT(err(), HasSubstr("night exists"));
  }
  EXPECT_EQ(loopback_.scheduler().GetQueue("night")->weight(), 2);
}

TEST_F(QueuesTest, LostAnswerDoesNotHideThatSomebodyElseChangedIt) {
  EXPECT_EQ(Run({"queues", "create", "night"}), 0) << err();
  loopback_.scheduler().LoseAnswers(1);
  EXPECT_EQ(Run({"queues", "update", "night", "--weight", "3", "--etag", "9"}),
            8);
  EXPECT_THAT(err(), HasSubstr("changed meanwhile"));
  EXPECT_EQ(loopback_.scheduler().GetQueue("night")->weight(), 1);
}

TEST_F(QueuesTest, QueueWithJobsStaysAndItIsSaidWhatToDo) {
  EXPECT_EQ(Run({"queues", "create", "night"}), 0) << err();
  jobs::v1::Job job;
  job.set_name("jobs/a");
  job.set_state(jobs::v1::Job::QUEUED);
  job.mutable_spec()->set_queue("night");
  loopback_.scheduler().PutJob(job);
  EXPECT_EQ(Run({"queues", "delete", "night"}), 2);
  EXPECT_THAT(err(), HasSubstr("has 1 job that has not ended"));
  EXPECT_THAT(err(), HasSubstr("ordo list jobs --all-users --filter"));
  EXPECT_TRUE(loopback_.scheduler().GetQueue("night").ok());
}

TEST_F(QueuesTest, DeletedQueueIsGone) {
  EXPECT_EQ(Run({"queues", "create", "night"}), 0) << err();
  EXPECT_EQ(Run({"queues", "delete", "queues/night"}), 0) << err();
  EXPECT_EQ(Run({"queues", "list"}), 0);
  EXPECT_THAT(out(), Not(HasSubstr("night")));
  EXPECT_EQ(Run({"queues", "delete", "night"}), 2);
  EXPECT_EQ(Run({"queues", "delete", "default"}), 2);
}

TEST_F(QueuesTest, EveryWrongSettingIsNamed) {
  EXPECT_EQ(Run({"queues", "create", "night", "--weight", "0", "--quota",
                 "cuda=4:2"}),
            2);
  EXPECT_THAT(err(), HasSubstr("queue.weight"));
  EXPECT_THAT(err(), HasSubstr("queue.quotas[0].limit"));
}

TEST_F(QueuesTest, WhatCannotBeMeantIsBadInput) {
  EXPECT_EQ(Run({"queues", "crate", "night"}), 2);
  EXPECT_THAT(err(), HasSubstr("did you mean 'create'?"));
  EXPECT_EQ(Run({"queues", "list", "night"}), 2);
  EXPECT_EQ(Run({"queues", "create"}), 2);
  EXPECT_THAT(err(), HasSubstr("usage: ordo queues create QUEUE"));
  EXPECT_EQ(Run({"queues", "update", "default"}), 2);
  EXPECT_THAT(err(), HasSubstr("nothing to change"));
  EXPECT_EQ(Run({"queues", "show", "default", "--weight", "2"}), 2);
  EXPECT_THAT(err(), HasSubstr("--weight has no meaning"));
  EXPECT_EQ(Run({"queues", "create", "night", "--unset", "weight"}), 2);
}

}  // namespace
}  // namespace ordo::services::cli
