#include "services/checkpoints/import.h"

#include <memory>
#include <string>

#include "base/files/file_util.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/ordo/checkpoints/v1/checkpoints.grpc.pb.h"
#include "services/testing/known_users.h"
#include "services/testing/loopback.h"
#include "services/testing/model_folders.h"

// Over the API, as clients import.

namespace ordo::services::checkpoints {
namespace {

using ordo::checkpoints::v1::Checkpoint;
using ordo::checkpoints::v1::CheckpointsService;
using ordo::checkpoints::v1::CommitUploadRequest;
using ordo::checkpoints::v1::CreateUploadRequest;
using ordo::checkpoints::v1::Upload;
using ordo::checkpoints::v1::WriteUploadRequest;
using ordo::checkpoints::v1::WriteUploadResponse;
using ordo::jobs::v1::Job;
using ordo::jobs::v1::JobSpec;
using services::testing::Context;
using services::testing::FieldOf;
using services::testing::Folder;
using ::testing::HasSubstr;

class ImportTest : public ::testing::Test {
 protected:
  explicit ImportTest(const auth::Authenticator* authenticator = nullptr)
      : loopback_(authenticator),
        stub_(CheckpointsService::NewStub(loopback_.channel())) {}

  void Send(const Folder& folder) {
    Context context;
    CreateUploadRequest create;
    *create.mutable_upload() = services::testing::ListOf(folder);
    Upload upload;
    ASSERT_TRUE(stub_->CreateUpload(&context, create, &upload).ok());
    name_ = upload.name();
    for (const auto& [path, content] : folder) {
      Context write_context;
      WriteUploadRequest write;
      write.set_name(name_);
      write.set_path(path);
      write.set_data(content);
      WriteUploadResponse response;
      ASSERT_TRUE(stub_->WriteUpload(&write_context, write, &response).ok());
      EXPECT_EQ(response.held_bytes(), static_cast<int64_t>(content.size()));
    }
  }

  grpc::Status Commit(const std::string& job, Checkpoint* checkpoint) {
    Context context;
    CommitUploadRequest request;
    request.set_name(name_);
    request.set_job_id(job);
    return stub_->CommitUpload(&context, request, checkpoint);
  }

  services::testing::Loopback loopback_;
  std::unique_ptr<CheckpointsService::Stub> stub_;
  std::string name_;
};

TEST_F(ImportTest, TheCheckpointBelongsToAJobThatSaysWhatItIs) {
  Send(services::testing::TinyLlama());
  Checkpoint checkpoint;
  ASSERT_TRUE(Commit("llama", &checkpoint).ok());
  EXPECT_EQ(checkpoint.name(), "jobs/llama/checkpoints/0-0");
  EXPECT_EQ(checkpoint.origin(), Checkpoint::IMPORTED);
  EXPECT_EQ(checkpoint.imported_by(), "ada");
  EXPECT_EQ(checkpoint.model_type(), "llama");
  EXPECT_EQ("uploads/" + checkpoint.manifest_sha256(), name_);
  const Job job = loopback_.scheduler().GetJob("llama").value();
  EXPECT_EQ(job.spec().kind(), JobSpec::IMPORT);
  EXPECT_EQ(job.owner().user(), "ada");
  EXPECT_EQ(job.spec().model().width(), 16);
  EXPECT_EQ(job.spec().encoding().name(), "rope");
  EXPECT_TRUE(base::Exists(
      loopback_.files(),
      loopback_.Path("jobs/llama/checkpoints/0-0/model.safetensors")));
}

TEST_F(ImportTest, ARepeatGivesTheSameCheckpoint) {
  Send(services::testing::TinyLlama());
  Checkpoint first;
  ASSERT_TRUE(Commit("llama", &first).ok());
  Checkpoint again;
  ASSERT_TRUE(Commit("llama", &again).ok());
  EXPECT_EQ(again.SerializeAsString(), first.SerializeAsString());
  Send(services::testing::TinyLlama());
  ASSERT_TRUE(Commit("llama", &again).ok());
  EXPECT_EQ(again.name(), first.name());
  EXPECT_EQ(loopback_.scheduler().created().size(), 1u);
}

TEST_F(ImportTest, ARepeatNeedsNoSpec) {
  Send(services::testing::TinyLlama());
  Checkpoint first;
  ASSERT_TRUE(Commit("llama", &first).ok());
  loopback_.scheduler().DamageSpec("llama");
  Checkpoint again;
  ASSERT_TRUE(Commit("llama", &again).ok());
  EXPECT_EQ(again.name(), first.name());
}

// Though a trained checkpoint has the very files.
TEST_F(ImportTest, AJobThatTrainedIsAnother) {
  Job job;
  job.set_name("jobs/taken");
  loopback_.scheduler().PutJob(job);
  Send(services::testing::TinyLlama());
  Checkpoint trained;
  trained.set_name("jobs/taken/checkpoints/10-1");
  trained.set_origin(Checkpoint::TRAINED);
  trained.set_state(Checkpoint::AVAILABLE);
  trained.set_manifest_sha256(name_.substr(std::string("uploads/").size()));
  loopback_.scheduler().PutCheckpoint(trained);
  Checkpoint checkpoint;
  EXPECT_EQ(Commit("taken", &checkpoint).error_code(),
            grpc::StatusCode::ALREADY_EXISTS);
}

TEST_F(ImportTest, ATakenNameIsRefusedAndTheUploadStays) {
  Job job;
  job.set_name("jobs/taken");
  loopback_.scheduler().PutJob(job);
  Send(services::testing::TinyLlama());
  Checkpoint checkpoint;
  const grpc::Status status = Commit("taken", &checkpoint);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_THAT(status.error_message(), HasSubstr("choose another"));
  EXPECT_TRUE(Commit("free", &checkpoint).ok());
  Send(services::testing::ShardedLlama());
  EXPECT_EQ(Commit("free", &checkpoint).error_code(),
            grpc::StatusCode::ALREADY_EXISTS);
}

// By one who does not see all queues.
class BoundImportTest : public ImportTest {
 protected:
  BoundImportTest() : ImportTest(Users()) {}

 private:
  static const auth::Authenticator* Users() {
    services::testing::KnownUsers::Queues queues;
    queues["ada"] = {scheduler::kDefaultQueue};
    static const auto* const users = new services::testing::KnownUsers(queues);
    return users;
  }
};

TEST_F(BoundImportTest, TheFilesOfAJobThatIsNotSeenStay) {
  Send(services::testing::TinyLlama());
  const std::string digest = name_.substr(std::string("uploads/").size());
  Job job;
  job.set_name("jobs/secret");
  job.mutable_spec()->set_queue("night");
  loopback_.scheduler().PutJob(job);
  // Of the very files, or of others.
  for (const std::string& manifest : {digest, std::string("other")}) {
    Checkpoint hidden;
    hidden.set_name("jobs/secret/checkpoints/0-0");
    hidden.set_origin(Checkpoint::IMPORTED);
    hidden.set_state(Checkpoint::AVAILABLE);
    hidden.set_manifest_sha256(manifest);
    loopback_.scheduler().PutCheckpoint(hidden);
    const std::string file = "jobs/secret/checkpoints/0-0/model.safetensors";
    if (!base::Exists(loopback_.files(), loopback_.Path(file))) {
      loopback_.Write(file, "precious");
    }
    Checkpoint checkpoint;
    EXPECT_EQ(Commit("secret", &checkpoint).error_code(),
              grpc::StatusCode::ALREADY_EXISTS);
    EXPECT_EQ(checkpoint.name(), "");
    EXPECT_EQ(base::ReadFile(loopback_.files(), loopback_.Path(file), 100)
                  .value_or(""),
              "precious");
  }
  Checkpoint checkpoint;
  EXPECT_TRUE(Commit("mine", &checkpoint).ok());
}

TEST_F(ImportTest, OneThatWasDeletedIsNotGivenAgain) {
  Send(services::testing::TinyLlama());
  Checkpoint checkpoint;
  ASSERT_TRUE(Commit("a", &checkpoint).ok());
  Context context;
  ordo::checkpoints::v1::DeleteCheckpointRequest request;
  request.set_name(checkpoint.name());
  ASSERT_TRUE(stub_->DeleteCheckpoint(&context, request, &checkpoint).ok());
  const grpc::Status status = Commit("a", &checkpoint);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_THAT(status.error_message(), HasSubstr("deleted"));
}

TEST_F(ImportTest, BadNamesAreRefused) {
  Checkpoint checkpoint;
  name_ = "uploads/../x";
  EXPECT_EQ(FieldOf(Commit("a", &checkpoint)), "name");
  name_ = "uploads/aa";
  for (const char* job : {"", "A", "a/b", "-a"}) {
    EXPECT_EQ(FieldOf(Commit(job, &checkpoint)), "job_id") << job;
  }
  EXPECT_EQ(Commit("a", &checkpoint).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(ImportTest, AModelThatCannotBeRebuiltIsNotRegistered) {
  Folder folder = services::testing::TinyLlama();
  folder["config.json"].insert(1, "\"mystery\": 3,");
  Send(folder);
  Checkpoint checkpoint;
  const grpc::Status status = Commit("a", &checkpoint);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(),
              HasSubstr("mystery: is not supported, is 3"));
  EXPECT_FALSE(loopback_.scheduler().GetJob("a").ok());
}

TEST_F(ImportTest, ListsThatNoCheckpointHasAreRefused) {
  Context context;
  CreateUploadRequest create;
  *create.mutable_upload() = services::testing::ListOf(
      {{"config.json", "{}"}, {"model.safetensors", "x"}, {"../x", "y"}});
  Upload upload;
  EXPECT_EQ(FieldOf(stub_->CreateUpload(&context, create, &upload)),
            "upload.files[0].path");
}

}  // namespace
}  // namespace ordo::services::checkpoints
