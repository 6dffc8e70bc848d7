#include "model/text/task/locations.h"

#include <filesystem>

#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::text::task {
namespace {

using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LocationsTest : public ::testing::Test {
 protected:
  LocationsTest() {
    access_.files = &files_;
    access_.data_folder = folder_.Path("root/data");
    access_.data_roots = {folder_.Path("shared")};
    Write("root/data/books/b.txt");
    Write("root/data/books/a.txt");
    Write("root/data/books/deep/c.txt");
    Write("root/data/books/.hidden");
    Write("shared/d.bin.zst");
    Write("shared/d.bin.zst.json");
    Write("secret/key");
  }

  void Write(const std::string& name) {
    const std::string path = folder_.Path(name);
    ORDO_EXPECT_OK(files_.MakeFolders(base::FolderOf(path)));
    ORDO_EXPECT_OK(base::AtomicWrite(files_, path, "text"));
  }
  void Link(const std::string& to, const std::string& at) {
    std::filesystem::create_symlink(folder_.Path(to), folder_.Path(at));
  }
  absl::StatusOr<std::string> Find(const std::string& path) {
    return FindData(access_, "data.params.data[0]", path);
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
  tasks::DataAccess access_;
};

TEST_F(LocationsTest, ANameIsBelowTheDataFolder) {
  EXPECT_THAT(Find("books/a.txt"),
              IsOkAndHolds(folder_.Path("root/data/books/a.txt")));
}

TEST_F(LocationsTest, AWholePathMayLeadIntoADataRoot) {
  EXPECT_THAT(Find(folder_.Path("shared/d.bin.zst")),
              IsOkAndHolds(folder_.Path("shared/d.bin.zst")));
}

TEST_F(LocationsTest, PathsOutsideAreRefusedWithFieldAndFix) {
  for (const std::string& path :
       {folder_.Path("secret/key"), folder_.Path("shared/../secret/key"),
        folder_.Path("shared2"), std::string("/")}) {
    EXPECT_THAT(Find(path),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr("data.params.data[0]"),
                               HasSubstr("outside of what this worker may"),
                               HasSubstr("data_roots"))))
        << path;
  }
  EXPECT_THAT(Find("../../secret/key"),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(LocationsTest, ALinkThatLeadsOutIsRefused) {
  Link("secret", "root/data/way");
  Link("secret/key", "root/data/books/key");
  EXPECT_THAT(Find("way/key"), StatusIs(absl::StatusCode::kInvalidArgument,
                                        HasSubstr("outside of")));
  EXPECT_THAT(
      FilesOf(access_, folder_.Path("root/data/books"), {"data", false}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("outside of")));
}

TEST_F(LocationsTest, ALinkBetweenDataFoldersIsFollowed) {
  Link("shared", "root/data/linked");
  EXPECT_TRUE(Find("linked/d.bin.zst").ok());
}

TEST_F(LocationsTest, WhatIsNotThereIsToldWithTheLayout) {
  EXPECT_THAT(Find("papers"),
              StatusIs(absl::StatusCode::kNotFound,
                       AllOf(HasSubstr(folder_.Path("root/data/papers")),
                             HasSubstr("UTF-8 text, JSON lines"))));
}

TEST_F(LocationsTest, WithoutAStorageRootANameIsRefused) {
  access_.data_folder = "";
  EXPECT_THAT(Find("books"), StatusIs(absl::StatusCode::kInvalidArgument,
                                      HasSubstr("--storage-root")));
}

TEST_F(LocationsTest, FilesOfAFolderAreSortedAndWithoutHiddenOnes) {
  const std::string books = folder_.Path("root/data/books");
  EXPECT_THAT(FilesOf(access_, books, {"data", false}),
              IsOkAndHolds(ElementsAre(books + "/a.txt", books + "/b.txt",
                                       books + "/deep/c.txt")));
}

TEST_F(LocationsTest, TokenFilesAreKnownByTheirName) {
  const std::string shared = folder_.Path("shared");
  EXPECT_THAT(FilesOf(access_, shared, {"data", true}),
              IsOkAndHolds(ElementsAre(shared + "/d.bin.zst")));
  EXPECT_THAT(FilesOf(access_, folder_.Path("root/data/books"), {"data", true}),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(LocationsTest, FoldersInARingComeToAnEnd) {
  Link("root/data/books", "root/data/books/deep/ring");
  EXPECT_THAT(
      FilesOf(access_, folder_.Path("root/data/books"), {"data", false}),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("a link to a parent")));
}

TEST_F(LocationsTest, WhatIsNotThereYetHasAPlaceToo) {
  EXPECT_THAT(LocateData(access_, "params.path", "books/none.jsonl"),
              IsOkAndHolds(folder_.Path("root/data/books/none.jsonl")));
  EXPECT_THAT(
      LocateData(access_, "params.path", folder_.Path("secret/none")),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("params.path")));
}

TEST_F(LocationsTest, AFolderIsNoFile) {
  EXPECT_THAT(LocateFile(access_, "params.path", "books/none.jsonl"),
              IsOkAndHolds(folder_.Path("root/data/books/none.jsonl")));
  EXPECT_THAT(LocateFile(access_, "params.path", "books"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("params.path"),
                             HasSubstr("name a file in it"))));
}

}  // namespace
}  // namespace ordo::model::text::task
