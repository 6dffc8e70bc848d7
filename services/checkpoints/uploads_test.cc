#include "services/checkpoints/uploads.h"

#include <cerrno>
#include <filesystem>

#include "base/clock/testing/fake_clock.h"
#include "base/files/file_util.h"
#include "base/files/testing/faulty_filesystem.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/testing/model_folders.h"

namespace ordo::services::checkpoints {
namespace {

using base::testing::FileOperation;
using base::testing::StatusIs;
using ordo::checkpoints::v1::Upload;
using ordo::checkpoints::v1::UploadFile;
using ordo::checkpoints::v1::WriteUploadRequest;
using services::testing::Folder;
using ::testing::AllOf;
using ::testing::HasSubstr;

class UploadsTest : public ::testing::Test {
 protected:
  UploadsTest() { Restart(); }

  // The scheduler dies and comes back.
  void Restart() {
    uploads_ = std::make_unique<Uploads>(files::Storage{files_, folder_.path()},
                                         clock_);
  }

  absl::StatusOr<int64_t> Write(const std::string& path, int64_t offset,
                                const std::string& data) {
    WriteUploadRequest request;
    request.set_name(name_);
    request.set_path(path);
    request.set_offset(offset);
    request.set_data(data);
    return uploads_->Write(request);
  }

  // Begins, and sends what is missing in parts of 1000 bytes, at most
  // `num_parts` of them.
  void Send(const Folder& folder, int num_parts = 1 << 20) {
    Upload list = services::testing::ListOf(folder);
    list.set_kind(kind_);
    const auto upload = uploads_->Create(list);
    ORDO_ASSERT_OK(upload);
    name_ = upload->name();
    for (const UploadFile& file : upload->files()) {
      int64_t at = file.held_bytes();
      while (at < file.size_bytes() && num_parts-- > 0) {
        const auto held =
            Write(file.path(), at, folder.at(file.path()).substr(at, 1000));
        ORDO_ASSERT_OK(held);
        at = *held;
      }
    }
  }

  absl::StatusOr<Uploads::Placed> Place(const std::string& job) {
    return uploads_->Place(base::NameOf(name_), job);
  }

  std::string Read(const std::string& path) {
    return base::ReadFile(real_, folder_.Path(path), 1 << 20).value_or("");
  }

  base::testing::TemporaryFolder folder_;
  base::PosixFilesystem real_;
  base::testing::FaultyFilesystem files_{real_};
  base::testing::FakeClock clock_{absl::Now()};
  std::unique_ptr<Uploads> uploads_;
  Upload::Kind kind_ = Upload::KIND_UNSPECIFIED;
  std::string name_;
};

TEST_F(UploadsTest, AFolderComesToItsPlaceWithItsManifest) {
  const Folder folder = services::testing::TinyLlama();
  Send(folder);
  const auto placed = Place("a");
  ORDO_ASSERT_OK(placed);
  EXPECT_EQ(placed->checkpoint.manifest_sha256(), base::NameOf(name_));
  EXPECT_EQ(placed->checkpoint.model_type(), "llama");
  EXPECT_EQ(placed->checkpoint.files_size(), 2);
  EXPECT_EQ(placed->contents.model.width(), 16);
  for (const auto& [name, content] : folder) {
    EXPECT_EQ(Read("jobs/a/checkpoints/0-0/" + name), content) << name;
  }
  EXPECT_THAT(Read("jobs/a/checkpoints/0-0/MANIFEST.json"),
              HasSubstr("\"config.json\""));
  EXPECT_FALSE(base::Exists(real_, folder_.Path(name_)));
}

TEST_F(UploadsTest, AnInterruptedUploadGoesOnAfterARestart) {
  const Folder folder = services::testing::TinyLlama();
  Send(folder, /*num_parts=*/3);
  Restart();
  const auto again = uploads_->Create(services::testing::ListOf(folder));
  ORDO_ASSERT_OK(again);
  EXPECT_EQ(again->name(), name_);
  EXPECT_EQ(again->files(0).held_bytes(), again->files(0).size_bytes());
  EXPECT_EQ(again->files(1).held_bytes(), 2000);
  EXPECT_THAT(Place("a"), StatusIs(absl::StatusCode::kFailedPrecondition,
                                   HasSubstr("model.safetensors has 2000 of")));
  Send(folder);
  ORDO_EXPECT_OK(Place("a"));
}

TEST_F(UploadsTest, ARepeatedPlaceGivesTheSameAlsoAfterARestart) {
  Send(services::testing::ShardedLlama());
  const auto first = Place("a");
  ORDO_ASSERT_OK(first);
  Restart();
  const auto again = Place("a");
  ORDO_ASSERT_OK(again);
  EXPECT_EQ(again->checkpoint.SerializeAsString(),
            first->checkpoint.SerializeAsString());
  EXPECT_THAT(Place("b"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(UploadsTest, WhatWasPlacedCanBeTakenBack) {
  Send(services::testing::TinyLlama());
  const auto placed = Place("a");
  ORDO_ASSERT_OK(placed);
  ORDO_ASSERT_OK(uploads_->TakeBack(base::NameOf(name_), "a", *placed));
  EXPECT_FALSE(base::Exists(real_, folder_.Path("jobs/a/checkpoints/0-0")));
  ORDO_EXPECT_OK(Place("b"));
}

TEST_F(UploadsTest, AWriteElsewhereSaysWhereToGoOn) {
  Send(services::testing::TinyLlama(), /*num_parts=*/2);
  EXPECT_THAT(Write("model.safetensors", 0, "xxx"),
              StatusIs(absl::StatusCode::kOutOfRange,
                       HasSubstr("1000 bytes of model.safetensors are here")));
  EXPECT_THAT(Write("model.safetensors", 1001, "xxx"),
              StatusIs(absl::StatusCode::kOutOfRange));
}

TEST_F(UploadsTest, BadPartsAreRefused) {
  Send(services::testing::TinyLlama(), /*num_parts=*/1);
  const auto field = [](const absl::StatusOr<int64_t>& held) {
    const auto violations = base::FieldViolations(held.status());
    return violations.size() == 1 ? violations[0].field : "";
  };
  EXPECT_EQ(field(Write("tokenizer.json", 0, "x")), "path");
  EXPECT_EQ(field(Write("../x", 0, "x")), "path");
  EXPECT_EQ(field(Write("model.safetensors", 0, "")), "data");
  EXPECT_EQ(field(Write("model.safetensors", 0,
                        std::string(kMaxWriteBytes + 1, 'x'))),
            "data");
  EXPECT_EQ(field(Write("model.safetensors", 0, std::string(20'000, 'x'))),
            "data");
  name_ = "uploads/unknown";
  EXPECT_THAT(Write("model.safetensors", 0, "x"),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("begin again with CreateUpload")));
}

TEST_F(UploadsTest, AWrongDigestDropsThatFileOnly) {
  Folder folder = services::testing::TinyLlama();
  const auto upload = uploads_->Create(services::testing::ListOf(folder));
  ORDO_ASSERT_OK(upload);
  folder["model.safetensors"][100] ^= 1;
  name_ = upload->name();
  for (const auto& [name, content] : folder) {
    ORDO_ASSERT_OK(Write(name, 0, content));
  }
  EXPECT_THAT(Place("a"),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr("model.safetensors: what came has "),
                             ::testing::Not(HasSubstr("config.json")))));
  const auto again = uploads_->Create(*upload);
  ORDO_ASSERT_OK(again);
  EXPECT_EQ(again->files(0).held_bytes(), again->files(0).size_bytes());
  EXPECT_EQ(again->files(1).held_bytes(), 0);
  Send(services::testing::TinyLlama());
  ORDO_EXPECT_OK(Place("a"));
}

TEST_F(UploadsTest, AFolderWithoutRoomIsRefusedBeforeAByteIsSent) {
  files_.LimitDisk(100);
  EXPECT_THAT(uploads_->Create(
                  services::testing::ListOf(services::testing::TinyLlama())),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("storage root has room for")));
}

TEST_F(UploadsTest, ADiskThatFillsUpKeepsWhatItTook) {
  const Folder folder = services::testing::TinyLlama();
  Send(folder, /*num_parts=*/2);
  files_.LimitDisk(300);
  EXPECT_THAT(Write("model.safetensors", 1000,
                    folder.at("model.safetensors").substr(1000, 1000)),
              StatusIs(absl::StatusCode::kResourceExhausted));
  files_.Heal();
  const auto again = uploads_->Create(services::testing::ListOf(folder));
  ORDO_ASSERT_OK(again);
  EXPECT_EQ(again->files(1).held_bytes(), 1300);
  Send(folder);
  ORDO_EXPECT_OK(Place("a"));
}

TEST_F(UploadsTest, NothingIsInItsPlaceThatIsNotOnTheDisk) {
  Send(services::testing::TinyLlama());
  files_.Fail(FileOperation::kSync, "model.safetensors", EIO);
  EXPECT_FALSE(Place("a").ok());
  EXPECT_FALSE(base::Exists(real_, folder_.Path("jobs/a/checkpoints/0-0")));
  files_.Heal();
  ORDO_EXPECT_OK(Place("a"));
}

TEST_F(UploadsTest, OnlyOldUploadsAreRemoved) {
  Send(services::testing::TinyLlama(), /*num_parts=*/2);
  clock_.Advance(kUploadLifetime - absl::Hours(1));
  uploads_->RemoveStale();
  EXPECT_TRUE(base::Exists(real_, folder_.Path(name_)));
  clock_.Advance(absl::Hours(2));
  ORDO_ASSERT_OK(uploads_->Create(
      services::testing::ListOf(services::testing::ShardedLlama())));
  EXPECT_FALSE(base::Exists(real_, folder_.Path(name_)));
}

// In folders, and with a file that is called as the list of a checkpoint is.
Folder Texts() {
  return {{"MANIFEST.json", "{}"},
          {"a.txt", "one"},
          {"deep/er/b.txt", std::string(2500, 'x')}};
}

TEST_F(UploadsTest, DataLiesInFoldersWithAHiddenList) {
  kind_ = Upload::DATA;
  Send(Texts(), /*num_parts=*/3);
  Restart();
  Send(Texts());
  const auto list = uploads_->Complete(base::NameOf(name_), Upload::DATA);
  ORDO_ASSERT_OK(list);
  EXPECT_EQ(list->files_size(), 3);
  ORDO_ASSERT_OK(uploads_->Move(uploads_->FolderOf(base::NameOf(name_)),
                                folder_.Path("data/texts")));
  for (const auto& [name, content] : Texts()) {
    EXPECT_EQ(Read("data/texts/" + name), content) << name;
  }
  EXPECT_THAT(Read("data/texts/.manifest.json"), HasSubstr("deep/er/b.txt"));
  EXPECT_FALSE(base::Exists(real_, folder_.Path(name_)));
}

TEST_F(UploadsTest, AnUploadOfDataIsNoCheckpointsAndTheOtherWayRound) {
  Send(services::testing::TinyLlama());
  EXPECT_THAT(uploads_->Complete(base::NameOf(name_), Upload::DATA),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("is of a checkpoint")));
  kind_ = Upload::DATA;
  const std::string other = name_;
  Send(services::testing::TinyLlama());
  EXPECT_NE(name_, other);
  EXPECT_THAT(Place("a"), StatusIs(absl::StatusCode::kInvalidArgument,
                                   HasSubstr("is of data")));
}

TEST_F(UploadsTest, AFileDeepInAFolderKeepsAnUploadFromBeingOld) {
  namespace fs = std::filesystem;
  kind_ = Upload::DATA;
  Send(Texts());
  const fs::path folder = folder_.Path(name_);
  const auto long_ago = fs::file_time_type::clock::now() -
                        absl::ToChronoHours(2 * kUploadLifetime);
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().filename() == "b.txt") continue;
    fs::last_write_time(entry.path(), long_ago);
  }
  fs::last_write_time(folder, long_ago);
  uploads_->RemoveStale();
  EXPECT_TRUE(base::Exists(real_, folder));
  fs::last_write_time(folder / "deep/er/b.txt", long_ago);
  uploads_->RemoveStale();
  EXPECT_FALSE(base::Exists(real_, folder));
  // Also where its list is still in memory.
  EXPECT_THAT(Write("a.txt", 3, "x"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(UploadsTest, AListThatIsTooLongIsRefused) {
  Upload list;
  list.set_kind(Upload::DATA);
  for (int i = 0; i < 5000; ++i) {
    auto& file = *list.add_files();
    file.set_path(std::to_string(i) + std::string(900, 'x'));
    file.set_size_bytes(1);
    file.set_sha256(std::string(64, 'a'));
  }
  EXPECT_THAT(uploads_->Create(list),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("paths are too long")));
}

TEST_F(UploadsTest, OneCallAtATimeHasAnUploadOrAJob) {
  Send(services::testing::TinyLlama(), /*num_parts=*/1);
  auto hold = uploads_->Take({name_, "jobs/a"});
  ORDO_ASSERT_OK(hold);
  EXPECT_THAT(Write("model.safetensors", 0, "x"),
              StatusIs(absl::StatusCode::kAborted, HasSubstr("try again")));
  EXPECT_THAT(uploads_->Take({"uploads/other", "jobs/a"}).status(),
              StatusIs(absl::StatusCode::kAborted));
  const auto shared = *hold;
  shared->Release();
  ORDO_EXPECT_OK(uploads_->Take({"uploads/other", "jobs/a"}).status());
}

TEST_F(UploadsTest, ASchedulerThatLeavesDoesNotHashToTheEnd) {
  Send(services::testing::TinyLlama());
  uploads_->Stop();
  EXPECT_THAT(Place("a"), StatusIs(absl::StatusCode::kUnavailable));
  Restart();
  ORDO_EXPECT_OK(Place("a"));
}

}  // namespace
}  // namespace ordo::services::checkpoints
