#include "services/cli/commands/checkpoint_names.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/loopback_cli_test.h"

namespace ordo::services::cli {
namespace {

using jobs::v1::Job;
using ::testing::HasSubstr;

class CheckpointNamesTest : public testing::LoopbackCliTest {
 protected:
  CheckpointNamesTest() {
    PutJob("a", Job::SUCCEEDED);
    PutCheckpoint("jobs/a/checkpoints/10-1");
    PutCheckpoint("jobs/a/checkpoints/20-1");
    loopback_.scheduler().SetAlias(
        {"main", "jobs/a/checkpoints/10-1"}, {},
        [](const auto& set) { EXPECT_TRUE(set.ok()) << set.status(); });
  }
};

TEST_F(CheckpointNamesTest, EveryFormNamesOne) {
  for (const char* text :
       {"a", "jobs/a", "jobs/a/checkpoints/latest", "jobs/a/checkpoints/last",
        "jobs/a/checkpoints/20-1"}) {
    EXPECT_EQ(Run({"pin", text}), 0) << err();
    EXPECT_EQ(out(), "jobs/a/checkpoints/20-1 pinned\n") << text;
  }
  EXPECT_EQ(Run({"pin", "aliases/main"}), 0) << err();
  EXPECT_EQ(out(), "jobs/a/checkpoints/10-1 pinned\n");
}

TEST_F(CheckpointNamesTest, OtherNamesAreBadInput) {
  EXPECT_EQ(Run({"pin", "workers/w"}), 2);
  EXPECT_THAT(err(), HasSubstr("is no checkpoint"));
  EXPECT_EQ(Run({"pin", "aliases/none"}), 2);
  EXPECT_EQ(Run({"pin", "b"}), 2);
}

TEST(NotesOfTest, NameAliasesPinAndThinning) {
  checkpoints::v1::Checkpoint checkpoint;
  EXPECT_EQ(NotesOf(checkpoint), "");
  checkpoint.add_aliases("aliases/a");
  checkpoint.add_aliases("aliases/b");
  checkpoint.mutable_pin();
  checkpoint.mutable_thin_time();
  EXPECT_EQ(NotesOf(checkpoint), "a, b, pinned, thinned");
}

}  // namespace
}  // namespace ordo::services::cli
