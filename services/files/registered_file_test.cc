#include "services/files/registered_file.h"

#include <unistd.h>

#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::services::files {
namespace {

using base::testing::StatusIs;
using ::testing::HasSubstr;
using training::v1::FileInfo;

class RegisteredFileTest : public ::testing::Test {
 protected:
  RegisteredFileTest() : storage_{files_, folder_.Path("root")} {
    files_.MakeFolders(folder_.Path("root/jobs/a")).IgnoreError();
  }

  FileInfo Write(const std::string& path, const std::string& content) {
    ORDO_EXPECT_OK(base::AtomicWrite(
        files_, folder_.Path("root/jobs/a/" + path), content));
    FileInfo info;
    info.set_path(path);
    info.set_size_bytes(static_cast<int64_t>(content.size()));
    info.set_sha256("digest");
    return info;
  }

  // Everything from `offset` on, and the parts it came in.
  absl::StatusOr<std::vector<FilePart>> ReadAll(const FileInfo& info,
                                                int64_t offset) {
    auto reader = RegisteredFileReader::Make(storage_, "jobs/a", info, offset);
    if (!reader.ok()) return reader.status();
    std::vector<FilePart> parts;
    while (true) {
      FilePart part;
      const auto step = (*reader)->Next(&part);
      if (!step.ok()) return step.status();
      if (*step == StreamStep::kEnd) return parts;
      parts.push_back(part);
    }
  }

  base::testing::TemporaryFolder folder_;
  base::PosixFilesystem files_;
  Storage storage_;
};

TEST_F(RegisteredFileTest, FirstPartSaysSizeAndDigest) {
  const std::string content(kMaxPartBytes + 5, 'x');
  const auto parts = ReadAll(Write("f", content), 0);
  ORDO_ASSERT_OK(parts);
  ASSERT_EQ(parts->size(), 2u);
  EXPECT_EQ((*parts)[0].data.size(), kMaxPartBytes);
  EXPECT_EQ((*parts)[0].size_bytes, static_cast<int64_t>(content.size()));
  EXPECT_EQ((*parts)[0].sha256, "digest");
  EXPECT_EQ((*parts)[1].data, "xxxxx");
  EXPECT_EQ((*parts)[1].offset, static_cast<int64_t>(kMaxPartBytes));
  EXPECT_EQ((*parts)[1].size_bytes, 0);
  EXPECT_EQ((*parts)[1].sha256, "");
}

TEST_F(RegisteredFileTest, ReadsFromAnOffset) {
  const auto parts = ReadAll(Write("f", "0123456789"), 7);
  ORDO_ASSERT_OK(parts);
  ASSERT_EQ(parts->size(), 1u);
  EXPECT_EQ((*parts)[0].data, "789");
  EXPECT_EQ((*parts)[0].offset, 7);
  EXPECT_EQ((*parts)[0].size_bytes, 10);
}

TEST_F(RegisteredFileTest, EmptyRestIsOnePart) {
  for (const auto& [info, offset] :
       {std::make_pair(Write("empty", ""), 0), {Write("f", "0123"), 4}}) {
    const auto parts = ReadAll(info, offset);
    ORDO_ASSERT_OK(parts);
    ASSERT_EQ(parts->size(), 1u);
    EXPECT_EQ((*parts)[0].data, "");
    EXPECT_EQ((*parts)[0].size_bytes, info.size_bytes());
  }
}

TEST_F(RegisteredFileTest, OffsetsOutsideTheFileAreRefused) {
  const FileInfo info = Write("f", "0123");
  const auto negative = ReadAll(info, -1);
  EXPECT_THAT(negative, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(base::FieldViolations(negative.status()).at(0).field, "offset");
  EXPECT_THAT(ReadAll(info, 5), StatusIs(absl::StatusCode::kOutOfRange,
                                         HasSubstr("beyond the 4 bytes")));
}

TEST_F(RegisteredFileTest, MissingOrChangedFileIsDataLoss) {
  FileInfo info = Write("f", "0123");
  info.set_size_bytes(5);
  EXPECT_THAT(ReadAll(info, 0),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("has 4 bytes and was registered with 5")));
  info.set_path("g");
  EXPECT_THAT(ReadAll(info, 0),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("not there")));
}

TEST_F(RegisteredFileTest, SizeMayBeUnknown) {
  FileInfo info = Write("f", "0123");
  info.set_size_bytes(kUnknownSize);
  const auto parts = ReadAll(info, 0);
  ORDO_ASSERT_OK(parts);
  EXPECT_EQ((*parts)[0].size_bytes, 4);
}

TEST_F(RegisteredFileTest, PathsDoNotLeadOutOfTheFolder) {
  FileInfo info = Write("f", "0123");
  for (const char* path : {"../b", "/etc/passwd", "x/../../b", ""}) {
    info.set_path(path);
    EXPECT_THAT(ReadAll(info, 0), StatusIs(absl::StatusCode::kInvalidArgument))
        << path;
  }
}

TEST_F(RegisteredFileTest, LinksDoNotLeadOutOfTheStorageRoot) {
  ORDO_ASSERT_OK(base::AtomicWrite(files_, folder_.Path("secret"), "0123"));
  ASSERT_EQ(symlink(folder_.Path("secret").c_str(),
                    folder_.Path("root/jobs/a/link").c_str()),
            0);
  FileInfo info;
  info.set_path("link");
  info.set_size_bytes(4);
  EXPECT_THAT(ReadAll(info, 0),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("leads out of the storage root")));
}

TEST_F(RegisteredFileTest, FindFileOffersTheNearestPath) {
  google::protobuf::RepeatedPtrField<FileInfo> files;
  files.Add()->set_path("model.safetensors");
  files.Add()->set_path("state.json");
  EXPECT_EQ(FindFile(files, "state.json")->path(), "state.json");
  EXPECT_THAT(FindFile(files, "stat.json"),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("did you mean 'state.json'?")));
  EXPECT_THAT(FindFile(files, "../state.json"),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(FindFile(files, ""),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace ordo::services::files
