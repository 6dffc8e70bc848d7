#include "services/checkpoints/checkpoints_service.h"

#include "base/digest/digest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/testing/loopback.h"

namespace ordo::services::checkpoints {
namespace {

using ordo::checkpoints::v1::Checkpoint;
using ordo::checkpoints::v1::GetCheckpointRequest;
using ordo::checkpoints::v1::ListCheckpointsRequest;
using ordo::checkpoints::v1::ListCheckpointsResponse;
using ordo::checkpoints::v1::ReadFileRequest;
using ordo::checkpoints::v1::ReadFileResponse;
using testing::Context;
using ::testing::ElementsAre;
using testing::FieldOf;
using ::testing::HasSubstr;

constexpr char kName[] = "jobs/a/checkpoints/20-1";

class CheckpointsServiceTest : public ::testing::Test {
 protected:
  CheckpointsServiceTest()
      : stub_(ordo::checkpoints::v1::CheckpointsService::NewStub(
            loopback_.channel())) {
    for (const char* job : {"jobs/a", "jobs/b"}) {
      ordo::jobs::v1::Job put;
      put.set_name(job);
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

  testing::Loopback loopback_;
  std::unique_ptr<ordo::checkpoints::v1::CheckpointsService::Stub> stub_;
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
