#include "services/checkpoints/checkpoints_service.h"

#include <map>
#include <string>
#include <vector>

#include "base/digest/digest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/testing/known_users.h"
#include "services/testing/loopback.h"

namespace ordo::services::checkpoints {
namespace {

using ordo::checkpoints::v1::Alias;
using ordo::checkpoints::v1::Checkpoint;
using ordo::checkpoints::v1::DeleteAliasRequest;
using ordo::checkpoints::v1::DeleteCheckpointRequest;
using ordo::checkpoints::v1::GetAliasRequest;
using ordo::checkpoints::v1::GetCheckpointRequest;
using ordo::checkpoints::v1::ListAliasesRequest;
using ordo::checkpoints::v1::ListAliasesResponse;
using ordo::checkpoints::v1::ListCheckpointsRequest;
using ordo::checkpoints::v1::ListCheckpointsResponse;
using ordo::checkpoints::v1::PinCheckpointRequest;
using ordo::checkpoints::v1::ReadFileRequest;
using ordo::checkpoints::v1::ReadFileResponse;
using ordo::checkpoints::v1::SetAliasRequest;
using ordo::checkpoints::v1::ThinCheckpointRequest;
using ordo::checkpoints::v1::UnpinCheckpointRequest;
using testing::Context;
using ::testing::ElementsAre;
using testing::FieldOf;
using ::testing::HasSubstr;

constexpr char kName[] = "jobs/a/checkpoints/20-1";

class CheckpointsServiceTest : public ::testing::Test {
 protected:
  explicit CheckpointsServiceTest(
      const auth::Authenticator* authenticator = nullptr)
      : loopback_(authenticator),
        stub_(ordo::checkpoints::v1::CheckpointsService::NewStub(
            loopback_.channel())) {
    for (const char* job : {"jobs/a", "jobs/b"}) {
      ordo::jobs::v1::Job put;
      put.set_name(job);
      put.set_state(ordo::jobs::v1::Job::SUCCEEDED);
      put.mutable_owner()->set_user("ada");
      loopback_.scheduler().PutJob(put);
    }
    Put("jobs/a/checkpoints/10-1");
    Put("jobs/b/checkpoints/5-1");
    Put(kName);
  }

  // A checkpoint with two files and a manifest.
  void Put(const std::string& name) {
    Checkpoint checkpoint;
    checkpoint.set_name(name);
    checkpoint.set_state(Checkpoint::AVAILABLE);
    *checkpoint.add_files() =
        loopback_.Write(name + "/model.safetensors", "weights of " + name);
    *checkpoint.add_files() = loopback_.Write(name + "/empty", "");
    checkpoint.set_manifest_sha256(
        loopback_.Write(name + "/MANIFEST.json", "{}").sha256());
    loopback_.scheduler().PutCheckpoint(checkpoint);
  }

  void Delete(const std::string& name) {
    Checkpoint checkpoint;
    checkpoint.set_name(name);
    checkpoint.set_state(Checkpoint::DELETED);
    loopback_.scheduler().PutCheckpoint(checkpoint);
  }

  grpc::Status Get(const std::string& name, Checkpoint* checkpoint) {
    Context context;
    GetCheckpointRequest request;
    request.set_name(name);
    return stub_->GetCheckpoint(&context, request, checkpoint);
  }

  grpc::Status List(const std::string& parent, int page_size,
                    const std::string& token,
                    ListCheckpointsResponse* response) {
    Context context;
    ListCheckpointsRequest request;
    request.set_parent(parent);
    request.set_page_size(page_size);
    request.set_page_token(token);
    return stub_->ListCheckpoints(&context, request, response);
  }

  // All messages of a file.
  grpc::Status Read(const std::string& name, const std::string& path,
                    int64_t offset, std::vector<ReadFileResponse>* parts) {
    Context context;
    ReadFileRequest request;
    request.set_name(name);
    request.set_path(path);
    request.set_offset(offset);
    const auto reader = stub_->ReadFile(&context, request);
    ReadFileResponse part;
    while (reader->Read(&part)) parts->push_back(part);
    return reader->Finish();
  }

  grpc::Status Pin(const std::string& name, Checkpoint* checkpoint) {
    Context context;
    PinCheckpointRequest request;
    request.set_name(name);
    request.set_reason("for the paper");
    return stub_->PinCheckpoint(&context, request, checkpoint);
  }

  grpc::Status Unpin(const std::string& name, Checkpoint* checkpoint,
                     const std::string& user = "ada") {
    Context context(user);
    UnpinCheckpointRequest request;
    request.set_name(name);
    return stub_->UnpinCheckpoint(&context, request, checkpoint);
  }

  grpc::Status Thin(const std::string& name, Checkpoint* checkpoint,
                    const std::string& user = "ada") {
    Context context(user);
    ThinCheckpointRequest request;
    request.set_name(name);
    return stub_->ThinCheckpoint(&context, request, checkpoint);
  }

  grpc::Status Remove(const std::string& name, Checkpoint* checkpoint,
                      const std::string& user = "ada") {
    Context context(user);
    DeleteCheckpointRequest request;
    request.set_name(name);
    return stub_->DeleteCheckpoint(&context, request, checkpoint);
  }

  grpc::Status Set(const SetAliasRequest& request, Alias* alias,
                   const std::string& user = "ada") {
    Context context(user);
    return stub_->SetAlias(&context, request, alias);
  }

  grpc::Status Unset(const std::string& user, Alias* alias) {
    Context context(user);
    DeleteAliasRequest request;
    request.set_name("aliases/main");
    return stub_->DeleteAlias(&context, request, alias);
  }

  // The alias `main`, of this checkpoint.
  static SetAliasRequest MainIs(const std::string& checkpoint) {
    SetAliasRequest request;
    request.set_name("aliases/main");
    request.set_checkpoint(checkpoint);
    return request;
  }

  testing::Loopback loopback_;
  std::unique_ptr<ordo::checkpoints::v1::CheckpointsService::Stub> stub_;
};

const services::testing::KnownUsers kUsers;

class GuardedCheckpointsTest : public CheckpointsServiceTest {
 protected:
  GuardedCheckpointsTest() : CheckpointsServiceTest(&kUsers) {}
};

std::vector<std::string> NamesOf(const ListCheckpointsResponse& response) {
  std::vector<std::string> names;
  for (const Checkpoint& checkpoint : response.checkpoints()) {
    names.push_back(checkpoint.name());
  }
  return names;
}

TEST_F(CheckpointsServiceTest, GetGivesTheCheckpointOrTheLatest) {
  Checkpoint checkpoint;
  ASSERT_TRUE(Get("jobs/a/checkpoints/10-1", &checkpoint).ok());
  EXPECT_EQ(checkpoint.name(), "jobs/a/checkpoints/10-1");
  ASSERT_TRUE(Get("jobs/a/checkpoints/latest", &checkpoint).ok());
  EXPECT_EQ(checkpoint.name(), kName);
}

TEST_F(CheckpointsServiceTest, LatestLastAndBestStandWhereverOneIsRead) {
  ordo::jobs::v1::Job job;
  job.set_name("jobs/a");
  job.set_state(ordo::jobs::v1::Job::SUCCEEDED);
  job.mutable_owner()->set_user("ada");
  job.mutable_spec()->add_evaluations()->set_task("flip_flop");
  loopback_.scheduler().PutJob(job);
  for (const int step : {10, 20}) {
    ordo::reports::v1::Report report;
    report.set_name("jobs/a/reports/flip_flop-" + std::to_string(step));
    report.set_step(step);
    report.set_checkpoint("jobs/a/checkpoints/" + std::to_string(step) + "-1");
    (*report.mutable_metrics())["error"] = step;
    loopback_.scheduler().PutReport(report);
  }
  const std::map<std::string, std::string> names = {
      {"latest", kName}, {"last", kName}, {"best", "jobs/a/checkpoints/10-1"}};
  for (const auto& [word, name] : names) {
    Checkpoint checkpoint;
    ASSERT_TRUE(Get("jobs/a/checkpoints/" + word, &checkpoint).ok()) << word;
    EXPECT_EQ(checkpoint.name(), name) << word;
    std::vector<ReadFileResponse> parts;
    EXPECT_TRUE(
        Read("jobs/a/checkpoints/" + word, "model.safetensors", 0, &parts).ok())
        << word;
  }
  Checkpoint checkpoint;
  EXPECT_EQ(Get("jobs/b/checkpoints/best", &checkpoint).error_code(),
            grpc::StatusCode::NOT_FOUND);
}

TEST_F(CheckpointsServiceTest, UnknownOrBadNamesAreRefused) {
  Checkpoint checkpoint;
  EXPECT_EQ(Get("jobs/a/checkpoints/99-1", &checkpoint).error_code(),
            grpc::StatusCode::NOT_FOUND);
  const grpc::Status status = Get("jobs/a", &checkpoint);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(FieldOf(status), "name");
}

TEST_F(CheckpointsServiceTest, ListsThoseOfOneJobOrAllNewestFirst) {
  ListCheckpointsResponse one;
  ASSERT_TRUE(List("jobs/a", 0, "", &one).ok());
  EXPECT_THAT(NamesOf(one), ElementsAre(kName, "jobs/a/checkpoints/10-1"));
  ListCheckpointsResponse all;
  ASSERT_TRUE(List("jobs/-", 0, "", &all).ok());
  EXPECT_THAT(NamesOf(all), ElementsAre(kName, "jobs/b/checkpoints/5-1",
                                        "jobs/a/checkpoints/10-1"));
}

TEST_F(CheckpointsServiceTest, PagesGoOnWhereTheyEnded) {
  ListCheckpointsResponse first;
  ASSERT_TRUE(List("jobs/-", 2, "", &first).ok());
  EXPECT_EQ(first.checkpoints_size(), 2);
  ListCheckpointsResponse second;
  ASSERT_TRUE(List("jobs/-", 2, first.next_page_token(), &second).ok());
  EXPECT_THAT(NamesOf(second), ElementsAre("jobs/a/checkpoints/10-1"));
  EXPECT_EQ(second.next_page_token(), "");
  ListCheckpointsResponse other;
  EXPECT_EQ(FieldOf(List("jobs/a", 2, first.next_page_token(), &other)),
            "page_token");
}

TEST_F(CheckpointsServiceTest, ListOfABadOrUnknownParentIsRefused) {
  ListCheckpointsResponse response;
  EXPECT_EQ(FieldOf(List("a", 0, "", &response)), "parent");
  EXPECT_EQ(FieldOf(List("jobs/a", -5, "", &response)), "page_size");
  EXPECT_EQ(List("jobs/zzz", 0, "", &response).error_code(),
            grpc::StatusCode::NOT_FOUND);
}

TEST_F(CheckpointsServiceTest, ADamagedSpecKeepsNobodyFromTheCheckpoints) {
  loopback_.scheduler().DamageSpec("a");
  ListCheckpointsResponse response;
  ASSERT_TRUE(List("jobs/a", 0, "", &response).ok());
  EXPECT_THAT(NamesOf(response), ElementsAre(kName, "jobs/a/checkpoints/10-1"));
}

TEST_F(CheckpointsServiceTest, ReadsAFileWithItsDigest) {
  std::vector<ReadFileResponse> parts;
  ASSERT_TRUE(Read(kName, "model.safetensors", 0, &parts).ok());
  ASSERT_EQ(parts.size(), 1u);
  const std::string content = std::string("weights of ") + kName;
  EXPECT_EQ(parts[0].data(), content);
  EXPECT_EQ(parts[0].sha256(), base::Sha256Hex(content));
  EXPECT_EQ(parts[0].size_bytes(), static_cast<int64_t>(content.size()));
}

TEST_F(CheckpointsServiceTest, ReadsFromAnOffsetOfTheLatest) {
  std::vector<ReadFileResponse> parts;
  ASSERT_TRUE(
      Read("jobs/a/checkpoints/latest", "model.safetensors", 11, &parts).ok());
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].data(), kName);
  EXPECT_EQ(parts[0].offset(), 11);
}

TEST_F(CheckpointsServiceTest, EmptyFileHasOneMessage) {
  std::vector<ReadFileResponse> parts;
  ASSERT_TRUE(Read(kName, "empty", 0, &parts).ok());
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].sha256(), base::Sha256Hex(""));
}

TEST_F(CheckpointsServiceTest, ManifestIsAFileToo) {
  std::vector<ReadFileResponse> parts;
  ASSERT_TRUE(Read(kName, "MANIFEST.json", 0, &parts).ok());
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].data(), "{}");
  EXPECT_EQ(parts[0].size_bytes(), 2);
  EXPECT_EQ(parts[0].sha256(), base::Sha256Hex("{}"));
}

TEST_F(CheckpointsServiceTest, OnlyRegisteredFilesAreServed) {
  loopback_.Write(std::string(kName) + "/other", "secret");
  std::vector<ReadFileResponse> parts;
  for (const char* path : {"other", "../10-1/model.safetensors", "/etc/passwd",
                           "./model.safetensors"}) {
    EXPECT_EQ(Read(kName, path, 0, &parts).error_code(),
              grpc::StatusCode::NOT_FOUND)
        << path;
  }
  const grpc::Status empty = Read(kName, "", 0, &parts);
  EXPECT_EQ(empty.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(FieldOf(empty), "path");
  EXPECT_TRUE(parts.empty());
}

TEST_F(CheckpointsServiceTest, BadOffsetsAreRefused) {
  std::vector<ReadFileResponse> parts;
  EXPECT_EQ(FieldOf(Read(kName, "model.safetensors", -1, &parts)), "offset");
  EXPECT_EQ(Read(kName, "model.safetensors", 1000, &parts).error_code(),
            grpc::StatusCode::OUT_OF_RANGE);
}

TEST_F(CheckpointsServiceTest, DeletedCheckpointNamesRetention) {
  Delete(kName);
  std::vector<ReadFileResponse> parts;
  const grpc::Status status = Read(kName, "model.safetensors", 0, &parts);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(status.error_message(), HasSubstr("checkpoint.keep"));
}

TEST_F(CheckpointsServiceTest, APinIsSetAndTakenBack) {
  Checkpoint checkpoint;
  ASSERT_TRUE(Pin("jobs/a/checkpoints/latest", &checkpoint).ok());
  EXPECT_EQ(checkpoint.name(), kName);
  EXPECT_EQ(checkpoint.pin().user(), "ada");
  EXPECT_EQ(checkpoint.pin().reason(), "for the paper");
  EXPECT_EQ(Remove(kName, &checkpoint).error_code(),
            grpc::StatusCode::FAILED_PRECONDITION);
  ASSERT_TRUE(Unpin(kName, &checkpoint).ok());
  EXPECT_FALSE(checkpoint.has_pin());
  ASSERT_TRUE(Remove(kName, &checkpoint).ok());
  EXPECT_EQ(checkpoint.state(), Checkpoint::DELETED);
}

TEST_F(CheckpointsServiceTest, WhatIsDeletedIsNamedExactly) {
  Checkpoint checkpoint;
  const grpc::Status status = Remove("jobs/a/checkpoints/latest", &checkpoint);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(FieldOf(status), "name");
  EXPECT_EQ(FieldOf(Pin("jobs/a", &checkpoint)), "name");
  EXPECT_EQ(Thin("jobs/c/checkpoints/5-1", &checkpoint).error_code(),
            grpc::StatusCode::NOT_FOUND);
  for (const char* word : {"best", "last"}) {
    const std::string name = std::string("jobs/a/checkpoints/") + word;
    EXPECT_EQ(Remove(name, &checkpoint).error_code(),
              grpc::StatusCode::INVALID_ARGUMENT)
        << word;
  }
  ASSERT_TRUE(Pin("jobs/a/checkpoints/last", &checkpoint).ok());
  EXPECT_EQ(checkpoint.name(), kName);
}

TEST_F(GuardedCheckpointsTest, OnlyWhoOwnsTheJobThinsAndDeletes) {
  Checkpoint checkpoint;
  for (const grpc::Status& status :
       {Thin(kName, &checkpoint, "bob"), Remove(kName, &checkpoint, "bob")}) {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  }
  EXPECT_TRUE(Thin(kName, &checkpoint).ok());
  EXPECT_TRUE(Remove(kName, &checkpoint).ok());
}

TEST_F(GuardedCheckpointsTest, OnlyWhoPinnedItTakesThePinBack) {
  Checkpoint checkpoint;
  ASSERT_TRUE(Pin(kName, &checkpoint).ok());
  const grpc::Status status = Unpin(kName, &checkpoint, "bob");
  EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_THAT(status.error_message(), HasSubstr("it is of ada"));
  EXPECT_THAT(status.error_message(), HasSubstr("needs the role admin"));
  ASSERT_TRUE(Unpin(kName, &checkpoint).ok());
  EXPECT_FALSE(checkpoint.has_pin());
  // There is nothing to take back.
  EXPECT_TRUE(Unpin(kName, &checkpoint, "bob").ok());
  ASSERT_TRUE(Pin(kName, &checkpoint).ok());
  EXPECT_TRUE(Unpin(kName, &checkpoint, "root").ok());
}

TEST_F(GuardedCheckpointsTest, OnlyWhoSetAnAliasMovesAndDeletesIt) {
  Alias alias;
  ASSERT_TRUE(Set(MainIs("jobs/a/checkpoints/10-1"), &alias).ok());
  SetAliasRequest move = MainIs(kName);
  for (const std::string& digest : {std::string(), alias.manifest_sha256()}) {
    move.set_if_digest(digest);
    const grpc::Status status = Set(move, &alias, "bob");
    EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
    EXPECT_THAT(status.error_message(), HasSubstr("set aliases/main"));
    EXPECT_THAT(status.error_message(), HasSubstr("it is of ada"));
  }
  EXPECT_EQ(Unset("bob", &alias).error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_TRUE(Set(MainIs(kName), &alias).ok());
  EXPECT_TRUE(Set(MainIs("jobs/b/checkpoints/5-1"), &alias, "root").ok());
  EXPECT_EQ(Set(MainIs(kName), &alias).error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_TRUE(Unset("root", &alias).ok());
  // Its name is free.
  EXPECT_TRUE(Set(MainIs(kName), &alias, "bob").ok());
  EXPECT_TRUE(Unset("bob", &alias).ok());
  EXPECT_EQ(Unset("bob", &alias).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(CheckpointsServiceTest, AnAliasIsSetReadListedAndDeleted) {
  Alias alias;
  SetAliasRequest request = MainIs("jobs/a/checkpoints/10-1");
  request.set_if_digest("none");
  ASSERT_TRUE(Set(request, &alias).ok());
  EXPECT_EQ(alias.checkpoint(), "jobs/a/checkpoints/10-1");
  EXPECT_EQ(Set(request, &alias).error_code(), grpc::StatusCode::ABORTED);
  Context get_context;
  GetAliasRequest get;
  get.set_name("aliases/main");
  Alias read;
  ASSERT_TRUE(stub_->GetAlias(&get_context, get, &read).ok());
  EXPECT_EQ(read.etag(), alias.etag());
  Context list_context;
  ListAliasesResponse listed;
  ASSERT_TRUE(
      stub_->ListAliases(&list_context, ListAliasesRequest(), &listed).ok());
  ASSERT_EQ(listed.aliases_size(), 1);
  EXPECT_EQ(listed.aliases(0).name(), "aliases/main");
  Checkpoint checkpoint;
  ASSERT_TRUE(Get("jobs/a/checkpoints/10-1", &checkpoint).ok());
  EXPECT_THAT(checkpoint.aliases(), ElementsAre("aliases/main"));
  Context delete_context;
  DeleteAliasRequest remove;
  remove.set_name("aliases/main");
  remove.set_etag(alias.etag());
  ASSERT_TRUE(stub_->DeleteAlias(&delete_context, remove, &alias).ok());
  EXPECT_TRUE(alias.has_delete_time());
}

TEST_F(CheckpointsServiceTest, BadAliasesAreRefusedByTheirFields) {
  Alias alias;
  SetAliasRequest request = MainIs("jobs/a");
  request.set_name("main");
  EXPECT_EQ(FieldOf(Set(request, &alias)), "name");
  request.set_name("aliases/Main");
  EXPECT_EQ(FieldOf(Set(request, &alias)), "name");
  EXPECT_EQ(FieldOf(Set(MainIs("a"), &alias)), "checkpoint");
  request = MainIs("jobs/a");
  request.set_if_digest("SHA");
  EXPECT_EQ(FieldOf(Set(request, &alias)), "if_digest");
  request.set_if_digest(std::string(64, 'a'));
  EXPECT_EQ(Set(request, &alias).error_code(), grpc::StatusCode::ABORTED);
  request = MainIs("jobs/a");
  request.set_reason("two\nlines");
  EXPECT_EQ(FieldOf(Set(request, &alias)), "reason");
}

TEST_F(CheckpointsServiceTest, VanishedFileIsDataLoss) {
  ASSERT_TRUE(loopback_.files().RemoveTree(loopback_.Path(kName)).ok());
  std::vector<ReadFileResponse> parts;
  EXPECT_EQ(Read(kName, "model.safetensors", 0, &parts).error_code(),
            grpc::StatusCode::DATA_LOSS);
}

TEST_F(CheckpointsServiceTest, LargeFileComesWholeInParts) {
  std::string content;
  for (int i = 0; content.size() < (3u << 20); ++i) {
    content += std::to_string(i) + ",";
  }
  Checkpoint checkpoint;
  checkpoint.set_name("jobs/a/checkpoints/30-1");
  checkpoint.set_state(Checkpoint::AVAILABLE);
  *checkpoint.add_files() =
      loopback_.Write("jobs/a/checkpoints/30-1/big", content);
  loopback_.scheduler().PutCheckpoint(checkpoint);
  std::vector<ReadFileResponse> parts;
  ASSERT_TRUE(Read("jobs/a/checkpoints/30-1", "big", 0, &parts).ok());
  std::string received;
  for (const ReadFileResponse& part : parts) {
    EXPECT_EQ(part.offset(), static_cast<int64_t>(received.size()));
    EXPECT_LE(part.data().size(), files::kMaxPartBytes);
    received += part.data();
  }
  EXPECT_EQ(base::Sha256Hex(received), parts[0].sha256());
}

}  // namespace
}  // namespace ordo::services::checkpoints
