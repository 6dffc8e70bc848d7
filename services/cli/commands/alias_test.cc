#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/loopback_cli_test.h"

namespace ordo::services::cli {
namespace {

using jobs::v1::Job;
using ::testing::HasSubstr;

constexpr char kOld[] = "jobs/a/checkpoints/10-1";
constexpr char kNew[] = "jobs/a/checkpoints/20-1";

class AliasTest : public testing::LoopbackCliTest {
 protected:
  AliasTest() {
    PutJob("a", Job::SUCCEEDED);
    PutCheckpoint(kOld);
    PutCheckpoint(kNew);
  }
  std::string Named() {
    const auto alias = loopback_.scheduler().GetAlias("main");
    return alias.ok() ? alias->checkpoint() : "";
  }
};

TEST_F(AliasTest, SetHasItNameACheckpoint) {
  EXPECT_EQ(Run({"alias", "set", "main", kOld, "--reason", "better"}), 0)
      << err();
  EXPECT_EQ(out(), "main is jobs/a/checkpoints/10-1\n");
  EXPECT_EQ(Run({"alias", "set", "main", "a"}), 0) << err();
  EXPECT_EQ(Named(), kNew);
  EXPECT_EQ(Run({"alias", "set", "other", "aliases/main", "-o", "json"}), 0)
      << err();
  EXPECT_THAT(out(), HasSubstr("\"name\":\"aliases/other\""));
}

TEST_F(AliasTest, OneThatWasChangedMeanwhileIsNotSet) {
  EXPECT_EQ(Run({"alias", "set", "main", kOld, "--if-digest", "none"}), 0)
      << err();
  EXPECT_EQ(Run({"alias", "set", "main", kNew, "--if-digest", "none"}), 8);
  EXPECT_THAT(err(), HasSubstr("was changed meanwhile"));
  const std::string digest =
      loopback_.scheduler().GetAlias("main")->manifest_sha256();
  EXPECT_EQ(Run({"alias", "set", "main", kNew, "--if-digest", digest}), 0)
      << err();
  EXPECT_EQ(Run({"alias", "set", "main", kOld, "--if-digest", digest}), 8);
  EXPECT_EQ(Named(), kNew);
}

TEST_F(AliasTest, ASecondTryIsDoneWhatTheFirstHasDone) {
  EXPECT_EQ(Run({"alias", "set", "main", kOld}), 0) << err();
  const std::string digest =
      loopback_.scheduler().GetAlias("main")->manifest_sha256();
  loopback_.scheduler().LoseAnswers(1);
  EXPECT_EQ(Run({"alias", "set", "main", kNew, "--if-digest", digest}), 0)
      << err();
  EXPECT_EQ(out(), "main is jobs/a/checkpoints/20-1\n");
  loopback_.scheduler().LoseAnswers(1);
  EXPECT_EQ(Run({"alias", "delete", "main"}), 0) << err();
  EXPECT_EQ(Named(), "");
}

TEST_F(AliasTest, GetTellsWhatItNamesAndWhoMovedIt) {
  EXPECT_EQ(Run({"alias", "set", "main", kOld, "--reason", "better"}), 0);
  EXPECT_EQ(Run({"alias", "get", "main"}), 0) << err();
  EXPECT_THAT(out(), HasSubstr(kOld));
  EXPECT_THAT(out(), HasSubstr("set: none -> jobs/a/checkpoints/10-1"));
  EXPECT_THAT(out(), HasSubstr("better"));
  EXPECT_EQ(Run({"show", "aliases/main"}), 0) << err();
  EXPECT_THAT(out(), HasSubstr(kOld));
  EXPECT_EQ(Run({"alias", "get", "mian"}), 2);
  EXPECT_THAT(err(), HasSubstr("did you mean 'main'?"));
}

TEST_F(AliasTest, ListShowsThemByName) {
  EXPECT_EQ(Run({"alias", "set", "b", kOld}), 0);
  EXPECT_EQ(Run({"alias", "set", "a", kNew}), 0);
  EXPECT_EQ(Run({"alias", "list"}), 0) << err();
  EXPECT_THAT(out(), ::testing::ContainsRegex("a +jobs/a/checkpoints/20-1 .*\n"
                                              "b +jobs/a/checkpoints/10-1 "));
  EXPECT_EQ(Run({"list", "checkpoints", "a"}), 0) << err();
  EXPECT_THAT(out(), ::testing::ContainsRegex("10-1 .* b\n"));
}

TEST_F(AliasTest, DeletedOnesAreGone) {
  EXPECT_EQ(Run({"alias", "set", "main", kOld}), 0);
  EXPECT_EQ(Run({"alias", "delete", "main", "--etag", "7"}), 8);
  EXPECT_EQ(Run({"alias", "delete", "main"}), 0) << err();
  EXPECT_EQ(out(), "main deleted\n");
  EXPECT_EQ(Run({"alias", "delete", "main"}), 2);
}

TEST_F(AliasTest, WhatHasNoMeaningIsBadInput) {
  EXPECT_EQ(Run({"alias", "move", "main"}), 2);
  EXPECT_THAT(err(), HasSubstr("is no command"));
  EXPECT_EQ(Run({"alias", "set", "main"}), 2);
  EXPECT_THAT(err(), HasSubstr("usage: ordo alias set ALIAS CHECKPOINT"));
  EXPECT_EQ(Run({"alias", "list", "main"}), 2);
  EXPECT_EQ(Run({"alias", "get", "main", "--reason", "x"}), 2);
  EXPECT_EQ(Run({"alias", "delete", "main", "--if-digest", "none"}), 2);
  EXPECT_EQ(Run({"alias", "set", "Main", kOld}), 2);
  EXPECT_EQ(Run({"alias", "set", "main", kOld, "--if-digest", "x"}), 2);
  EXPECT_THAT(err(), HasSubstr("if_digest"));
}

}  // namespace
}  // namespace ordo::services::cli
