#include "services/cli/doctor/storage.h"

#include <algorithm>
#include <cerrno>
#include <set>
#include <string_view>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "base/files/file_util.h"
#include "base/status/status.h"

namespace ordo::services::cli::doctor {
namespace {

constexpr uint64_t kGib = uint64_t{1} << 30;
// Less is one checkpoint of a small model, or one of a large one.
constexpr uint64_t kLeastFreeBytes = kGib;
constexpr uint64_t kFewFreeBytes = 20 * kGib;
// An attempt has some ten files, and a checkpoint four.
constexpr int64_t kLeastFreeFiles = 1000;
constexpr int64_t kFewFreeFiles = 100'000;
// Between the storage's clock and this machine's.
constexpr absl::Duration kSmallSkew = absl::Seconds(2);
constexpr absl::Duration kLargeSkew = absl::Minutes(1);
constexpr size_t kMaxBytes = 1 << 20;
constexpr char kOld[] = "old";
constexpr char kNew[] = "new, and longer";

absl::Status HardLink(const std::string& from, const std::string& to) {
  if (link(from.c_str(), to.c_str()) == 0) return absl::OkStatus();
  return base::SystemError(errno, "link " + from + " to " + to);
}

absl::StatusOr<int64_t> FreeFiles(const std::string& path) {
  struct statvfs about = {};
  if (statvfs(path.c_str(), &about) != 0) {
    return base::SystemError(errno, "look at the storage of " + path);
  }
  // Storage that makes files as it needs them counts none.
  if (about.f_files == 0) return -1;
  return static_cast<int64_t>(about.f_favail);
}

bool IsRemote(const std::string& path) {
  // The last three, which the kernel's headers lack: Lustre, BeeGFS, GPFS.
  static const auto& kinds = *new std::set<int64_t>{
      NFS_SUPER_MAGIC,  SMB_SUPER_MAGIC, CIFS_SUPER_MAGIC, SMB2_SUPER_MAGIC,
      CEPH_SUPER_MAGIC, 0x0BD00BD0,      0x19830326,       0x47504653};
  struct statfs about = {};
  return statfs(path.c_str(), &about) == 0 &&
         kinds.count(static_cast<int64_t>(about.f_type)) > 0;
}

// The checks of one folder, in one below it.
class Checks {
 public:
  Checks(const FolderCalls& calls, const std::string& folder, FolderUse use)
      : calls_(calls),
        files_(calls.files),
        folder_(folder),
        use_(use),
        inner_(
            base::JoinPath(folder, absl::StrCat(".ordo-doctor-", getpid()))) {}

  Findings Run() {
    if (!IsFolder()) return std::move(findings_);
    if (Write()) {
      NewNames();
      Rename();
      SyncFolder();
      Links();
      Visibility();
      Locks();
      if (use_ == FolderUse::kStore) HardLinks();
      if (use_ == FolderUse::kStorage) ClockSkew();
    }
    files_.RemoveTree(inner_).IgnoreError();
    Place();
    Space();
    FreeNames();
    return std::move(findings_);
  }

 private:
  std::string In(const std::string& name) const {
    return base::JoinPath(inner_, name);
  }

  void Add(const std::string& check, Health health, std::string seen,
           std::string advice = "") {
    const char* part = use_ == FolderUse::kStorage ? "storage/"
                       : use_ == FolderUse::kStore ? "store/"
                                                   : "state/";
    findings_.push_back({absl::StrCat(part, check), health, std::move(seen),
                         std::move(advice)});
  }
  // Fails where the call did.
  bool Take(const std::string& check, const absl::Status& status,
            std::string advice) {
    if (status.ok()) return true;
    Add(check, Health::kFail, std::string(status.message()), std::move(advice));
    return false;
  }

  bool IsFolder() {
    const auto info = files_.Stat(folder_);
    if (info.ok() && info->is_folder) return true;
    Add("folder", Health::kFail,
        info.ok() ? folder_ + " is no folder"
                  : std::string(info.status().message()),
        use_ == FolderUse::kStorage
            ? "mount the shared storage there, or make the folder"
            : "make the folder, for the user that the service runs as");
    return false;
  }

  absl::Status Put(const std::string& name, base::WriteMode mode,
                   std::string_view text) {
    ORDO_ASSIGN_OR_RETURN(const auto file, files_.OpenForWrite(In(name), mode));
    ORDO_RETURN_IF_ERROR(file->Append(text));
    ORDO_RETURN_IF_ERROR(file->Sync());
    return file->Close();
  }

  bool Write() {
    const std::string advice = absl::StrCat(
        "let the user that the service runs as (this is ", getuid(),
        ") write there: look at owner, mode, the mount's options and its room");
    if (!Take("write", files_.MakeFolders(inner_), advice)) return false;
    if (!Take("write", Put("file", base::WriteMode::kTruncate, kOld), advice)) {
      return false;
    }
    Add("write", Health::kOk, "files are written and synced in " + folder_);
    return true;
  }

  void NewNames() {
    const absl::Status status =
        files_.OpenForWrite(In("file"), base::WriteMode::kCreateNew).status();
    if (absl::IsAlreadyExists(status)) {
      Add("new-names", Health::kOk, "a file that is there is not made anew");
    } else {
      Add("new-names", Health::kFail,
          status.ok() ? "O_EXCL makes a file that is there already"
                      : std::string(status.message()),
          "mount it so that O_EXCL holds (NFS: version 3 or newer)");
    }
  }

  void Rename() {
    const std::string advice =
        "use storage that renames as POSIX says; object stores behind a mount "
        "do not";
    absl::Status status = Put("aside", base::WriteMode::kTruncate, kNew);
    if (status.ok()) status = files_.Rename(In("aside"), In("file"));
    if (!Take("rename", status, advice)) return;
    const auto text = base::ReadFile(files_, In("file"), kMaxBytes);
    if (text.ok() && *text == kNew && !base::Exists(files_, In("aside"))) {
      Add("rename", Health::kOk, "a rename replaces a file in one step");
    } else {
      Add("rename", Health::kFail,
          "after a rename over it a file holds what it held before", advice);
    }
  }

  void SyncFolder() {
    if (Take("sync-folder", files_.SyncFolder(inner_),
             "use storage whose folders can be synced: a checkpoint that was "
             "renamed into place may be gone after a crash")) {
      Add("sync-folder", Health::kOk, "entries of folders can be made durable");
    }
  }

  void Links() {
    absl::Status status = files_.ReplaceLink("file", In("link"));
    if (status.ok()) status = files_.ReplaceLink("aside", In("link"));
    const auto target = files_.ReadLink(In("link"));
    if (status.ok() && target.ok() && *target == "aside") {
      Add("links", Health::kOk, "symbolic links are made and replaced");
      return;
    }
    Add("links", Health::kFail,
        status.ok() ? "a symbolic link that was replaced leads where it led"
                    : std::string(status.message()),
        "mount it so that it has symbolic links: aliases of checkpoints and "
        "names of data are some");
  }

  void Visibility() {
    const auto seen = [this]() -> absl::Status {
      ORDO_RETURN_IF_ERROR(Put("seen", base::WriteMode::kTruncate, kOld));
      ORDO_RETURN_IF_ERROR(Put("seen", base::WriteMode::kAppend, kNew));
      ORDO_ASSIGN_OR_RETURN(const auto names, files_.List(inner_));
      if (std::find(names.begin(), names.end(), "seen") == names.end()) {
        return absl::InternalError("a new file is not listed");
      }
      ORDO_ASSIGN_OR_RETURN(const std::string text,
                            base::ReadFile(files_, In("seen"), kMaxBytes));
      if (text != absl::StrCat(kOld, kNew)) {
        return absl::InternalError("what was appended is not read");
      }
      return absl::OkStatus();
    };
    if (Take("visibility", seen(),
             "mount it so that what one process writes another reads at once "
             "(NFS: not with nocto)")) {
      Add("visibility", Health::kOk,
          "what is appended is read, and what is new is listed");
    }
  }

  void Locks() {
    const auto first = calls_.lock(In("lock"));
    if (first.ok() &&
        absl::IsFailedPrecondition(calls_.lock(In("lock")).status())) {
      Add("locks", Health::kOk, "a lock has one holder");
      return;
    }
    const bool must = use_ != FolderUse::kStorage;
    Add("locks", must ? Health::kFail : Health::kWarn,
        !first.ok() ? std::string(first.status().message())
                    : "one lock has two holders",
        must ? "lay this folder on a disk of this machine: two services could "
               "write there at once"
             : "mount it with locks (NFS: lockd, or version 4): without them "
               "each job that reads the same text cuts it into tokens itself");
  }

  void HardLinks() {
    if (Take("hard-links", calls_.hard_link(In("file"), In("other")),
             "lay the store on a file system with hard links: backups are "
             "put in place by one")) {
      Add("hard-links", Health::kOk, "a file may have a second name");
    }
  }

  void ClockSkew() {
    const absl::Time before = calls_.clock.Now();
    const std::string advice =
        "let NTP set the clocks of the storage's server and of this machine";
    if (!Take("clock", Put("now", base::WriteMode::kTruncate, kNew), advice)) {
      return;
    }
    const absl::Time after = calls_.clock.Now();
    const auto info = files_.Stat(In("now"));
    if (!Take("clock", info.status(), advice)) return;
    const absl::Duration skew =
        info->modified < before  ? info->modified - before
        : info->modified > after ? info->modified - after
                                 : absl::ZeroDuration();
    const absl::Duration size = absl::AbsDuration(skew);
    const std::string seen =
        size <= kSmallSkew
            ? "the storage's clock is this machine's"
            : absl::StrCat("the storage's clock is ",
                           absl::FormatDuration(
                               absl::Trunc(size, absl::Milliseconds(1))),
                           skew < absl::ZeroDuration() ? " behind" : " ahead");
    Add("clock",
        size <= kSmallSkew   ? Health::kOk
        : size <= kLargeSkew ? Health::kWarn
                             : Health::kFail,
        seen, size <= kSmallSkew ? "" : advice);
  }

  // A database and journals want a disk of this machine.
  void Place() {
    if (use_ == FolderUse::kStorage) return;
    if (!calls_.is_remote(folder_)) {
      Add("place", Health::kOk, "it lies on a disk of this machine");
    } else if (use_ == FolderUse::kStore) {
      Add("place", Health::kFail, folder_ + " lies on a network file system",
          "lay `store` on a disk of this machine: SQLite needs shared memory");
    } else {
      Add("place", Health::kFail, folder_ + " lies on a network file system",
          "lay `state_folder` on a disk of this machine: runs go on by it "
          "while storage is away");
    }
  }

  void Space() {
    const auto bytes = files_.FreeBytes(folder_);
    const std::string advice =
        "make room: ordo thin and ordo delete, or a "
        "larger disk";
    if (!Take("space", bytes.status(), advice)) return;
    const Health health = *bytes < kLeastFreeBytes ? Health::kFail
                          : *bytes < kFewFreeBytes ? Health::kWarn
                                                   : Health::kOk;
    Add("space", health,
        absl::StrFormat("%.1f GiB are free", static_cast<double>(*bytes) /
                                                 static_cast<double>(kGib)),
        health == Health::kOk ? "" : advice);
  }

  void FreeNames() {
    const auto count = calls_.free_files(folder_);
    const std::string advice =
        "make room for files (inodes): ordo delete, or "
        "a file system with more";
    if (!Take("files", count.status(), advice)) return;
    const Health health = *count < 0                 ? Health::kOk
                          : *count < kLeastFreeFiles ? Health::kFail
                          : *count < kFewFreeFiles   ? Health::kWarn
                                                     : Health::kOk;
    Add("files", health,
        *count < 0 ? std::string("files are not counted")
                   : absl::StrCat(*count, " more files may be made"),
        health == Health::kOk ? "" : advice);
  }

  const FolderCalls& calls_;
  base::Filesystem& files_;
  const std::string folder_;
  const FolderUse use_;
  const std::string inner_;
  Findings findings_;
};

}  // namespace

FolderCalls::FolderCalls(base::Filesystem& files, const base::Clock& clock)
    : files(files),
      clock(clock),
      lock([](const std::string& path) { return base::FileLock::Take(path); }),
      hard_link(HardLink),
      free_files(FreeFiles),
      is_remote(IsRemote) {}

Findings CheckFolder(const FolderCalls& calls, const std::string& folder,
                     FolderUse use) {
  return Checks(calls, folder, use).Run();
}

}  // namespace ordo::services::cli::doctor
