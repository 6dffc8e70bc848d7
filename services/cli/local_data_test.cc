#include "services/cli/local_data.h"

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/clock/clock.h"
#include "base/digest/digest.h"
#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/testing/loopback.h"

// Against the services that take uploads.

namespace ordo::services::cli {
namespace {

using base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class LocalDataTest : public ::testing::Test {
 protected:
  LocalDataTest() : client_(Options(loopback_), interrupt_) {}

  static ClientOptions Options(services::testing::Loopback& loopback) {
    ClientOptions options;
    options.address = loopback.server().address();
    options.user = "ada";
    return options;
  }

  void Write(const std::string& path, const std::string& content) {
    ORDO_EXPECT_OK(files_.MakeFolders(base::FolderOf(folder_.Path(path))));
    ORDO_EXPECT_OK(base::AtomicWrite(files_, folder_.Path(path), content));
  }
  static std::vector<std::string> PathsOf(const LocalFolder& folder) {
    std::vector<std::string> paths;
    for (const auto& file : folder.list.files()) paths.push_back(file.path());
    return paths;
  }

  services::testing::Loopback loopback_;
  Interrupt interrupt_;
  Client client_;
  std::istringstream in_;
  std::ostringstream out_;
  std::ostringstream err_;
  base::PosixFilesystem files_;
  base::RealClock clock_;
  base::testing::TemporaryFolder folder_;
  Context context_{in_,     out_,       err_,   Terminal(), OutputForm::kTable,
                   client_, interrupt_, files_, clock_,     nullptr};
};

TEST_F(LocalDataTest, AFolderIsAllFilesBelowItButHiddenAndEmptyOnes) {
  Write("books/b.txt", "two");
  Write("books/deep/er/a.txt", "one");
  Write("books/.git/config", "x");
  Write("books/deep/.x", "x");
  Write("books/none.txt", "");
  const auto folder = ReadLocalData(context_, folder_.Path("books"));
  ORDO_ASSERT_OK(folder);
  EXPECT_THAT(PathsOf(*folder), ElementsAre("b.txt", "deep/er/a.txt"));
  EXPECT_EQ(folder->list.files(1).size_bytes(), 3);
  EXPECT_EQ(folder->list.files(1).sha256(), base::Sha256Hex("one"));
  EXPECT_THAT(folder->left_out,
              UnorderedElementsAre(".git", "deep/.x", "none.txt"));
}

TEST_F(LocalDataTest, ATokenFileBringsItsInfoAlong) {
  Write("x.bin", "aabb");
  EXPECT_THAT(ReadLocalData(context_, folder_.Path("x.bin")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("'x.bin.json' is missing")));
  Write("x.bin.json", R"({"dtype": "uint16", "tokens": 2})");
  Write("y.txt", "not sent");
  const auto folder = ReadLocalData(context_, folder_.Path("x.bin"));
  ORDO_ASSERT_OK(folder);
  EXPECT_THAT(PathsOf(*folder), ElementsAre("x.bin", "x.bin.json"));
}

TEST_F(LocalDataTest, NamesThatNobodyCanReadAreRefused) {
  Write("books/a\nb.txt", "x");
  EXPECT_THAT(ReadLocalData(context_, folder_.Path("books")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("its path has control characters")));
  Write("papers/\xff.txt", "x");
  EXPECT_THAT(ReadLocalData(context_, folder_.Path("papers")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("its path is not UTF-8")));
}

TEST_F(LocalDataTest, FoldersInARingComeToAnEnd) {
  Write("books/a.txt", "one");
  std::filesystem::create_directory_symlink(folder_.Path("books"),
                                            folder_.Path("books/ring"));
  EXPECT_FALSE(ReadLocalData(context_, folder_.Path("books")).ok());
}

TEST_F(LocalDataTest, AnInterruptedPushGoesOnWhereItStopped) {
  Write("books/a.txt", "one");
  Write("books/b.txt", "two");
  const auto folder = ReadLocalData(context_, folder_.Path("books"));
  ORDO_ASSERT_OK(folder);
  interrupt_.Trigger();
  EXPECT_THAT(PushData(context_, *folder, "books"),
              StatusIs(absl::StatusCode::kCancelled,
                       HasSubstr("goes on where this one stopped")));
  interrupt_.Reset();
  const auto data = PushData(context_, *folder, "books");
  ORDO_ASSERT_OK(data);
  EXPECT_EQ(data->pushed_by(), "ada");
  EXPECT_EQ(
      base::ReadFile(files_, loopback_.Path("data/books/b.txt"), 100).value(),
      "two");
}

TEST_F(LocalDataTest, OfManyFilesOnlyTheSumIsTold) {
  for (int i = 0; i < 60; ++i) Write(absl::StrCat("books/", i, ".txt"), "one");
  const auto folder = ReadLocalData(context_, folder_.Path("books"));
  ORDO_ASSERT_OK(folder);
  const auto data = PushData(context_, *folder, "books");
  ORDO_ASSERT_OK(data);
  EXPECT_EQ(data->file_count(), 60);
  EXPECT_EQ(err_.str(), "ordo: 60 files  180 B\n");
}

TEST_F(LocalDataTest, AFileThatChangesWhileItIsSentIsTold) {
  Write("books/a.txt", "one");
  const auto folder = ReadLocalData(context_, folder_.Path("books"));
  ORDO_ASSERT_OK(folder);
  Write("books/a.txt", "eno");
  EXPECT_THAT(PushData(context_, *folder, "books"),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("a.txt: what came has another SHA-256")));
}

}  // namespace
}  // namespace ordo::services::cli
