#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/loopback_cli_test.h"

namespace ordo::services::cli {
namespace {

using jobs::v1::Job;
using ::testing::HasSubstr;

constexpr char kName[] = "jobs/a/checkpoints/20-1";

class ThinTest : public testing::LoopbackCliTest {
 protected:
  ThinTest() {
    PutJob("a", Job::SUCCEEDED);
    PutCheckpoint(kName);
  }
};

TEST_F(ThinTest, RemovesTheOptimizersState) {
  EXPECT_EQ(Run({"thin", "a", "-o", "json"}), 0) << err();
  EXPECT_THAT(out(), HasSubstr("thin_time"));
  EXPECT_EQ(GetCheckpoint("a", "20-1").files_size(), 1);
  EXPECT_EQ(Run({"list", "checkpoints", "a"}), 0) << err();
  EXPECT_THAT(out(), HasSubstr("thinned"));
}

TEST_F(ThinTest, WhatIsHeldIsBadInput) {
  EXPECT_EQ(Run({"alias", "set", "main", kName}), 0) << err();
  EXPECT_EQ(Run({"thin", kName}), 2);
  EXPECT_THAT(err(), HasSubstr("held"));
}

}  // namespace
}  // namespace ordo::services::cli
