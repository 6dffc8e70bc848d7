#include "base/files/secret_file.h"

#include <string>
#include <sys/stat.h>

#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::testing::ElementsAre;

TEST(SecretFileTest, OnlyItsOwnerReadsIt) {
  testing::TemporaryFolder folder;
  PosixFilesystem files;
  const std::string path = folder.Path("key");
  ORDO_ASSERT_OK(WriteSecretFile(path, "first"));
  ORDO_ASSERT_OK(WriteSecretFile(path, "second"));
  EXPECT_THAT(ReadFile(files, path, 100),
              testing::IsOkAndHolds(std::string("second")));
  struct stat info = {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600U);
}

TEST(SecretFileTest, AFailureLeavesNothingBehind) {
  testing::TemporaryFolder folder;
  PosixFilesystem files;
  // A folder cannot be replaced.
  ORDO_ASSERT_OK(files.MakeFolders(folder.Path("key")));
  EXPECT_FALSE(WriteSecretFile(folder.Path("key"), "first").ok());
  EXPECT_THAT(WriteSecretFile(folder.Path("no/key"), "first"),
              testing::StatusIs(absl::StatusCode::kNotFound));
  ORDO_ASSERT_OK_AND_ASSIGN(const auto names, files.List(folder.path()));
  EXPECT_THAT(names, ElementsAre("key"));
}

}  // namespace
}  // namespace ordo::base
