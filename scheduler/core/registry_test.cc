#include "scheduler/core/registry.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/references.h"
#include "scheduler/core/testing/core_test.h"

namespace ordo::scheduler::core {
namespace {

using base::testing::StatusIs;
using checkpoints::v1::Alias;
using checkpoints::v1::Checkpoint;
using testing::AttemptBuilder;
using testing::CoreTest;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::JobBuilder;

constexpr char kOld[] = "jobs/a/checkpoints/10-1";
constexpr char kNew[] = "jobs/a/checkpoints/20-1";

// Job a runs and keeps two checkpoints, 10-1 and 20-1.
class RegistryTest : public CoreTest {
 protected:
  RegistryTest() {
    StartWorker();
    Submit(JobBuilder("a").Keep(2));
    Write(1, 10);
    Write(2, 20);
  }

  void Write(int64_t number, int64_t step) {
    Observe(AttemptBuilder("a", 1).Running().Checkpoint(number, step));
  }
  void EndA() {
    Observe(AttemptBuilder("a", 1).Running().Checkpoint(2, 20).Exited(0));
    ASSERT_EQ(shell_.StateOf("a"), jobs::v1::Job::SUCCEEDED);
  }
  static Author Ada() {
    Author author;
    author.owner.set_user("ada");
    author.reason = "for the paper";
    return author;
  }
  absl::StatusOr<Checkpoint> Do(CheckpointVerb verb, const std::string& name) {
    return shell_.Change(ChangeCheckpoint{0, verb, name, Ada()});
  }
  absl::StatusOr<Alias> Set(AliasSetting setting) {
    return shell_.Change(
        ChangeAlias{0, ChangeAlias::Verb::kSet, std::move(setting), Ada()});
  }
  absl::StatusOr<Alias> DeleteAlias(const std::string& alias) {
    return shell_.Change(
        ChangeAlias{0, ChangeAlias::Verb::kDelete, {alias}, Ada()});
  }
  Checkpoint::State StateOf(const std::string& name) {
    return FindCheckpoint(shell_.state(), name)->state();
  }
};

TEST_F(RegistryTest, AnAliasKeepsWhatItNames) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Alias alias, Set({"main", kOld}));
  EXPECT_EQ(alias.checkpoint(), kOld);
  EXPECT_EQ(alias.manifest_sha256(), "sha-10-1");
  EXPECT_THAT(shell_.changes(),
              ElementsAre(absl::StrCat("aliases/main: set: none -> ", kOld)));
  Write(3, 30);
  EXPECT_EQ(StateOf(kOld), Checkpoint::AVAILABLE);
  EXPECT_THAT(Do(CheckpointVerb::kDelete, kOld),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("the alias main names it")));
  EXPECT_THAT(Do(CheckpointVerb::kThin, kOld),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(RegistryTest, WhatAnAliasAloneKeptGoesWhenItMoves) {
  ORDO_ASSERT_OK(Set({"main", kOld}));
  ORDO_ASSERT_OK(Set({"other", kOld}));
  Write(3, 30);
  ORDO_ASSERT_OK(Set({"main", "jobs/a"}));
  EXPECT_THAT(shell_.TakeRemoved(), IsEmpty());
  EXPECT_EQ(shell_.state().aliases.at("main")->checkpoint(),
            "jobs/a/checkpoints/30-1");
  ORDO_ASSERT_OK(DeleteAlias("other"));
  EXPECT_THAT(shell_.TakeRemoved(), ElementsAre("a/10-1"));
  EXPECT_EQ(StateOf(kOld), Checkpoint::DELETED);
}

TEST_F(RegistryTest, AnAliasMayBeSetToWhatAnotherNames) {
  ORDO_ASSERT_OK(Set({"candidate", kOld}));
  ORDO_ASSERT_OK_AND_ASSIGN(const Alias main,
                            Set({"main", "aliases/candidate"}));
  EXPECT_EQ(main.checkpoint(), kOld);
  EXPECT_THAT(Set({"main", "aliases/none"}),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(RegistryTest, AnAliasNamesOnlyWhatIsThere) {
  EXPECT_THAT(Set({"main", "jobs/a/checkpoints/5-1"}),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(Set({"main", "jobs/none"}),
              StatusIs(absl::StatusCode::kNotFound));
  Write(3, 30);
  EXPECT_EQ(StateOf(kOld), Checkpoint::DELETED);
  EXPECT_THAT(Set({"main", kOld}),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_TRUE(shell_.state().aliases.empty());
}

TEST_F(RegistryTest, TwoWhoMoveAnAliasFromOneDigestDoNotBothDoIt) {
  ORDO_ASSERT_OK(Set({"main", kOld}));
  ORDO_ASSERT_OK(Set({"main", kNew, "sha-10-1"}));
  EXPECT_THAT(Set({"main", kOld, "sha-10-1"}),
              StatusIs(absl::StatusCode::kAborted));
  EXPECT_EQ(shell_.state().aliases.at("main")->checkpoint(), kNew);
}

TEST_F(RegistryTest, APinKeepsACheckpointUntilItIsTakenBack) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Checkpoint pinned,
                            Do(CheckpointVerb::kPin, kOld));
  EXPECT_EQ(pinned.pin().user(), "ada");
  EXPECT_EQ(pinned.pin().reason(), "for the paper");
  ORDO_ASSERT_OK_AND_ASSIGN(const Checkpoint again,
                            Do(CheckpointVerb::kPin, kOld));
  EXPECT_EQ(again.changes_size(), 1);
  Write(3, 30);
  EXPECT_EQ(StateOf(kOld), Checkpoint::AVAILABLE);
  EXPECT_THAT(Do(CheckpointVerb::kDelete, kOld),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("pinned by ada, 'for the paper'")));
  ORDO_ASSERT_OK_AND_ASSIGN(const Checkpoint free,
                            Do(CheckpointVerb::kUnpin, kOld));
  EXPECT_FALSE(free.has_pin());
  // Retention had only waited for that.
  EXPECT_EQ(free.state(), Checkpoint::DELETED);
  EXPECT_THAT(shell_.TakeRemoved(), ElementsAre("a/10-1"));
  ORDO_EXPECT_OK(Do(CheckpointVerb::kUnpin, kOld));
  EXPECT_THAT(Do(CheckpointVerb::kPin, kOld),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(RegistryTest, ACheckpointShowsItsPinAndItsAliases) {
  ORDO_ASSERT_OK(Set({"second", kOld}));
  ORDO_ASSERT_OK(Set({"main", kOld}));
  ORDO_ASSERT_OK_AND_ASSIGN(const Checkpoint shown,
                            Do(CheckpointVerb::kPin, kOld));
  EXPECT_THAT(shown.aliases(), ElementsAre("aliases/main", "aliases/second"));
  EXPECT_TRUE(shown.has_pin());
}

TEST_F(RegistryTest, ADeletedCheckpointSaysWhoDeletedIt) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Checkpoint deleted,
                            Do(CheckpointVerb::kDelete, kOld));
  EXPECT_EQ(deleted.state(), Checkpoint::DELETED);
  EXPECT_THAT(shell_.TakeRemoved(), ElementsAre("a/10-1"));
  EXPECT_EQ(deleted.changes(0).action(), "delete");
  ORDO_EXPECT_OK(Do(CheckpointVerb::kDelete, kOld));
  EXPECT_THAT(
      shell_.Submit(JobBuilder("b").StartFrom(kOld)),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("deleted by ada")));
}

TEST_F(RegistryTest, TheNewestOfARunThatHasNotEndedStaysWhole) {
  const auto held = StatusIs(absl::StatusCode::kFailedPrecondition,
                             HasSubstr("job a has not ended"));
  EXPECT_THAT(Do(CheckpointVerb::kDelete, kNew), held);
  EXPECT_THAT(Do(CheckpointVerb::kThin, kNew), held);
  EndA();
  ORDO_EXPECT_OK(Do(CheckpointVerb::kThin, kNew));
  EXPECT_THAT(shell_.TakeRemoved(),
              ElementsAre("a/20-1/optimizer.safetensors"));
  ORDO_EXPECT_OK(Do(CheckpointVerb::kDelete, kNew));
  EXPECT_THAT(shell_.TakeRemoved(), ElementsAre("a/20-1"));
}

TEST_F(RegistryTest, WhatAJobThatWaitsNeedsIsNeitherThinnedNorDeleted) {
  EndA();
  Submit(JobBuilder("e").Evaluates({kOld}).Held());
  const auto held = StatusIs(absl::StatusCode::kFailedPrecondition,
                             HasSubstr("job e has not ended"));
  EXPECT_THAT(Do(CheckpointVerb::kDelete, kOld), held);
  EXPECT_THAT(Do(CheckpointVerb::kThin, kOld), held);
  ORDO_ASSERT_OK(shell_.CancelJob("e"));
  ORDO_EXPECT_OK(Do(CheckpointVerb::kDelete, kOld));
  shell_.Ignore();
}

TEST_F(RegistryTest, TheNewestThatALateReferenceStandsForStays) {
  Submit(JobBuilder("b").Needs("a").Held().StartFrom("jobs/a"));
  EndA();
  EXPECT_THAT(Do(CheckpointVerb::kThin, kNew),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("job b has not ended and needs the newest")));
  ORDO_EXPECT_OK(Do(CheckpointVerb::kDelete, kOld));
  shell_.Ignore();
}

TEST_F(RegistryTest, AThinnedCheckpointLendsItsWeightsAndIsNotGoneOnFrom) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Checkpoint thin,
                            Do(CheckpointVerb::kThin, kOld));
  shell_.Ignore();
  EXPECT_TRUE(thin.has_thin_time());
  ASSERT_EQ(thin.files_size(), 1);
  EXPECT_EQ(thin.files(0).path(), "model.safetensors");
  ORDO_ASSERT_OK_AND_ASSIGN(const Checkpoint again,
                            Do(CheckpointVerb::kThin, kOld));
  EXPECT_EQ(again.changes_size(), 1);
  EXPECT_THAT(shell_.Submit(JobBuilder("b").StartFrom(kOld)),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("start_from"), HasSubstr("thinned"))));
  Submit(JobBuilder("e").Evaluates({kOld}).Held());
  NewJob from = JobBuilder("f").Held();
  from.OwnSpec().mutable_model()->set_from(kOld);
  Submit(from);
}

TEST_F(RegistryTest, AllOfItIsThereAfterARestart) {
  ORDO_ASSERT_OK(Set({"main", kOld}));
  ORDO_ASSERT_OK(Set({"gone", kOld}));
  ORDO_ASSERT_OK(DeleteAlias("gone"));
  ORDO_ASSERT_OK(Do(CheckpointVerb::kPin, kNew));
  EndA();
  shell_.Restart();
  EXPECT_THAT(Do(CheckpointVerb::kDelete, kOld),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(Do(CheckpointVerb::kDelete, kNew),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  ORDO_ASSERT_OK_AND_ASSIGN(const Alias again, Set({"gone", kOld}));
  EXPECT_EQ(again.changes_size(), 3);
}

TEST_F(RegistryTest, AJobWhoseCheckpointIsNamedDoesNotLeave) {
  ORDO_ASSERT_OK(Set({"main", kOld}));
  ORDO_ASSERT_OK(Do(CheckpointVerb::kPin, kOld));
  EndA();
  shell_.Forget({"a"});
  EXPECT_EQ(shell_.state().jobs.count("a"), 1u);
  ORDO_ASSERT_OK(DeleteAlias("main"));
  shell_.Forget({"a"});
  EXPECT_EQ(shell_.state().jobs.count("a"), 1u);
  ORDO_ASSERT_OK(Do(CheckpointVerb::kUnpin, kOld));
  shell_.Forget({"a"});
  EXPECT_EQ(shell_.state().jobs.count("a"), 0u);
}

TEST_F(RegistryTest, RowsSayWhichJobTheyNeed) {
  ORDO_ASSERT_OK(Set({"main", kOld}));
  ORDO_ASSERT_OK(Set({"gone", kOld}));
  ORDO_ASSERT_OK(DeleteAlias("gone"));
  ORDO_ASSERT_OK(Do(CheckpointVerb::kPin, kOld));
  std::vector<std::string> named;
  for (const RowPtr& row : RegistryRows(shell_.state())) {
    named.push_back(JobNamedBy(*row));
  }
  // By kind and key.
  EXPECT_THAT(named, ElementsAre("", "a", "a"));
}

TEST_F(RegistryTest, ARowThatNamesNothingIsDamage) {
  ORDO_ASSERT_OK(Set({"main", kOld}));
  Records records = DurablePart(shell_.state());
  records.checkpoints.clear();
  EXPECT_THAT(Load(testing::TestShell::DefaultOptions(), records, shell_.now()),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("aliases/main names it")));
}

TEST_F(RegistryTest, AnAliasWithTheDigestOfAnotherIsDamage) {
  ORDO_ASSERT_OK(Set({"main", kOld}));
  Records records = DurablePart(shell_.state());
  for (CheckpointPtr& checkpoint : records.checkpoints) {
    auto other = std::make_shared<Checkpoint>(*checkpoint);
    other->set_manifest_sha256("other");
    checkpoint = std::move(other);
  }
  EXPECT_THAT(Load(testing::TestShell::DefaultOptions(), records, shell_.now()),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("digest")));
}

TEST_F(RegistryTest, ARowThatCannotBeReadIsDamage) {
  State state;
  for (const Row::Kind kind : {Row::Kind::kAlias, Row::Kind::kPin}) {
    const Row row{kind, "main", "\xff"};
    EXPECT_THAT(kind == Row::Kind::kAlias ? TakeAliasRow(row, &state)
                                          : TakePinRow(row, &state),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("main")));
  }
}

}  // namespace
}  // namespace ordo::scheduler::core
