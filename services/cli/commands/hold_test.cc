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
