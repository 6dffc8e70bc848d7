#include "services/cli/upload.h"

#include <functional>
#include <sstream>
#include <utility>

#include "base/clock/clock.h"
#include "base/digest/digest.h"
#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/testing/loopback.h"
#include "services/testing/model_folders.h"

// Against the services that take uploads.

namespace ordo::services::cli {
namespace {

using base::testing::StatusIs;
using ordo::checkpoints::v1::Checkpoint;
using ordo::checkpoints::v1::CheckpointsService;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Folder = services::testing::Folder;

// Calls `on_open` once, when the file is opened for reading that it names.
class WatchedFiles : public base::PosixFilesystem {
 public:
  absl::StatusOr<std::unique_ptr<base::ReadableFile>> OpenForRead(
      const std::string& path) override {
    if (base::NameOf(path) == watched && on_open != nullptr) {
      std::exchange(on_open, nullptr)();
    }
    return base::PosixFilesystem::OpenForRead(path);
  }

  std::string watched;
  std::function<void()> on_open;
};

class UploadTest : public ::testing::Test {
 protected:
  UploadTest() : client_(Options(loopback_), interrupt_) {}

  static ClientOptions Options(services::testing::Loopback& loopback) {
    ClientOptions options;
    options.address = loopback.server().address();
    options.user = "ada";
    return options;
  }

  absl::StatusOr<LocalFolder> Read(const Folder& folder) {
    services::testing::WriteTo(files_, folder_.path(), folder);
    return ReadLocalFolder(context_, folder_.path());
  }
  std::string MessageOf(const Folder& folder) {
    return std::string(Read(folder).status().message());
  }

  services::testing::Loopback loopback_;
  Interrupt interrupt_;
  Client client_;
  std::istringstream in_;
  std::ostringstream out_;
  std::ostringstream err_;
  WatchedFiles files_;
  base::RealClock clock_;
  base::testing::TemporaryFolder folder_;
  Context context_{in_,     out_,       err_,   Terminal(), OutputForm::kTable,
                   client_, interrupt_, files_, clock_,     nullptr};
};

TEST_F(UploadTest, AFolderBecomesTheCheckpointOfItsJob) {
  Folder content = services::testing::ShardedLlama();
  content["tokenizer.json"] = "{}";
  const auto folder = Read(content);
  ORDO_ASSERT_OK(folder);
  EXPECT_THAT(folder->left_out, ElementsAre("tokenizer.json"));
  const auto checkpoint = Upload(context_, *folder, "llama");
  ORDO_ASSERT_OK(checkpoint);
  EXPECT_EQ(checkpoint->name(), "jobs/llama/checkpoints/0-0");
  EXPECT_EQ(checkpoint->origin(), Checkpoint::IMPORTED);
  EXPECT_EQ(checkpoint->imported_by(), "ada");
  EXPECT_EQ(checkpoint->files_size(), 4);
  for (const auto& file : checkpoint->files()) {
    EXPECT_EQ(file.sha256(), base::Sha256Hex(content.at(file.path())));
  }
}

TEST_F(UploadTest, AnInterruptedUploadGoesOnWhereItStopped) {
  const auto folder = Read(services::testing::TinyLlama());
  ORDO_ASSERT_OK(folder);
  files_.watched = "model.safetensors";
  files_.on_open = [this] { interrupt_.Trigger(); };
  EXPECT_THAT(Upload(context_, *folder, "llama"),
              StatusIs(absl::StatusCode::kCancelled,
                       HasSubstr("goes on where this one stopped")));
  EXPECT_FALSE(loopback_.scheduler().GetJob("llama").ok());
  EXPECT_THAT(err_.str(), Not(HasSubstr("was there already")));

  interrupt_.Reset();
  ORDO_EXPECT_OK(Upload(context_, *folder, "llama"));
  EXPECT_THAT(err_.str(), ::testing::ContainsRegex(
                              "config.json  [0-9]+ B  was there already"));
}

TEST_F(UploadTest, WhatIsACheckpointAlreadyIsNotSentAgain) {
  const auto folder = Read(services::testing::TinyLlama());
  ORDO_ASSERT_OK(folder);
  const auto first = Upload(context_, *folder, "llama");
  ORDO_ASSERT_OK(first);
  err_.str("");
  const auto again = Upload(context_, *folder, "llama");
  ORDO_ASSERT_OK(again);
  EXPECT_EQ(again->SerializeAsString(), first->SerializeAsString());
  EXPECT_EQ(err_.str(), "");
}

TEST_F(UploadTest, WhatTheServerHasIsFoundOutWhenItIsNotAsThought) {
  const auto folder = Read(services::testing::TinyLlama());
  ORDO_ASSERT_OK(folder);
  files_.watched = "model.safetensors";
  // As if the answer to an earlier part had been lost.
  files_.on_open = [&] {
    const auto stub = CheckpointsService::NewStub(loopback_.channel());
    services::testing::Context create_context;
    ordo::checkpoints::v1::CreateUploadRequest create;
    *create.mutable_upload() = folder->list;
    ordo::checkpoints::v1::Upload upload;
    ASSERT_TRUE(stub->CreateUpload(&create_context, create, &upload).ok());
    services::testing::Context write_context;
    ordo::checkpoints::v1::WriteUploadRequest write;
    write.set_name(upload.name());
    write.set_path("model.safetensors");
    write.set_data(
        services::testing::TinyLlama().at("model.safetensors").substr(0, 1000));
    ordo::checkpoints::v1::WriteUploadResponse response;
    ASSERT_TRUE(stub->WriteUpload(&write_context, write, &response).ok());
  };
  ORDO_EXPECT_OK(Upload(context_, *folder, "llama"));
  EXPECT_THAT(err_.str(), HasSubstr("1000 B were there already"));
}

TEST_F(UploadTest, ATakenNameAndAFileThatChangesAreTold) {
  const auto folder = Read(services::testing::TinyLlama());
  ORDO_ASSERT_OK(folder);
  jobs::v1::Job job;
  job.set_name("jobs/taken");
  loopback_.scheduler().PutJob(job);
  EXPECT_THAT(
      Upload(context_, *folder, "taken"),
      StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("choose another")));
  // Before anything was sent.
  EXPECT_EQ(err_.str(), "");
  ORDO_ASSERT_OK(base::AtomicWrite(files_, folder_.Path("config.json"), "{}"));
  EXPECT_THAT(Upload(context_, *folder, "llama"),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("config.json became shorter")));
}

TEST_F(UploadTest, WhatIsNoCheckpointIsRefusedBeforeAnythingIsSent) {
  EXPECT_THAT(MessageOf({}), HasSubstr("has no config.json"));
  Folder folder = services::testing::TinyLlama();
  const std::string config = folder["config.json"];
  const std::string weights = folder["model.safetensors"];
  folder["config.json"].insert(1, "\"mystery\": 3,");
  EXPECT_THAT(MessageOf(folder), HasSubstr("mystery: is not supported, is 3"));
  folder["config.json"] = config;
  folder["model.safetensors"] = weights.substr(0, weights.size() - 1);
  EXPECT_THAT(MessageOf(folder),
              HasSubstr("model.safetensors: the header describes"));
  folder["model.safetensors"] = weights;
  folder["MANIFEST.json"] =
      R"({"files": [{"path": "model.safetensors", "size_bytes": 1,
                     "sha256": "ab"}]})";
  EXPECT_THAT(MessageOf(folder),
              HasSubstr("model.safetensors is damaged: its SHA-256 is not"));
}

TEST_F(UploadTest, WeightsThatAreMissingAreNamed) {
  Folder folder = services::testing::ShardedLlama();
  folder.erase("model-00002-of-00002.safetensors");
  EXPECT_THAT(MessageOf(folder),
              HasSubstr("has no model-00002-of-00002.safetensors, which"));
}

TEST_F(UploadTest, OtherFormatsOfWeightsAreNoWeights) {
  EXPECT_THAT(MessageOf({{"config.json", "{}"}, {"pytorch_model.bin", "x"}}),
              HasSubstr("have to be converted to safetensors"));
}

TEST_F(UploadTest, ACheckpointOfOrdosKeepsItsState) {
  Folder folder = services::testing::TinyLlama();
  folder["state.json"] = R"({"step": 40, "state_digest": "ab"})";
  folder["optimizer.safetensors"] = folder["model.safetensors"];
  const auto read = Read(folder);
  ORDO_ASSERT_OK(read);
  const auto checkpoint = Upload(context_, *read, "trained");
  ORDO_ASSERT_OK(checkpoint);
  EXPECT_EQ(checkpoint->name(), "jobs/trained/checkpoints/40-0");
  EXPECT_EQ(checkpoint->state_digest(), "ab");
}

}  // namespace
}  // namespace ordo::services::cli
