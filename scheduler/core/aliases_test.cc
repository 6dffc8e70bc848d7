#include "scheduler/core/aliases.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::scheduler::core {
namespace {

using base::testing::StatusIs;
using checkpoints::v1::Checkpoint;
using ::testing::HasSubstr;

constexpr absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

Author By(const std::string& user, const std::string& reason = "") {
  Author author;
  author.owner.set_user(user);
  author.reason = reason;
  return author;
}

Checkpoint CheckpointNamed(const std::string& job) {
  Checkpoint checkpoint;
  checkpoint.set_name("jobs/" + job + "/checkpoints/20-1");
  checkpoint.set_manifest_sha256("sha-" + job);
  return checkpoint;
}

class AliasesTest : public ::testing::Test {
 protected:
  // Has an alias name the checkpoint of a job, in the map.
  absl::StatusOr<AliasPtr> Set(const AliasSetting& setting,
                               const std::string& job,
                               const std::string& user = "ada") {
    const Checkpoint to = CheckpointNamed(job);
    auto alias = MovedAlias(aliases_, {setting, to}, By(user, "better"), kNow);
    if (alias.ok()) aliases_[setting.alias] = *alias;
    return alias;
  }
  absl::StatusOr<AliasPtr> Delete(const std::string& id,
                                  const std::string& etag = "") {
    auto alias = DeletedAlias(aliases_, {id, etag}, By("ada"), kNow);
    if (alias.ok()) aliases_[id] = *alias;
    return alias;
  }

  Aliases aliases_;
};

TEST_F(AliasesTest, OneThatIsNewNamesTheCheckpointAndItsDigest) {
  ORDO_ASSERT_OK_AND_ASSIGN(const AliasPtr alias, Set({"main"}, "a"));
  EXPECT_EQ(alias->name(), "aliases/main");
  EXPECT_EQ(alias->checkpoint(), "jobs/a/checkpoints/20-1");
  EXPECT_EQ(alias->manifest_sha256(), "sha-a");
  EXPECT_EQ(alias->create_time().seconds(), alias->update_time().seconds());
  ASSERT_EQ(alias->changes_size(), 1);
  EXPECT_EQ(alias->changes(0).user(), "ada");
  EXPECT_EQ(alias->changes(0).reason(), "better");
  EXPECT_EQ(alias->changes(0).action(), "set: none -> jobs/a/checkpoints/20-1");
  EXPECT_TRUE(IsSound("main", *alias));
  EXPECT_FALSE(IsSound("other", *alias));
}

TEST_F(AliasesTest, EachMoveIsAnotherStateAndIsRemembered) {
  ORDO_ASSERT_OK_AND_ASSIGN(const AliasPtr first, Set({"main"}, "a"));
  ORDO_ASSERT_OK_AND_ASSIGN(const AliasPtr second, Set({"main"}, "b", "bob"));
  EXPECT_NE(second->etag(), first->etag());
  EXPECT_EQ(second->manifest_sha256(), "sha-b");
  ASSERT_EQ(second->changes_size(), 2);
  EXPECT_EQ(second->changes(1).user(), "bob");
  EXPECT_EQ(second->changes(1).action(),
            "set: jobs/a/checkpoints/20-1 -> jobs/b/checkpoints/20-1");
}

TEST_F(AliasesTest, WhatItNamesAlreadyChangesNothing) {
  ORDO_ASSERT_OK_AND_ASSIGN(const AliasPtr first, Set({"main"}, "a"));
  ORDO_ASSERT_OK_AND_ASSIGN(const AliasPtr again, Set({"main"}, "a", "bob"));
  EXPECT_EQ(again, first);
}

TEST_F(AliasesTest, MovesOnlyFromTheDigestThatIsMeant) {
  ORDO_ASSERT_OK(Set({"main"}, "a", "bob"));
  EXPECT_THAT(Set({"main", "", "sha-b"}, "c"),
              StatusIs(absl::StatusCode::kAborted,
                       AllOf(HasSubstr("by bob"), HasSubstr("sha-a"))));
  ORDO_ASSERT_OK(Set({"main", "", "sha-a"}, "b"));
  EXPECT_THAT(Set({"other", "", "sha-a"}, "b"),
              StatusIs(absl::StatusCode::kAborted,
                       HasSubstr("there is no alias other")));
}

TEST_F(AliasesTest, IsMadeOnlyWhereNoneIsMeant) {
  ORDO_ASSERT_OK(Set({"main", "", kNoDigest}, "a"));
  EXPECT_THAT(Set({"main", "", kNoDigest}, "b"),
              StatusIs(absl::StatusCode::kAborted));
  ORDO_ASSERT_OK(Delete("main"));
  ORDO_ASSERT_OK(Set({"main", "", kNoDigest}, "b"));
}

TEST_F(AliasesTest, MovesOnlyInTheStateThatIsMeant) {
  ORDO_ASSERT_OK_AND_ASSIGN(const AliasPtr first, Set({"main"}, "a"));
  ORDO_ASSERT_OK(Set({"main", "", "", first->etag()}, "b"));
  EXPECT_THAT(Set({"main", "", "", first->etag()}, "c"),
              StatusIs(absl::StatusCode::kAborted, HasSubstr("etag")));
  EXPECT_THAT(Delete("main", first->etag()),
              StatusIs(absl::StatusCode::kAborted));
}

TEST_F(AliasesTest, ADeletedOneIsNotThereAndItsHistoryGoesOn) {
  ORDO_ASSERT_OK_AND_ASSIGN(const AliasPtr first, Set({"main"}, "a"));
  ORDO_ASSERT_OK_AND_ASSIGN(const AliasPtr deleted, Delete("main"));
  EXPECT_TRUE(deleted->has_delete_time());
  EXPECT_EQ(FindAlias(aliases_, "main"), nullptr);
  EXPECT_TRUE(AllAliases(aliases_).empty());
  EXPECT_THAT(Delete("main"), StatusIs(absl::StatusCode::kNotFound));
  ORDO_ASSERT_OK_AND_ASSIGN(const AliasPtr again, Set({"main"}, "b"));
  EXPECT_FALSE(again->has_delete_time());
  EXPECT_EQ(again->changes_size(), 3);
  EXPECT_EQ(again->changes(2).action(), "set: none -> jobs/b/checkpoints/20-1");
  EXPECT_NE(again->etag(), first->etag());
}

TEST_F(AliasesTest, AnUnknownOneIsToldTheNearest) {
  ORDO_ASSERT_OK(Set({"main"}, "a"));
  EXPECT_THAT(
      GetAlias(aliases_, "mian"),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("did you mean 'main'?")));
}

TEST_F(AliasesTest, ThereIsALimit) {
  for (size_t i = 0; i < kMaxAliases; ++i) {
    ORDO_ASSERT_OK(Set({absl::StrCat("a", i)}, "a"));
  }
  EXPECT_THAT(Set({"one-more"}, "a"),
              StatusIs(absl::StatusCode::kResourceExhausted));
  // Those that are there may move.
  ORDO_EXPECT_OK(Set({"a0"}, "b"));
}

TEST_F(AliasesTest, DeletedOnesAreNotKeptForEver) {
  for (size_t i = 0; i < kMaxDeletedAliases; ++i) {
    const std::string id = absl::StrCat("a", i);
    ORDO_ASSERT_OK(Set({id}, "a"));
    ORDO_ASSERT_OK(Delete(id));
  }
  EXPECT_EQ(AliasToForget(aliases_), "");
  ORDO_ASSERT_OK(Set({"last"}, "a"));
  auto last =
      DeletedAlias(aliases_, {"last", ""}, By("ada"), kNow - absl::Hours(1));
  ORDO_ASSERT_OK(last);
  aliases_["last"] = *last;
  EXPECT_EQ(AliasToForget(aliases_), "last");
}

TEST(NamesAliasTest, IsByItsCollection) {
  EXPECT_TRUE(NamesAlias(AliasName("main")));
  EXPECT_FALSE(NamesAlias("jobs/aliases"));
}

}  // namespace
}  // namespace ordo::scheduler::core
