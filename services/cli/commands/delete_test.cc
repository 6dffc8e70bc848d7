#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/loopback_cli_test.h"

namespace ordo::services::cli {
namespace {

using jobs::v1::Job;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kName[] = "jobs/a/checkpoints/20-1";

class DeleteTest : public testing::LoopbackCliTest {
 protected:
  DeleteTest() {
    PutJob("a", Job::SUCCEEDED);
    PutCheckpoint(kName);
  }
};

TEST_F(DeleteTest, RemovesACheckpoint) {
  EXPECT_EQ(Run({"delete", kName, "--reason", "no use"}), 0) << err();
  EXPECT_EQ(out(), "jobs/a/checkpoints/20-1 deleted\n");
  EXPECT_EQ(GetCheckpoint("a", "20-1").state(),
            checkpoints::v1::Checkpoint::DELETED);
  EXPECT_EQ(Run({"get", kName}), 2);
}

TEST_F(DeleteTest, WhatIsHeldIsBadInput) {
  EXPECT_EQ(Run({"pin", kName}), 0) << err();
  EXPECT_EQ(Run({"delete", kName}), 2);
  EXPECT_THAT(err(), HasSubstr("held"));
}

TEST_F(DeleteTest, OneIsNamedExactly) {
  for (const char* name :
       {"a", "jobs/a", "aliases/main", "jobs/a/checkpoints/latest"}) {
    EXPECT_EQ(Run({"delete", name}), 2) << name;
  }
  EXPECT_EQ(GetCheckpoint("a", "20-1").state(),
            checkpoints::v1::Checkpoint::AVAILABLE);
}

TEST_F(DeleteTest, WhatCannotBeDeletedIsNamedAndKeepsNothingElseFromIt) {
  EXPECT_EQ(Run({"push", "data", WriteFile("book.txt", "one")}), 0) << err();
  EXPECT_EQ(Run({"delete", "book", "data/book", "data/a b"}), 2);
  EXPECT_THAT(out(), AllOf(HasSubstr("book@"), HasSubstr(" deleted\n")));
  EXPECT_THAT(err(), AllOf(HasSubstr("'book' cannot be deleted"),
                           HasSubstr("data/{data}@{version}")));
}

}  // namespace
}  // namespace ordo::services::cli
