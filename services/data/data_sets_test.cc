#include "services/data/data_sets.h"

#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/clock/testing/fake_clock.h"
#include "base/files/file_util.h"
#include "base/files/testing/faulty_filesystem.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/testing/model_folders.h"

namespace ordo::services::data {
namespace {

using base::testing::FileOperation;
using base::testing::StatusIs;
using ordo::checkpoints::v1::Upload;
using ordo::checkpoints::v1::UploadFile;
using ordo::checkpoints::v1::WriteUploadRequest;
using ordo::data::v1::Data;
using services::testing::Folder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DataSetsTest : public ::testing::Test {
 protected:
  DataSetsTest() { Restart(); }

  // The scheduler dies and comes back.
  void Restart() {
    const files::Storage storage{files_, folder_.path()};
    uploads_ = std::make_unique<checkpoints::Uploads>(storage, clock_);
    data_ =
        std::make_unique<DataSets>(DataSets::Parts{storage, clock_, *uploads_});
  }

  // Sends all bytes; gives the upload's id.
  std::string Send(const Folder& folder) {
    Upload list = services::testing::ListOf(folder);
    list.set_kind(Upload::DATA);
    const auto upload = uploads_->Create(list);
    EXPECT_TRUE(upload.ok()) << upload.status();
    for (const UploadFile& file : upload->files()) {
      if (file.held_bytes() > 0) continue;
      WriteUploadRequest request;
      request.set_name(upload->name());
      request.set_path(file.path());
      request.set_data(folder.at(file.path()));
      EXPECT_TRUE(uploads_->Write(request).ok());
    }
    return base::NameOf(upload->name());
  }
  absl::StatusOr<Data> Commit(const std::string& upload,
                              const std::string& id = "books") {
    return data_->Commit({upload, id, "ada"});
  }
  // The version's name of what is pushed.
  std::string Push(const Folder& folder, const std::string& id = "books") {
    const auto data = Commit(Send(folder), id);
    EXPECT_TRUE(data.ok()) << data.status();
    return data.ok() ? base::NameOf(data->name()) : "";
  }
  std::vector<std::string> Listed() {
    std::vector<std::string> names;
    const auto listed = data_->List();
    EXPECT_TRUE(listed.ok()) << listed.status();
    for (const Data& data : *listed) {
      names.push_back(absl::StrCat(base::NameOf(data.name()),
                                   data.current() ? " now" : ""));
    }
    return names;
  }
  std::string Read(const std::string& path) {
    return base::ReadFile(real_, folder_.Path(path), 1 << 20).value_or("");
  }

  base::testing::TemporaryFolder folder_;
  base::PosixFilesystem real_;
  base::testing::FaultyFilesystem files_{real_};
  base::testing::FakeClock clock_{absl::Now()};
  std::unique_ptr<checkpoints::Uploads> uploads_;
  std::unique_ptr<DataSets> data_;
};

TEST_F(DataSetsTest, AnUploadBecomesAVersionForWhichTheNameStands) {
  const std::string upload = Send({{"a.txt", "one"}, {"deep/b.txt", "two!"}});
  const auto data = Commit(upload);
  ORDO_ASSERT_OK(data);
  EXPECT_EQ(data->name(), "data/books@" + upload.substr(0, kVersionDigits));
  EXPECT_TRUE(data->current());
  EXPECT_EQ(data->sha256(), upload);
  EXPECT_EQ(data->file_count(), 2);
  EXPECT_EQ(data->size_bytes(), 7);
  EXPECT_EQ(data->pushed_by(), "ada");
  EXPECT_EQ(data->create_time().seconds(), absl::ToUnixSeconds(clock_.Now()));
  EXPECT_EQ(Read("data/books/deep/b.txt"), "two!");
  EXPECT_EQ(Read(data->name() + "/a.txt"), "one");
  EXPECT_FALSE(base::Exists(real_, folder_.Path("uploads/" + upload)));
}

TEST_F(DataSetsTest, TheNameStandsForWhatWasPushedLast) {
  const std::string first = Push({{"a.txt", "one"}});
  const std::string second = Push({{"a.txt", "two"}});
  EXPECT_EQ(Read("data/books/a.txt"), "two");
  EXPECT_EQ(Read("data/" + first + "/a.txt"), "one");
  // Also where it is there already.
  const std::string upload =
      data_->Find({"books", first.substr(first.find('@') + 1)})
          .value()[0]
          .sha256();
  ORDO_EXPECT_OK(Commit(upload));
  EXPECT_EQ(Read("data/books/a.txt"), "one");
  std::vector<std::string> both = {first + " now", second};
  EXPECT_THAT(Listed(), ::testing::UnorderedElementsAreArray(both));
}

TEST_F(DataSetsTest, ARepeatedCommitGivesTheSameAlsoAfterARestart) {
  const std::string upload = Send({{"a.txt", "one"}});
  const auto first = Commit(upload);
  ORDO_ASSERT_OK(first);
  clock_.Advance(absl::Hours(1));
  Restart();
  const auto again = Commit(upload);
  ORDO_ASSERT_OK(again);
  EXPECT_EQ(again->SerializeAsString(), first->SerializeAsString());
  EXPECT_THAT(Commit(upload, "papers"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(DataSetsTest, ADeathBeforeTheNameStandsForItIsMended) {
  Push({{"a.txt", "one"}});
  const std::string upload = Send({{"a.txt", "two"}});
  files_.Fail(FileOperation::kReplaceLink, "books", EIO);
  EXPECT_FALSE(Commit(upload).ok());
  EXPECT_EQ(Read("data/books/a.txt"), "one");
  files_.Heal();
  Restart();
  ORDO_EXPECT_OK(Commit(upload));
  EXPECT_EQ(Read("data/books/a.txt"), "two");
}

TEST_F(DataSetsTest, NothingIsAVersionThatIsNotWhole) {
  Upload list = services::testing::ListOf({{"a.txt", "one"}});
  list.set_kind(Upload::DATA);
  const auto upload = uploads_->Create(list);
  ORDO_ASSERT_OK(upload);
  EXPECT_THAT(Commit(base::NameOf(upload->name())),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("a.txt has 0 of its 3 bytes")));
  const std::string bad = Send({{"a.gz", "plain"}});
  EXPECT_THAT(Commit(bad), StatusIs(absl::StatusCode::kInvalidArgument,
                                    HasSubstr("a.gz: is no gzip")));
  files_.Fail(FileOperation::kSync, "b.txt", EIO);
  EXPECT_FALSE(Commit(Send({{"b.txt", "two"}})).ok());
  EXPECT_THAT(Listed(), ElementsAre());
  EXPECT_FALSE(base::Exists(real_, folder_.Path("data/books")));
}

TEST_F(DataSetsTest, WhatLiesThereByHandIsNotReplaced) {
  ORDO_ASSERT_OK(real_.MakeFolders(folder_.Path("data/books")));
  const std::string upload = Send({{"a.txt", "one"}});
  EXPECT_THAT(Commit(upload), StatusIs(absl::StatusCode::kAlreadyExists,
                                       HasSubstr("was not pushed")));
  ORDO_ASSERT_OK(
      base::AtomicWrite(real_, folder_.Path("data/papers"), "a file"));
  EXPECT_THAT(Commit(upload, "papers"),
              StatusIs(absl::StatusCode::kAlreadyExists));
  EXPECT_EQ(Read("data/papers"), "a file");
  ORDO_EXPECT_OK(Commit(upload, "other"));
}

TEST_F(DataSetsTest, AVersionIsRemovedWithTheNameThatStandsForIt) {
  const std::string first = Push({{"a.txt", "one"}});
  const std::string second = Push({{"a.txt", "two"}});
  const auto removed = data_->Remove(ParseDataName("data/" + second).value());
  ORDO_ASSERT_OK(removed);
  EXPECT_EQ(removed->size(), 1u);
  EXPECT_THAT(Listed(), ElementsAre(first));
  EXPECT_FALSE(real_.ReadLink(folder_.Path("data/books")).ok());
  EXPECT_EQ(real_.List(folder_.Path("uploads")).value().size(), 0u);
  // All that is left.
  ORDO_EXPECT_OK(data_->Remove({"books", ""}));
  EXPECT_THAT(data_->Remove({"books", ""}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("ordo list")));
}

TEST_F(DataSetsTest, WhatADeathLeavesOfARemovalIsGoneADayLater) {
  const std::string version = Push({{"a.txt", "one"}});
  files_.Fail(FileOperation::kRemove, "removed-", EIO, /*num_passed=*/1);
  ORDO_EXPECT_OK(data_->Remove({"books", ""}));
  EXPECT_THAT(Listed(), ElementsAre());
  files_.Heal();
  EXPECT_TRUE(base::Exists(real_, folder_.Path("uploads/removed-" + version)));
  clock_.Advance(2 * checkpoints::kUploadLifetime);
  uploads_->RemoveStale();
  EXPECT_FALSE(base::Exists(real_, folder_.Path("uploads/removed-" + version)));
}

TEST_F(DataSetsTest, OnlyWhatWasPushedIsListed) {
  Push({{"a.txt", "one"}});
  const std::string papers = Push({{"a.txt", "one"}}, "papers");
  ORDO_ASSERT_OK(real_.MakeFolders(folder_.Path("data/by-hand")));
  ORDO_ASSERT_OK(real_.MakeFolders(folder_.Path("data/x@0123456789abcdef")));
  ORDO_ASSERT_OK(real_.MakeFolders(folder_.Path("data/.stores")));
  EXPECT_EQ(Listed().size(), 2u);
  ORDO_ASSERT_OK(base::AtomicWrite(
      real_, folder_.Path("data/" + papers + "/.data.json"), "{}"));
  EXPECT_EQ(Listed().size(), 1u);
}

TEST(DataNameTest, NamesHaveAnIdAndPerhapsAVersion) {
  EXPECT_EQ(ParseDataName("data/books")->id, "books");
  EXPECT_EQ(ParseDataName("data/books")->version, "");
  EXPECT_EQ(ParseDataName("data/books@0123456789abcdef")->version,
            "0123456789abcdef");
  for (const char* name :
       {"", "books", "data/", "data/A", "data/a/b", "data/..", "data/a@",
        "data/a@123", "data/a@0123456789abcdeF", "data/a@../../xx/yy/zzzz",
        "jobs/a"}) {
    EXPECT_THAT(
        ParseDataName(name),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("data/{data}")))
        << name;
  }
}

}  // namespace
}  // namespace ordo::services::data
