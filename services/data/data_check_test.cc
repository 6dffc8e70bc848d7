#include "services/data/data_check.h"

#include <string>
#include <utility>
#include <vector>

#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/testing/model_folders.h"

namespace ordo::services::data {
namespace {

using base::testing::StatusIs;
using ordo::checkpoints::v1::Upload;
using services::testing::Folder;
using services::testing::ListOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> FieldsOf(const Upload& upload) {
  std::vector<std::string> fields;
  for (const auto& violation : base::FieldViolations(CheckDataList(upload))) {
    fields.push_back(violation.field);
  }
  return fields;
}

TEST(DataCheckTest, FilesInFoldersOfAnyNameAreTaken) {
  EXPECT_THAT(FieldsOf(ListOf({{"a.txt", "x"},
                               {"deep/er/b c.jsonl.zst", "x"},
                               {"MANIFEST.json", "x"},
                               {"\xd0\x94\xd0\xb0.txt", "x"},
                               {"t/x.bin.gz", "x"},
                               {"t/x.bin.json", "{}"}})),
              IsEmpty());
}

TEST(DataCheckTest, PathsThatCouldLeadAwayOrBeHiddenAreRefused) {
  for (const char* path : {"", "/a", "../a", "a/../b", "a//b", "a/", "./a",
                           ".a", "a/.b", "..", "a\nb", "a\x7f", "\xff.txt"}) {
    EXPECT_THAT(DataPathProblem(path), ::testing::Not(IsEmpty())) << path;
  }
  EXPECT_THAT(FieldsOf(ListOf({{"../a", "x"}, {"b", "x"}})),
              ElementsAre("upload.files[0].path"));
}

TEST(DataCheckTest, PathsAndTheirPartsAreLimited) {
  EXPECT_EQ(DataPathProblem(std::string(255, 'x')), "");
  EXPECT_THAT(DataPathProblem(std::string(256, 'x')),
              HasSubstr("a part of 256 bytes"));
  std::string longest = std::string(255, 'x');
  for (int i = 0; i < 3; ++i) longest += "/" + std::string(255, 'x');
  EXPECT_EQ(DataPathProblem(longest), "");
  EXPECT_THAT(DataPathProblem(longest + "/x"), HasSubstr("at most 1024"));
}

TEST(DataCheckTest, EveryThingWrongWithAListIsNamed) {
  Upload twice = ListOf({{"a", "x"}});
  *twice.add_files() = twice.files(0);
  EXPECT_THAT(FieldsOf(twice), ElementsAre("upload.files[1].path"));
  // "a" would be a file and a folder.
  EXPECT_THAT(FieldsOf(ListOf({{"a", "x"}, {"a/b", "x"}})),
              ElementsAre("upload.files[1].path"));
  EXPECT_THAT(FieldsOf(ListOf({{"x.bin", "xx"}})),
              ElementsAre("upload.files[0].path"));
  Upload bad = ListOf({{"empty", ""}});
  bad.mutable_files(0)->set_sha256("AA");
  EXPECT_THAT(FieldsOf(bad), ElementsAre("upload.files[0].size_bytes",
                                         "upload.files[0].sha256"));
  EXPECT_THAT(FieldsOf(Upload()), ElementsAre("upload.files"));
  Upload many;
  for (int i = 0; i <= kMaxDataFiles; ++i) *many.add_files() = twice.files(0);
  EXPECT_THAT(FieldsOf(many), ElementsAre("upload.files"));
}

class DataFilesTest : public ::testing::Test {
 protected:
  absl::Status Check(const Folder& folder) {
    for (const auto& [name, content] : folder) {
      EXPECT_TRUE(base::AtomicWrite(files_, folder_.Path(name), content).ok());
    }
    return CheckDataFiles(files_, folder_.path(), ListOf(folder));
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
};

TEST_F(DataFilesTest, WhatIsCalledCompressedBeginsAsSuch) {
  ORDO_EXPECT_OK(Check({{"a.gz", "\x1f\x8b\x08 and more"},
                        {"b.zst", "\x28\xb5\x2f\xfd and more"},
                        // A frame that is skipped may come first.
                        {"c.zst", "\x5a\x2a\x4d\x18 and more"},
                        {"d.txt", "anything"}}));
  for (const auto& [name, content] :
       std::vector<std::pair<std::string, std::string>>{
           {"x.gz", "plain"},
           {"x.gz", "\x1f"},
           {"y.zst", "plain"},
           {"y.zst", "\x28\xb5"}}) {
    EXPECT_THAT(Check({{name, content}}),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr(name + ": is no ")));
  }
}

TEST_F(DataFilesTest, TokenFilesHaveTheSizeThatTheirInfoSays) {
  const std::string info = R"({"dtype": "uint16", "tokens": 3})";
  ORDO_EXPECT_OK(Check({{"x.bin", "aabbcc"}, {"x.bin.json", info}}));
  EXPECT_THAT(Check({{"x.bin", "aabbc"}, {"x.bin.json", info}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("x.bin: has 5 bytes, and x.bin.json says 3 "
                                 "tokens of 2 bytes")));
  // Of what is compressed nobody knows.
  ORDO_EXPECT_OK(Check({{"z.bin.gz", "\x1f\x8b\x08"}, {"z.bin.json", info}}));
  for (const char* wrong :
       {"", "[]", "{}", R"({"dtype": "int8", "tokens": 3})",
        R"({"dtype": "uint16", "tokens": -3})", R"({"dtype": "uint16"})"}) {
    EXPECT_THAT(Check({{"x.bin", "aabbcc"}, {"x.bin.json", wrong}}),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("x.bin.json: must be like")))
        << wrong;
  }
  const std::string deep = "{\"dtype\": " + std::string(400'000, '[') +
                           std::string(400'000, ']') + "}";
  EXPECT_THAT(Check({{"x.bin", "aabbcc"}, {"x.bin.json", deep}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("x.bin.json: is nested too deep")));
}

}  // namespace
}  // namespace ordo::services::data
