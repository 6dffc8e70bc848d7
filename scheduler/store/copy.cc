#include "scheduler/store/copy.h"

#include <cerrno>
#include <set>
#include <unistd.h>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/files/file_lock.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/status/status.h"
#include "scheduler/store/damage.h"
#include "scheduler/store/ended_labels.h"
#include "scheduler/store/row_reader.h"
#include "scheduler/store/schema.h"
#include "scheduler/store/sqlite.h"
#include "scheduler/store/wal.h"

namespace ordo::scheduler::store {
namespace {

absl::Status RemoveIfThere(base::Filesystem& files, const std::string& path) {
  const absl::Status status = files.RemoveFile(path);
  return absl::IsNotFound(status) ? absl::OkStatus() : status;
}

absl::Status RequireFile(base::Filesystem& files, const std::string& path) {
  if (base::Exists(files, path)) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat("there is no file ", path));
}

// Makes labels that are not those of the jobs anew, and gives a warning then;
// but not where labels of jobs that cannot be read would go: they may be right.
absl::StatusOr<std::string> MendLabels(Database& database,
                                       const LabelCheck& check) {
  if (check.damage.empty()) return std::string();
  constexpr char kWrong[] =
      "the labels by which jobs that have ended are found were not those of "
      "the jobs, and ";
  if (check.num_unknown > 0) {
    return absl::StrCat(kWrong, "are in the copy as they were: there are ",
                        check.num_unknown, " of jobs that cannot be read; ",
                        check.damage.text());
  }
  ORDO_RETURN_IF_ERROR(RebuildLabels(database));
  return absl::StrCat(kWrong, "were made anew from them in the copy; ",
                      check.damage.text());
}

absl::StatusOr<CopyResult> CheckAndMend(Database& database) {
  CopyResult result;
  ORDO_RETURN_IF_ERROR(database.CheckPages());
  ORDO_RETURN_IF_ERROR(PrepareSchema(database));
  ORDO_ASSIGN_OR_RETURN(result.damaged_rows, FindDamagedRows(database));
  ORDO_ASSIGN_OR_RETURN(LabelCheck labels, CheckLabels(database));
  // A job is not to be read either where its spec is damaged or gone.
  std::set<std::string> known(result.damaged_rows.begin(),
                              result.damaged_rows.end());
  for (std::string& job : labels.unread_jobs) {
    if (known.insert(job).second) result.damaged_rows.push_back(std::move(job));
  }
  ORDO_ASSIGN_OR_RETURN(result.warning, MendLabels(database, labels));
  return result;
}

// DATA_LOSS when a copy has damaged rows.
absl::Status RequireWhole(const Origin& copy, const CopyResult& result) {
  Damage damage(copy);
  for (const std::string& row : result.damaged_rows) damage.AddRow(row);
  if (damage.empty()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(copy.name(), " is damaged; ",
                                          damage.text(), "; ", copy.advice(),
                                          ", or take it as it is: --damaged"));
}

// Copies a database, of that schema version at least, into a new file, which is
// of this version, durable and checked on return.
absl::StatusOr<CopyResult> CopyChecked(const Origin& from,
                                       const std::string& to, int oldest) {
  DatabaseOptions options;
  options.origin = from;
  options.read_only = true;
  ORDO_ASSIGN_OR_RETURN(const auto source, Database::Open(from.path, options));
  // Before all of it is copied.
  ORDO_RETURN_IF_ERROR(CheckSchema(*source, oldest));
  // What is damaged in the new file was so in the other.
  options.read_only = false;
  ORDO_ASSIGN_OR_RETURN(const auto copy, Database::Open(to, options));
  ORDO_RETURN_IF_ERROR(source->CopyTo(*copy));
  // One file, with nothing beside it.
  ORDO_RETURN_IF_ERROR(copy->Execute("PRAGMA journal_mode = DELETE"));
  return CheckAndMend(*copy);
}

// A second name for the file, if it is there.
absl::Status Link(const std::string& path, const std::string& name) {
  if (link(path.c_str(), name.c_str()) == 0 || errno == ENOENT) {
    return absl::OkStatus();
  }
  return base::SystemError(errno, absl::StrCat("keep ", path, " as ", name));
}

// Leaves the store under another name, beside its own.
absl::Status KeepAside(base::Filesystem& files, const std::string& store) {
  const std::string aside = store + ".before-restore";
  for (const std::string& kept : {aside, aside + kLog}) {
    if (!base::Exists(files, kept)) continue;
    return absl::AlreadyExistsError(
        absl::StrCat(kept,
                     " is there from an earlier restore; move it away or "
                     "remove it"));
  }
  // What is in the log goes into the file, unless it is damaged: then both are
  // kept as they are.
  if (CheckNotLost(files, store).ok()) {
    if (auto database = Database::Open(store); database.ok()) {
      (*database)->Execute("PRAGMA wal_checkpoint(TRUNCATE)").IgnoreError();
    }
  }
  ORDO_RETURN_IF_ERROR(Link(store + kLog, aside + kLog));
  return Link(store, aside);
}

absl::Status PutInPlace(base::Filesystem& files, const std::string& copy,
                        const std::string& store) {
  if (base::Exists(files, store) || !CheckNotLost(files, store).ok()) {
    ORDO_RETURN_IF_ERROR(KeepAside(files, store));
  }
  // Before the copy has its name: the log belongs to what was there.
  ORDO_RETURN_IF_ERROR(RemoveIfThere(files, store + kLog));
  ORDO_RETURN_IF_ERROR(RemoveIfThere(files, store + kLogIndex));
  ORDO_RETURN_IF_ERROR(files.Rename(copy, store));
  return files.SyncFolder(base::FolderOf(store));
}

}  // namespace

absl::StatusOr<CopyResult> BackUp(const std::string& store,
                                  const std::string& file) {
  base::PosixFilesystem files;
  ORDO_RETURN_IF_ERROR(CheckNotLost(files, store));
  ORDO_RETURN_IF_ERROR(RequireFile(files, store));
  if (base::Exists(files, file)) {
    return absl::AlreadyExistsError(
        absl::StrCat("there is a file ", file, "; name another"));
  }
  const std::string aside = file + ".new";
  ORDO_RETURN_IF_ERROR(RemoveIfThere(files, aside));
  absl::StatusOr<CopyResult> result =
      CopyChecked({store}, aside, kSchemaVersion);
  absl::Status status = result.status();
  if (status.ok()) status = files.Rename(aside, file);
  if (!status.ok()) {
    RemoveIfThere(files, aside).IgnoreError();
    return status;
  }
  ORDO_RETURN_IF_ERROR(files.SyncFolder(base::FolderOf(file)));
  return result;
}

absl::StatusOr<CopyResult> Restore(const std::string& file,
                                   const std::string& store,
                                   const RestoreOptions& options) {
  base::PosixFilesystem files;
  ORDO_RETURN_IF_ERROR(RequireFile(files, file));
  ORDO_RETURN_IF_ERROR(base::AddContext(
      files.MakeFolders(base::FolderOf(store)), "make the store's folder"));
  const auto lock = base::FileLock::Take(store + ".lock");
  if (absl::IsFailedPrecondition(lock.status())) {
    return absl::FailedPreconditionError(absl::StrCat(
        "a scheduler uses the store ", store, "; stop it first (ordo down)"));
  }
  ORDO_RETURN_IF_ERROR(lock);
  const std::string aside = store + ".new";
  ORDO_RETURN_IF_ERROR(RemoveIfThere(files, aside));
  const Origin origin{file, /*is_copy=*/true};
  absl::StatusOr<CopyResult> result =
      CopyChecked(origin, aside, kOldestSchemaVersion);
  absl::Status status = result.status();
  if (status.ok() && !options.take_damaged) {
    status = RequireWhole(origin, *result);
  }
  if (status.ok()) status = PutInPlace(files, aside, store);
  if (status.ok()) return result;
  RemoveIfThere(files, aside).IgnoreError();
  return status;
}

}  // namespace ordo::scheduler::store
