#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/loopback_cli_test.h"

namespace ordo::services::cli {
namespace {

using jobs::v1::Job;
using ::testing::HasSubstr;
using HoldTest = testing::LoopbackCliTest;

TEST_F(HoldTest, HoldsEachJob) {
  PutJob("a", Job::QUEUED);
  PutJob("b", Job::QUEUED);
  EXPECT_EQ(Run({"hold", "a", "jobs/b"}), 0) << err();
  EXPECT_EQ(out(), "a held by ada\nb held by ada\n");
  EXPECT_EQ(GetJob("b").held_by(), "ada");
  EXPECT_EQ(Run({"hold", "a", "-o", "json"}), 0) << err();
  EXPECT_THAT(out(), HasSubstr("\"held_by\":\"ada\""));
}

TEST_F(HoldTest, PartsThatRunAreLeftAloneAndCounted) {
  const auto put = [this](const std::string& id, Job::State state) {
    Job part;
    part.set_name("jobs/" + id);
    part.set_parent("jobs/s");
    part.set_state(state);
    loopback_.scheduler().PutJob(part);
  };
  put("s-0", Job::SUCCEEDED);
  put("s-1", Job::RUNNING);
  put("s-2", Job::STARTING);
  put("s-3", Job::QUEUED);
  Job parent;
  parent.set_name("jobs/s");
  parent.set_state(Job::QUEUED);
  for (const char* part : {"s-0", "s-1", "s-2", "s-3"}) {
    parent.add_parts(std::string("jobs/") + part);
  }
  loopback_.scheduler().PutJob(parent);
  EXPECT_EQ(Run({"hold", "s"}), 0) << err();
  EXPECT_EQ(out(), "s held by ada\n");
  EXPECT_THAT(err(), HasSubstr("queued again: 2 of 4;"));
  EXPECT_EQ(Run({"priority", "s", "3"}), 0) << err();
  EXPECT_THAT(err(), HasSubstr("queued again: 2 of 4;"));
  put("s-1", Job::FAILED);
  put("s-2", Job::SUCCEEDED);
  EXPECT_EQ(Run({"hold", "s"}), 0) << err();
  EXPECT_EQ(err(), "");
}

// Those that were archived are parts too.
TEST_F(HoldTest, PartsThatAreNoLongerListedCount) {
  Job part;
  part.set_name("jobs/s-1");
  part.set_parent("jobs/s");
  part.set_state(Job::RUNNING);
  loopback_.scheduler().PutJob(part);
  Job parent;
  parent.set_name("jobs/s");
  parent.set_state(Job::QUEUED);
  for (const char* id : {"s-0", "s-1", "s-2"}) {
    parent.add_parts(std::string("jobs/") + id);
  }
  loopback_.scheduler().PutJob(parent);
  EXPECT_EQ(Run({"hold", "s"}), 0) << err();
  EXPECT_THAT(err(), HasSubstr("queued again: 1 of 3;"));
}

TEST_F(HoldTest, WhatWasDoneIsNoFailureWhenThePartsCannotBeListed) {
  loopback_.scheduler().RefuseListings(
      absl::ResourceExhaustedError("too many calls"));
  Job parent;
  parent.set_name("jobs/s");
  parent.set_state(Job::QUEUED);
  parent.add_parts("jobs/s-0");
  loopback_.scheduler().PutJob(parent);
  EXPECT_EQ(Run({"hold", "s"}), 0) << err();
  EXPECT_EQ(out(), "s held by ada\n");
  EXPECT_THAT(err(), HasSubstr("could not be asked: "));
  EXPECT_THAT(err(), HasSubstr("too many calls"));
  EXPECT_EQ(Run({"priority", "s", "3"}), 0) << err();
  EXPECT_EQ(out(), "s priority 3\n");
  EXPECT_THAT(err(), HasSubstr("could not be asked: "));
}

TEST_F(HoldTest, OneThatCannotBeHeldKeepsNoneOfTheOthersFromIt) {
  PutJob("a", Job::RUNNING);
  PutJob("b", Job::QUEUED);
  EXPECT_EQ(Run({"hold", "a", "nosuch", "b"}), 2);
  EXPECT_EQ(out(), "b held by ada\n");
  EXPECT_THAT(err(), HasSubstr("'a' is not queued"));
  EXPECT_THAT(err(), HasSubstr("nosuch"));
}

}  // namespace
}  // namespace ordo::services::cli
