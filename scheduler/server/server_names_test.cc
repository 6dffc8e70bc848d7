#include <string>

#include "base/files/file_util.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/testing/builders.h"
#include "scheduler/server/testing/fake_worker.h"
#include "scheduler/server/testing/server_fixture.h"

namespace ordo::scheduler::server {
namespace {

using base::testing::IsOk;
using base::testing::IsOkAndHolds;
using base::testing::StatusIs;
using checkpoints::v1::Alias;
using checkpoints::v1::Checkpoint;
using core::testing::AttemptBuilder;
using core::testing::JobBuilder;
using jobs::v1::Job;
using ::testing::ElementsAre;
using testing::FakeWorker;
using ::testing::HasSubstr;
using testing::Later;

constexpr char kOld[] = "jobs/a/checkpoints/5-1";
constexpr char kNew[] = "jobs/a/checkpoints/10-1";

// Job a has ended and left two checkpoints, whose files lie in their folders.
class ServerNamesTest : public testing::ServerTest {
 protected:
  void TrainA() {
    FakeWorker worker("w");
    worker.AnnounceTo(*server_);
    ASSERT_THAT(Create({JobBuilder("a")}), IsOk());
    for (const std::string name : {kOld, kNew}) MakeFiles(name);
    worker.Set(AttemptBuilder("a", 1)
                   .Running()
                   .Checkpoint(1, 5)
                   .Checkpoint(2, 10)
                   .Exited(0));
    worker.AnnounceTo(*server_);
    WaitFor("a", Job::SUCCEEDED);
  }
  void MakeFiles(const std::string& name) {
    ASSERT_THAT(files_.MakeFolders(folder_.Path(name)), IsOk());
    for (const char* file : {"/model.safetensors", "/optimizer.safetensors"}) {
      ASSERT_THAT(base::AtomicWrite(files_, folder_.Path(name + file), "bytes"),
                  IsOk());
    }
  }
  bool IsThere(const std::string& path) {
    return base::Exists(files_, folder_.Path(path));
  }

  absl::StatusOr<Alias> Set(const AliasSetting& setting) {
    Later<absl::StatusOr<Alias>> later;
    server_->SetAlias(setting, Author(), later.callback());
    return later.Get();
  }
  absl::StatusOr<Alias> DeleteAlias(const std::string& alias) {
    Later<absl::StatusOr<Alias>> later;
    server_->DeleteAlias(alias, "", Author(), later.callback());
    return later.Get();
  }
  absl::StatusOr<Checkpoint> Change(CheckpointVerb verb,
                                    const std::string& name) {
    Later<absl::StatusOr<Checkpoint>> later;
    server_->ChangeCheckpoint(verb, name, Author(), later.callback());
    return later.Get();
  }
};

TEST_F(ServerNamesTest, AliasesAndPinsAreThereAfterARestart) {
  TrainA();
  ASSERT_THAT(Set({"main", kOld}), IsOk());
  ASSERT_THAT(Change(CheckpointVerb::kPin, kNew), IsOk());
  Close();
  Open();
  ORDO_ASSERT_OK_AND_ASSIGN(const Alias alias, server_->GetAlias("main"));
  EXPECT_EQ(alias.checkpoint(), kOld);
  EXPECT_EQ(alias.manifest_sha256(), "sha-5-1");
  ORDO_ASSERT_OK_AND_ASSIGN(const Checkpoint pinned,
                            server_->GetCheckpoint("a", "10-1"));
  EXPECT_TRUE(pinned.has_pin());
  ORDO_ASSERT_OK_AND_ASSIGN(const Checkpoint named,
                            server_->GetCheckpoint("a", "5-1"));
  EXPECT_THAT(named.aliases(), ElementsAre("aliases/main"));
  const auto held = StatusIs(absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Change(CheckpointVerb::kDelete, kOld), held);
  EXPECT_THAT(Change(CheckpointVerb::kThin, kNew), held);
}

TEST_F(ServerNamesTest, ThinningRemovesOneFileNowAndAfterARestart) {
  TrainA();
  ORDO_ASSERT_OK_AND_ASSIGN(const Checkpoint thin,
                            Change(CheckpointVerb::kThin, kOld));
  EXPECT_TRUE(thin.has_thin_time());
  const std::string file = std::string(kOld) + "/optimizer.safetensors";
  server_->WaitForRemovals();
  EXPECT_FALSE(IsThere(file));
  EXPECT_TRUE(IsThere(std::string(kOld) + "/model.safetensors"));
  EXPECT_TRUE(IsThere(std::string(kNew) + "/optimizer.safetensors"));
  Close();
  // As when the process had ended before it was gone.
  MakeFiles(kOld);
  Open();
  server_->WaitForRemovals();
  EXPECT_FALSE(IsThere(file));
  EXPECT_TRUE(IsThere(std::string(kOld) + "/model.safetensors"));
}

TEST_F(ServerNamesTest, DeleteRemovesTheFolder) {
  TrainA();
  ASSERT_THAT(Change(CheckpointVerb::kDelete, kOld), IsOk());
  server_->WaitForRemovals();
  EXPECT_FALSE(IsThere(kOld));
  EXPECT_TRUE(IsThere(kNew));
  EXPECT_EQ(server_->GetCheckpoint("a", "5-1")->state(), Checkpoint::DELETED);
  EXPECT_THAT(Create({JobBuilder("b").StartFrom(kOld)}),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(ServerNamesTest, WhatIsNamedIsNotArchivedUntilNothingNamesIt) {
  retention_.max_jobs = 0;
  retention_.archive = folder_.Path("archive.jsonl");
  retention_.period = absl::Hours(1);
  Close();
  Open();
  TrainA();
  ASSERT_THAT(Set({"main", kOld}), IsOk());
  ASSERT_THAT(Change(CheckpointVerb::kPin, kNew), IsOk());
  EXPECT_THAT(server_->Archive(), IsOkAndHolds(0));
  ASSERT_THAT(Change(CheckpointVerb::kUnpin, kNew), IsOk());
  EXPECT_THAT(server_->Archive(), IsOkAndHolds(0));
  ASSERT_THAT(DeleteAlias("main"), IsOk());
  // The job leaves the core when that has been released, behind the answer.
  ASSERT_THAT(Create({JobBuilder("b").Device("cuda")}), IsOk());
  EXPECT_THAT(server_->Archive(), IsOkAndHolds(1));
  EXPECT_THAT(Change(CheckpointVerb::kPin, kNew),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("archived")));
}

TEST_F(ServerNamesTest, TheJobThatAnAliasLeavesMayLeaveToo) {
  retention_.max_jobs = 0;
  retention_.archive = folder_.Path("archive.jsonl");
  retention_.period = absl::Hours(1);
  Close();
  Open();
  TrainA();
  NewJob import = JobBuilder("i");
  import.OwnSpec().set_kind(jobs::v1::JobSpec::IMPORT);
  import.imported.emplace();
  import.imported->set_manifest_sha256("sha-i");
  ASSERT_THAT(Create({import}), IsOk());
  ASSERT_THAT(Set({"main", "jobs/i"}), IsOk());
  ASSERT_THAT(Set({"main", kOld, "sha-i"}), IsOk());
  ASSERT_THAT(Create({JobBuilder("b").Device("cuda")}), IsOk());
  EXPECT_THAT(server_->Archive(), IsOkAndHolds(1));
  EXPECT_THAT(server_->GetJob("i"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(server_->GetJob("a"), IsOk());
}

TEST_F(ServerNamesTest, ALeavingServerChangesNothing) {
  TrainA();
  server_->Drain();
  const auto leaving = StatusIs(absl::StatusCode::kUnavailable);
  EXPECT_THAT(Set({"main", kOld}), leaving);
  EXPECT_THAT(DeleteAlias("main"), leaving);
  EXPECT_THAT(Change(CheckpointVerb::kPin, kOld), leaving);
}

}  // namespace
}  // namespace ordo::scheduler::server
