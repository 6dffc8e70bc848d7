#include "services/checkpoints/upload_list.h"

#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::services::checkpoints {
namespace {

using base::testing::StatusIs;
using ordo::checkpoints::v1::Upload;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

void Add(const std::string& path, Upload* upload, int64_t size = 3) {
  auto& file = *upload->add_files();
  file.set_path(path);
  file.set_size_bytes(size);
  file.set_sha256(std::string(64, 'a'));
}

Upload ListOf(const std::vector<std::string>& paths) {
  Upload upload;
  for (const std::string& path : paths) Add(path, &upload);
  return upload;
}

std::vector<std::string> FieldsOf(const Upload& upload) {
  std::vector<std::string> fields;
  for (const auto& violation : base::FieldViolations(CheckUploadList(upload))) {
    fields.push_back(violation.field);
  }
  return fields;
}

TEST(UploadListTest, WholeShardedAndOwnFoldersAreTaken) {
  ORDO_EXPECT_OK(CheckUploadList(ListOf({"config.json", "model.safetensors"})));
  ORDO_EXPECT_OK(
      CheckUploadList(ListOf({"config.json", "model.safetensors.index.json",
                              "model-00001-of-00002.safetensors",
                              "model-00002-of-00002.safetensors"})));
  ORDO_EXPECT_OK(
      CheckUploadList(ListOf({"config.json", "model.safetensors", "state.json",
                              "optimizer.safetensors"})));
}

TEST(UploadListTest, PathsThatCouldLeadAwayAreRefused) {
  for (const char* path :
       {"", "a/model.safetensors", "../model.safetensors", "/x.safetensors",
        ".safetensors", "..safetensors", "tokenizer.json", "MANIFEST.json",
        "a b.safetensors", "a\nb.safetensors", "model.bin"}) {
    EXPECT_THAT(FieldsOf(ListOf({"config.json", "model.safetensors", path})),
                ElementsAre("upload.files[2].path"))
        << path;
  }
}

TEST(UploadListTest, EveryThingWrongIsNamed) {
  Upload upload = ListOf({"model.safetensors"});
  upload.mutable_files(0)->set_size_bytes(0);
  upload.mutable_files(0)->set_sha256("AA");
  EXPECT_THAT(FieldsOf(upload),
              ElementsAre("upload.files[0].size_bytes",
                          "upload.files[0].sha256", "upload.files"));
  EXPECT_THAT(FieldsOf(ListOf({"config.json"})), ElementsAre("upload.files"));
  EXPECT_THAT(
      FieldsOf(ListOf({"config.json", "config.json", "model.safetensors"})),
      ElementsAre("upload.files[1].path"));
  EXPECT_THAT(FieldsOf(Upload()), ElementsAre("upload.files"));
  Upload large;
  for (int i = 0; i <= kMaxUploadFiles; ++i) Add("config.json", &large);
  EXPECT_THAT(FieldsOf(large), ElementsAre("upload.files"));
}

TEST(UploadListTest, SizesAndNamesAreLimited) {
  Upload upload = ListOf({"config.json", "model.safetensors"});
  upload.mutable_files(1)->set_size_bytes(kMaxUploadFileBytes);
  ORDO_EXPECT_OK(CheckUploadList(upload));
  upload.mutable_files(1)->set_size_bytes(kMaxUploadFileBytes + 1);
  EXPECT_THAT(FieldsOf(upload), ElementsAre("upload.files[1].size_bytes"));
  const std::string suffix = ".safetensors";
  const std::string longest = std::string(255 - suffix.size(), 'x') + suffix;
  EXPECT_TRUE(IsUploadFile(longest));
  EXPECT_FALSE(IsUploadFile("x" + longest));
}

TEST(UploadListTest, AManifestIsTheSameInAnyOrderAndReadsBack) {
  const Upload one = ListOf({"config.json", "model.safetensors"});
  const Upload other = ListOf({"model.safetensors", "config.json"});
  EXPECT_EQ(ManifestText(one), ManifestText(other));
  Upload larger = one;
  larger.mutable_files(0)->set_size_bytes(4);
  EXPECT_NE(ManifestText(one), ManifestText(larger));
  const auto read = ParseManifest(ManifestText(other));
  ORDO_ASSERT_OK(read);
  EXPECT_EQ(read->SerializeAsString(), one.SerializeAsString());
}

TEST(UploadListTest, TheManifestOfDataIsAnotherOneAndHidden) {
  const Upload checkpoint = ListOf({"config.json", "model.safetensors"});
  Upload data = checkpoint;
  data.set_kind(Upload::DATA);
  EXPECT_NE(ManifestText(data), ManifestText(checkpoint));
  const auto read = ParseManifest(ManifestText(data));
  ORDO_ASSERT_OK(read);
  EXPECT_EQ(read->kind(), Upload::DATA);
  EXPECT_EQ(read->files_size(), 2);
  EXPECT_EQ(std::string(ManifestFileOf(checkpoint)), "MANIFEST.json");
  EXPECT_EQ(std::string(ManifestFileOf(data)), ".manifest.json");
}

TEST(UploadListTest, WhatIsNoManifestIsRefused) {
  for (const char* text :
       {"", "[]", "{}", R"({"files": 1})", R"({"files": [1]})",
        R"({"files": [{"path": "a", "size_bytes": "1", "sha256": "b"}]})"}) {
    EXPECT_THAT(ParseManifest(text),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("manifest")))
        << text;
  }
}

}  // namespace
}  // namespace ordo::services::checkpoints
