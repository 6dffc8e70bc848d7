#include "model/training/checkpoint.h"

#include <cerrno>
#include <string>

#include "base/digest/digest.h"
#include "base/files/file_util.h"
#include "base/files/testing/faulty_filesystem.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/training/durable_folder.h"
#include "model/training/initial_values.h"
#include "model/training/model_config.h"
#include "model/training/run.h"
#include "model/training/testing/tiny_spec.h"
#include "nlohmann/json.hpp"

namespace ordo::model::training {
namespace {

using ::ordo::base::testing::FileOperation;
using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CheckpointTest : public ::testing::Test {
 protected:
  CheckpointTest()
      : files_(real_), run_(*training::Run::Create(testing::TinySpec("tape"))) {
    for (int step = 0; step < 3; ++step) ORDO_EXPECT_OK(run_->Step());
    checkpoint_.snapshot = Copy(run_->State());
    checkpoint_.spec = run_->spec();
    checkpoint_.environment = {"build", 2, "AVX", "2.11"};
    checkpoint_.exact = false;
    checkpoint_.initial = DigestValues(run_->model());
  }

  std::string Bytes(const std::string& path) {
    return base::ReadFile(real_, temporary_.Path(path), 64 << 20).value();
  }

  base::PosixFilesystem real_;
  base::testing::FaultyFilesystem files_;
  base::testing::TemporaryFolder temporary_;
  std::unique_ptr<training::Run> run_;
  Checkpoint checkpoint_;
};

TEST_F(CheckpointTest, GivesBackAllThatWasSaved) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto written,
      WriteCheckpoint(files_, temporary_.path(), checkpoint_));
  EXPECT_EQ(written.id(), "3-1");
  EXPECT_EQ(written.step(), 3);
  EXPECT_EQ(written.files_size(), 5);
  EXPECT_EQ(written.data_digest(), run_->cursors().data_digest);
  EXPECT_EQ(written.tokens(), run_->cursors().tokens);
  ORDO_ASSERT_OK_AND_ASSIGN(const Checkpoint read,
                            ReadCheckpoint(files_, temporary_.Path("3-1"),
                                           written.manifest_sha256()));
  EXPECT_EQ(StateDigest(read.snapshot), StateDigest(checkpoint_.snapshot));
  EXPECT_EQ(StateDigest(read.snapshot), written.state_digest());
  EXPECT_EQ(read.spec.DebugString(), checkpoint_.spec.DebugString());
  EXPECT_THAT(Differences(read.environment, checkpoint_.environment),
              IsEmpty());
  EXPECT_FALSE(read.exact);
  EXPECT_EQ(CombinedDigest(read.initial), CombinedDigest(checkpoint_.initial));
  EXPECT_EQ(read.snapshot.cursors.data_digest, run_->cursors().data_digest);
  EXPECT_THAT(ReadStep(files_, temporary_.Path("3-1")), IsOkAndHolds(3));
}

TEST_F(CheckpointTest, StateSaysWhatBitEqualityDependsOn) {
  checkpoint_.environment.kernels = "tiled";
  checkpoint_.environment.settings = "MKL_CBWR=AVX2";
  checkpoint_.environment.gpu = "NVIDIA H200";
  checkpoint_.snapshot.attention_kernels = {"a", "b"};
  ORDO_ASSERT_OK(WriteCheckpoint(files_, temporary_.path(), checkpoint_));
  const auto state = nlohmann::json::parse(Bytes("3-1/state.json"));
  EXPECT_EQ(state["environment"]["kernels"], "tiled");
  EXPECT_EQ(state["attention_kernels"].dump(), "[\"a\",\"b\"]");
  ORDO_ASSERT_OK_AND_ASSIGN(const Checkpoint read,
                            ReadCheckpoint(files_, temporary_.Path("3-1"), ""));
  EXPECT_EQ(read.environment.kernels, "tiled");
  EXPECT_EQ(read.environment.settings, "MKL_CBWR=AVX2");
  EXPECT_EQ(read.environment.gpu, "NVIDIA H200");
}

TEST_F(CheckpointTest, OneThatDoesNotTellOfInitialValuesAndDataIsRead) {
  checkpoint_.initial.clear();
  checkpoint_.snapshot.cursors.data_digest.clear();
  ORDO_ASSERT_OK(WriteCheckpoint(files_, temporary_.path(), checkpoint_));
  const auto state = nlohmann::json::parse(Bytes("3-1/state.json"));
  EXPECT_FALSE(state.contains("initial"));
  EXPECT_FALSE(state.contains("data_digest"));
  ORDO_ASSERT_OK_AND_ASSIGN(const Checkpoint read,
                            ReadCheckpoint(files_, temporary_.Path("3-1"), ""));
  EXPECT_THAT(read.initial, IsEmpty());
  EXPECT_EQ(read.snapshot.cursors.data_digest, "");
}

TEST_F(CheckpointTest, TheDigestCoversTheRecipe) {
  // Another learning rate, under a manifest that knows of it.
  checkpoint_.spec.mutable_training()->set_learning_rate(0.5);
  ORDO_ASSERT_OK(WriteCheckpoint(files_, temporary_.path(), checkpoint_));
  EXPECT_THAT(ReadCheckpoint(files_, temporary_.Path("3-1"), ""),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("state.json")));
}

TEST_F(CheckpointTest, SaysSizesAndDigestsOfItsFiles) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto written,
      WriteCheckpoint(files_, temporary_.path(), checkpoint_));
  for (const auto& file : written.files()) {
    const std::string bytes = Bytes("3-1/" + file.path());
    EXPECT_EQ(file.size_bytes(), static_cast<int64_t>(bytes.size()));
    EXPECT_EQ(file.sha256(), base::Sha256Hex(bytes)) << file.path();
  }
  EXPECT_EQ(written.manifest_sha256(),
            base::Sha256Hex(Bytes("3-1/MANIFEST.json")));
}

TEST_F(CheckpointTest, ModelFileIsAPureFunctionOfTheParameters) {
  ORDO_ASSERT_OK(WriteCheckpoint(files_, temporary_.path(), checkpoint_));
  Checkpoint other = checkpoint_;
  other.spec.set_attempt(7);
  other.spec.set_job("other");
  other.environment.build_digest = "another";
  other.snapshot.cursors.tokens = 1;
  ORDO_ASSERT_OK(WriteCheckpoint(files_, temporary_.path(), other));
  EXPECT_EQ(Bytes("3-1/model.safetensors"), Bytes("3-7/model.safetensors"));
  EXPECT_EQ(Bytes("3-1/config.json"), Bytes("3-7/config.json"));
}

TEST_F(CheckpointTest, AFlippedBitInAnyFileIsFoundAndNamed) {
  ORDO_ASSERT_OK(WriteCheckpoint(files_, temporary_.path(), checkpoint_));
  for (const char* name :
       {kModelFile, kOptimizerFile, kConfigFile, kStateFile}) {
    const std::string path = std::string("3-1/") + name;
    const std::string good = Bytes(path);
    for (int part = 0; part <= 8; ++part) {
      std::string bad = good;
      bad[(bad.size() - 1) * part / 8] ^= 4;
      ORDO_ASSERT_OK(WriteDurably(real_, temporary_.Path(path), bad));
      EXPECT_THAT(ReadCheckpoint(files_, temporary_.Path("3-1"), ""),
                  StatusIs(absl::StatusCode::kDataLoss, HasSubstr(path)));
    }
    ORDO_ASSERT_OK(WriteDurably(real_, temporary_.Path(path),
                                good.substr(0, good.size() / 2)));
    EXPECT_THAT(ReadCheckpoint(files_, temporary_.Path("3-1"), ""),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr(path)));
    ORDO_ASSERT_OK(WriteDurably(real_, temporary_.Path(path), good));
  }
  ORDO_EXPECT_OK(ReadCheckpoint(files_, temporary_.Path("3-1"), ""));
}

TEST_F(CheckpointTest, OneThatWasThinnedIsNotGoneOnFrom) {
  ORDO_ASSERT_OK(WriteCheckpoint(files_, temporary_.path(), checkpoint_));
  ORDO_ASSERT_OK(
      real_.RemoveFile(temporary_.Path("3-1/optimizer.safetensors")));
  EXPECT_THAT(ReadCheckpoint(files_, temporary_.Path("3-1"), ""),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("thinned")));
}

TEST_F(CheckpointTest, AStateThatDoesNotFitItsDigestIsRefused) {
  // A writer's bug, not damage: the manifest fits.
  checkpoint_.snapshot.cursors.samples = 24;
  ORDO_ASSERT_OK(WriteCheckpoint(files_, temporary_.path(), checkpoint_));
  std::string state = Bytes("3-1/state.json");
  const size_t place = state.find("\"samples\": 24");
  ASSERT_NE(place, std::string::npos);
  state.replace(place, 13, "\"samples\": 25");
  ORDO_ASSERT_OK(WriteDurably(real_, temporary_.Path("3-1/state.json"), state));
  std::vector<ordo::training::v1::FileInfo> infos;
  for (const char* name :
       {kModelFile, kConfigFile, kOptimizerFile, kStateFile}) {
    infos.push_back(InfoOfFile(real_, temporary_.Path("3-1"), name).value());
  }
  ORDO_ASSERT_OK(WriteDurably(real_, temporary_.Path("3-1/MANIFEST.json"),
                              ManifestText(infos)));
  EXPECT_THAT(ReadCheckpoint(files_, temporary_.Path("3-1"), ""),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("digest")));
}

TEST_F(CheckpointTest, AFullDiskLeavesNothingAndNamesTheCheckpoint) {
  for (const uint64_t num_bytes : {0, 100, 5000, 30000}) {
    files_.LimitDisk(num_bytes);
    EXPECT_THAT(WriteCheckpoint(files_, temporary_.path(), checkpoint_),
                StatusIs(absl::StatusCode::kResourceExhausted,
                         HasSubstr("write checkpoint 3-1")));
    files_.Heal();
    EXPECT_THAT(real_.List(temporary_.path()), IsOkAndHolds(IsEmpty()));
  }
  ORDO_EXPECT_OK(WriteCheckpoint(files_, temporary_.path(), checkpoint_));
}

TEST_F(CheckpointTest, ListsWholeCheckpointsNewestFirst) {
  for (const char* name :
       {"9-1", "10-1", "10-2", ".tmp-11-1", "x-1", "5", "5-x"}) {
    ORDO_ASSERT_OK(real_.MakeFolders(temporary_.Path(name)));
  }
  EXPECT_THAT(ListCheckpoints(files_, temporary_.path()),
              IsOkAndHolds(ElementsAre("10-2", "10-1", "9-1")));
  EXPECT_THAT(ListCheckpoints(files_, temporary_.Path("none")),
              IsOkAndHolds(IsEmpty()));
}

}  // namespace
}  // namespace ordo::model::training
