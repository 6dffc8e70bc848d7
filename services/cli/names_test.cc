#include "services/cli/names.h"

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::services::cli {
namespace {

using base::testing::IsOkAndHolds;
using base::testing::StatusIs;
using ::testing::HasSubstr;
using Kind = ResourceName::Kind;

TEST(ParseResourceNameTest, ReadsEveryForm) {
  struct Case {
    const char* text;
    Kind kind;
    const char* name;
  };
  for (const Case& each :
       {Case{"a", Kind::kJob, "jobs/a"}, Case{"jobs/a", Kind::kJob, "jobs/a"},
        Case{"workers/w", Kind::kWorker, "workers/w"},
        Case{"aliases/main", Kind::kAlias, "aliases/main"},
        Case{"jobs/a/checkpoints/20-1", Kind::kCheckpoint,
             "jobs/a/checkpoints/20-1"},
        Case{"jobs/a/reports/grid-20", Kind::kReport,
             "jobs/a/reports/grid-20"}}) {
    ORDO_ASSERT_OK_AND_ASSIGN(const ResourceName name,
                              ParseResourceName(each.text));
    EXPECT_EQ(name.kind, each.kind) << each.text;
    EXPECT_EQ(name.ToString(), each.name);
  }
}

TEST(ParseResourceNameTest, OtherFormsAreExplained) {
  for (const char* text : {"", "a/b", "jobs/", "/jobs/a", "jobs/a/x/b",
                           "jobs//checkpoints/b", "jobs/a/checkpoints"}) {
    EXPECT_THAT(ParseResourceName(text),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("names are JOB, workers/WORKER")))
        << text;
  }
}

TEST(ParseResourceNameTest, WhatLacksItsCollectionIsGivenIt) {
  for (const std::string text : {"a/checkpoints/best", "a/reports/grid-20"}) {
    EXPECT_THAT(
        ParseResourceName(text),
        StatusIs(absl::StatusCode::kInvalidArgument,
                 HasSubstr("'" + text + "' is not a name; did you mean 'jobs/" +
                           text + "'?")));
  }
}

TEST(JobNameTest, OnlyJobsAreJobs) {
  EXPECT_THAT(JobName("a"), IsOkAndHolds(std::string("jobs/a")));
  EXPECT_THAT(JobName("workers/a"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("'workers/a' is not a job")));
}

TEST(ShortNameTest, IsTheLastPart) {
  EXPECT_EQ(ShortName("jobs/a/checkpoints/20-1"), "20-1");
  EXPECT_EQ(ShortName("a"), "a");
}

TEST(NamesTest, WorkersAndQueuesAreNamedWithOrWithoutTheirCollection) {
  EXPECT_EQ(*WorkerName("w"), "workers/w");
  EXPECT_EQ(*WorkerName("workers/w"), "workers/w");
  EXPECT_EQ(*AliasName("main"), "aliases/main");
  EXPECT_EQ(*AliasName("aliases/main"), "aliases/main");
  EXPECT_EQ(*QueueName("q"), "queues/q");
  EXPECT_EQ(*QueueName("queues/q"), "queues/q");
  for (const char* text : {"", "jobs/a", "queues/", "queues/a/b"}) {
    EXPECT_FALSE(QueueName(text).ok()) << text;
  }
  EXPECT_FALSE(WorkerName("queues/q").ok());
}

}  // namespace
}  // namespace ordo::services::cli
