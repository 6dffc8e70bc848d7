#include "services/data/data_service.h"

#include <memory>
#include <string>
#include <vector>

#include "base/files/file_util.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/ordo/checkpoints/v1/checkpoints.grpc.pb.h"
#include "services/testing/known_users.h"
#include "services/testing/loopback.h"
#include "services/testing/model_folders.h"

namespace ordo::services::data {
namespace {

using ordo::checkpoints::v1::CheckpointsService;
using ordo::checkpoints::v1::Upload;
using ordo::data::v1::Data;
using ordo::jobs::v1::Job;
using services::testing::Context;
using services::testing::FieldOf;
using services::testing::Folder;
using services::testing::ListOf;
using services::testing::Loopback;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Who pushed something may delete it, nobody else.
class DataServiceTest : public ::testing::Test {
 protected:
  grpc::Status Create(const Folder& folder, Upload* upload) {
    ordo::data::v1::CreateUploadRequest request;
    *request.mutable_upload() = ListOf(folder);
    Context context;
    return stub_->CreateUpload(&context, request, upload);
  }
  grpc::Status Commit(const std::string& upload, const std::string& id,
                      Data* data) {
    ordo::data::v1::CommitUploadRequest request;
    request.set_name(upload);
    request.set_data_id(id);
    Context context;
    return stub_->CommitUpload(&context, request, data);
  }
  // The resource name of what is pushed.
  std::string Push(const Folder& folder, const std::string& id) {
    Upload upload;
    EXPECT_TRUE(Create(folder, &upload).ok());
    const auto checkpoints = CheckpointsService::NewStub(loopback_.channel());
    for (const auto& file : upload.files()) {
      if (file.held_bytes() > 0) continue;
      ordo::checkpoints::v1::WriteUploadRequest request;
      request.set_name(upload.name());
      request.set_path(file.path());
      request.set_data(folder.at(file.path()));
      Context context;
      ordo::checkpoints::v1::WriteUploadResponse response;
      EXPECT_TRUE(checkpoints->WriteUpload(&context, request, &response).ok());
    }
    Data data;
    const grpc::Status status = Commit(upload.name(), id, &data);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return data.name();
  }
  // Names of a page, with "+" behind the last of one that others follow.
  std::vector<std::string> Page(int size, std::string* token) {
    ordo::data::v1::ListDataRequest request;
    request.set_page_size(size);
    request.set_page_token(*token);
    Context context;
    ordo::data::v1::ListDataResponse response;
    EXPECT_TRUE(stub_->ListData(&context, request, &response).ok());
    std::vector<std::string> names;
    for (const Data& data : response.data()) names.push_back(data.name());
    *token = response.next_page_token();
    return names;
  }
  grpc::Status Delete(const std::string& name,
                      const std::string& user = "ada") {
    ordo::data::v1::DeleteDataRequest request;
    request.set_name(name);
    Context context(user);
    ordo::data::v1::DeleteDataResponse response;
    return stub_->DeleteData(&context, request, &response);
  }

  services::testing::KnownUsers users_;
  Loopback loopback_{&users_};
  const std::unique_ptr<ordo::data::v1::DataService::Stub> stub_ =
      ordo::data::v1::DataService::NewStub(loopback_.channel());
};

TEST_F(DataServiceTest, WhatIsPushedIsListedByNamePageByPage) {
  const std::string papers = Push({{"p.txt", "paper"}}, "papers");
  const std::string books = Push({{"deep/b.txt", "book"}}, "books");
  const std::string more = Push({{"c.txt", "more"}}, "c");
  std::string token;
  EXPECT_THAT(Page(2, &token), ElementsAre(books, more));
  EXPECT_FALSE(token.empty());
  EXPECT_THAT(Page(2, &token), ElementsAre(papers));
  EXPECT_TRUE(token.empty());
  EXPECT_THAT(Page(3, &token), ElementsAre(books, more, papers));
  EXPECT_TRUE(token.empty());
}

TEST_F(DataServiceTest, BadRequestsNameTheField) {
  Upload upload;
  EXPECT_EQ(FieldOf(Create({{"../a", "x"}}, &upload)), "upload.files[0].path");
  EXPECT_EQ(FieldOf(Create({}, &upload)), "upload.files");
  ASSERT_TRUE(Create({{"a.txt", "x"}}, &upload).ok());
  EXPECT_EQ(upload.kind(), Upload::DATA);
  Data data;
  EXPECT_EQ(FieldOf(Commit(upload.name(), "A b", &data)), "data_id");
  EXPECT_EQ(FieldOf(Commit("data/x", "a", &data)), "name");
  EXPECT_EQ(Commit(upload.name(), "a", &data).error_code(),
            grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(Commit("uploads/" + std::string(64, '0'), "a", &data).error_code(),
            grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(FieldOf(Delete("books")), "name");
}

TEST_F(DataServiceTest, WhatAJobThatHasNotEndedNamesIsNotDeleted) {
  const std::string name = Push({{"a.txt", "one"}}, "books");
  Job job;
  job.set_name("jobs/reader");
  job.mutable_spec()->mutable_data()->set_task("text");
  (*job.mutable_spec()->mutable_data()->mutable_params())["data"]
      .mutable_list_value()
      ->add_values()
      ->set_string_value(base::NameOf(name));
  for (const Job::State state :
       {Job::QUEUED, Job::STARTING, Job::RUNNING, Job::CANCELLING}) {
    job.set_state(state);
    loopback_.scheduler().PutJob(job);
    const grpc::Status status = Delete("data/books");
    EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
    EXPECT_THAT(status.error_message(), HasSubstr("jobs/reader"));
  }
  job.set_state(Job::SUCCEEDED);
  loopback_.scheduler().PutJob(job);
  EXPECT_TRUE(Delete("data/books").ok());
  EXPECT_EQ(Delete("data/books").error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(DataServiceTest, WhoMayNotChangeItMayNotDeleteIt) {
  const std::string name = Push({{"a.txt", "one"}}, "books");
  const grpc::Status status = Delete(name, "eve");
  EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_THAT(status.error_message(), HasSubstr("delete " + name));
  EXPECT_TRUE(Delete(name).ok());
}

}  // namespace
}  // namespace ordo::services::data
