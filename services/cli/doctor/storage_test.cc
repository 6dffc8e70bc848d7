#include "services/cli/doctor/storage.h"

#include <cerrno>
#include <map>
#include <string>
#include <utility>

#include "base/clock/testing/fake_clock.h"
#include "base/files/file_util.h"
#include "base/files/testing/faulty_filesystem.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/status.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::services::cli::doctor {
namespace {

using base::testing::FaultyFilesystem;
using base::testing::FileOperation;
using ::testing::HasSubstr;

// Storage that says that it did what it did not do.
class LyingFilesystem : public FaultyFilesystem {
 public:
  using FaultyFilesystem::FaultyFilesystem;

  absl::StatusOr<std::unique_ptr<base::WritableFile>> OpenForWrite(
      const std::string& path, base::WriteMode mode) override {
    if (makes_anew && mode == base::WriteMode::kCreateNew) {
      mode = base::WriteMode::kTruncate;
    }
    if (forgets_appends && mode == base::WriteMode::kAppend) {
      mode = base::WriteMode::kTruncate;
    }
    return FaultyFilesystem::OpenForWrite(path, mode);
  }
  absl::Status Rename(const std::string& from, const std::string& to) override {
    if (!keeps_names) return FaultyFilesystem::Rename(from, to);
    return RemoveFile(from);
  }
  absl::Status ReplaceLink(const std::string& target,
                           const std::string& path) override {
    if (keeps_names && base::Exists(*this, path)) return absl::OkStatus();
    return FaultyFilesystem::ReplaceLink(target, path);
  }
  absl::StatusOr<std::vector<std::string>> List(
      const std::string& path) override {
    if (lists_nothing) return std::vector<std::string>{};
    return FaultyFilesystem::List(path);
  }
  absl::StatusOr<uint64_t> FreeBytes(const std::string& path) override {
    if (free_bytes > 0) return free_bytes;
    return FaultyFilesystem::FreeBytes(path);
  }
  absl::StatusOr<base::FileInfo> Stat(const std::string& path) override {
    ORDO_ASSIGN_OR_RETURN(base::FileInfo info, FaultyFilesystem::Stat(path));
    info.modified = now + skew;
    return info;
  }

  bool makes_anew = false;
  bool keeps_names = false;
  bool forgets_appends = false;
  bool lists_nothing = false;
  uint64_t free_bytes = uint64_t{100} << 30;
  absl::Time now;
  absl::Duration skew;
};

class StorageTest : public ::testing::Test {
 protected:
  StorageTest() : files_(real_), calls_(files_, clock_) {
    files_.now = clock_.Now();
    calls_.free_files = [](const std::string&) { return int64_t{1'000'000}; };
    calls_.is_remote = [](const std::string&) { return false; };
  }

  // By name, without its part.
  std::map<std::string, Finding> Check(FolderUse use = FolderUse::kStorage) {
    std::map<std::string, Finding> found;
    for (Finding& finding : CheckFolder(calls_, folder_.path(), use)) {
      const std::string name =
          finding.check.substr(finding.check.find('/') + 1);
      EXPECT_EQ(finding.advice.empty(), finding.health == Health::kOk) << name;
      EXPECT_FALSE(finding.seen.empty()) << name;
      found[name] = std::move(finding);
    }
    EXPECT_TRUE(real_.List(folder_.path())->empty()) << "something is left";
    return found;
  }
  Health HealthOf(const std::string& check,
                  FolderUse use = FolderUse::kStorage) {
    const auto found = Check(use);
    const auto one = found.find(check);
    EXPECT_NE(one, found.end()) << check;
    return one == found.end() ? Health::kOk : one->second.health;
  }

  base::PosixFilesystem real_;
  base::testing::FakeClock clock_;
  base::testing::TemporaryFolder folder_;
  LyingFilesystem files_;
  FolderCalls calls_;
};

TEST_F(StorageTest, OfThisMachineIsWell) {
  for (const FolderUse use :
       {FolderUse::kStorage, FolderUse::kStore, FolderUse::kWorkerState}) {
    const auto found = Check(use);
    for (const auto& [name, finding] : found) {
      EXPECT_EQ(finding.health, Health::kOk) << name << ": " << finding.seen;
    }
    EXPECT_EQ(found.count("clock"), use == FolderUse::kStorage ? 1u : 0u);
    EXPECT_EQ(found.count("place"), use == FolderUse::kStorage ? 0u : 1u);
    EXPECT_EQ(found.count("hard-links"), use == FolderUse::kStore ? 1u : 0u);
  }
}

TEST_F(StorageTest, TheRealCallsWorkHere) {
  base::RealClock clock;
  FolderCalls calls(real_, clock);
  for (const Finding& finding :
       CheckFolder(calls, folder_.path(), FolderUse::kStore)) {
    // How much room this machine has is not the test's.
    if (finding.check == "store/space" || finding.check == "store/files" ||
        finding.check == "store/place") {
      continue;
    }
    EXPECT_EQ(finding.health, Health::kOk)
        << finding.check << ": " << finding.seen;
  }
}

TEST_F(StorageTest, AFolderThatIsNotThereIsAllThatIsSaid) {
  const Findings found =
      CheckFolder(calls_, folder_.Path("none"), FolderUse::kStorage);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].check, "storage/folder");
  EXPECT_EQ(found[0].health, Health::kFail);
  EXPECT_THAT(found[0].advice, HasSubstr("mount the shared storage"));
  ORDO_ASSERT_OK(base::AtomicWrite(real_, folder_.Path("file"), "x"));
  EXPECT_THAT(
      CheckFolder(calls_, folder_.Path("file"), FolderUse::kStore)[0].seen,
      HasSubstr("is no folder"));
}

TEST_F(StorageTest, WhatCannotBeWrittenIsNotTriedFurther) {
  files_.Fail(FileOperation::kSync, "/file", EIO);
  const auto found = Check();
  EXPECT_EQ(found.at("write").health, Health::kFail);
  EXPECT_EQ(found.count("rename"), 0u);
  EXPECT_EQ(found.count("space"), 1u);
  files_.Heal();
  files_.Fail(FileOperation::kMakeFolders, ".ordo-doctor", EROFS);
  EXPECT_EQ(HealthOf("write"), Health::kFail);
}

TEST_F(StorageTest, MakesAFileThatIsThere) {
  files_.makes_anew = true;
  EXPECT_EQ(HealthOf("new-names"), Health::kFail);
}

TEST_F(StorageTest, RenameKeepsWhatWasThere) {
  files_.keeps_names = true;
  EXPECT_EQ(HealthOf("rename"), Health::kFail);
  EXPECT_EQ(HealthOf("links"), Health::kFail);
  files_.keeps_names = false;
  files_.Fail(FileOperation::kRename, "/file", EXDEV);
  EXPECT_EQ(HealthOf("rename"), Health::kFail);
}

TEST_F(StorageTest, FoldersCannotBeSynced) {
  files_.Fail(FileOperation::kSyncFolder, ".ordo-doctor", EINVAL);
  EXPECT_EQ(HealthOf("sync-folder"), Health::kFail);
}

TEST_F(StorageTest, HasNoSymbolicLinks) {
  files_.Fail(FileOperation::kReplaceLink, "link", EPERM);
  EXPECT_EQ(HealthOf("links"), Health::kFail);
}

TEST_F(StorageTest, WhatIsWrittenIsNotSeen) {
  files_.forgets_appends = true;
  EXPECT_EQ(HealthOf("visibility"), Health::kFail);
  files_.forgets_appends = false;
  files_.lists_nothing = true;
  EXPECT_EQ(HealthOf("visibility"), Health::kFail);
}

TEST_F(StorageTest, LocksAreNeededWhereOneServiceWrites) {
  calls_.lock = [](const std::string&) {
    return absl::UnimplementedError("no locks");
  };
  EXPECT_EQ(HealthOf("locks"), Health::kWarn);
  EXPECT_EQ(HealthOf("locks", FolderUse::kStore), Health::kFail);
  EXPECT_EQ(HealthOf("locks", FolderUse::kWorkerState), Health::kFail);
  // Each holder a file of its own, as if the storage had no locks at all.
  int count = 0;
  calls_.lock = [&count](const std::string& path) {
    return base::FileLock::Take(path + std::to_string(++count));
  };
  EXPECT_EQ(HealthOf("locks", FolderUse::kStore), Health::kFail);
}

TEST_F(StorageTest, AStoreNeedsHardLinks) {
  calls_.hard_link = [](const std::string&, const std::string&) {
    return base::SystemError(EPERM, "link");
  };
  EXPECT_EQ(HealthOf("hard-links", FolderUse::kStore), Health::kFail);
}

TEST_F(StorageTest, AStoreAndJournalsBelongOnADiskOfTheMachine) {
  calls_.is_remote = [](const std::string&) { return true; };
  EXPECT_EQ(HealthOf("place", FolderUse::kStore), Health::kFail);
  EXPECT_EQ(HealthOf("place", FolderUse::kWorkerState), Health::kFail);
}

TEST_F(StorageTest, ItsClockIsNotThisMachines) {
  files_.skew = absl::Seconds(-5);
  const Finding behind = Check().at("clock");
  EXPECT_EQ(behind.health, Health::kWarn);
  EXPECT_EQ(behind.seen, "the storage's clock is 5s behind");
  files_.skew = absl::Minutes(3);
  const Finding ahead = Check().at("clock");
  EXPECT_EQ(ahead.health, Health::kFail);
  EXPECT_EQ(ahead.seen, "the storage's clock is 3m ahead");
}

TEST_F(StorageTest, RoomIsShort) {
  files_.free_bytes = 100 << 20;
  EXPECT_EQ(HealthOf("space"), Health::kFail);
  files_.free_bytes = uint64_t{5} << 30;
  EXPECT_EQ(HealthOf("space"), Health::kWarn);
  files_.Fail(FileOperation::kFreeBytes, folder_.path(), EIO);
  files_.free_bytes = 0;
  EXPECT_EQ(HealthOf("space"), Health::kFail);
}

TEST_F(StorageTest, FilesRunOut) {
  int64_t left = 10;
  calls_.free_files = [&left](const std::string&) { return left; };
  EXPECT_EQ(HealthOf("files"), Health::kFail);
  left = 50'000;
  EXPECT_EQ(HealthOf("files"), Health::kWarn);
  left = -1;
  EXPECT_EQ(HealthOf("files"), Health::kOk);
  calls_.free_files = [](const std::string&) {
    return absl::StatusOr<int64_t>(base::SystemError(EIO, "statvfs"));
  };
  EXPECT_EQ(HealthOf("files"), Health::kFail);
}

}  // namespace
}  // namespace ordo::services::cli::doctor
