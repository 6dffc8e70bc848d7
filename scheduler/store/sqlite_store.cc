#include "scheduler/store/sqlite_store.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/files/file_lock.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/log/log.h"
#include "base/status/status.h"
#include "scheduler/store/meta.h"
#include "scheduler/store/past_names.h"
#include "scheduler/store/retirement.h"
#include "scheduler/store/row_reader.h"
#include "scheduler/store/row_writer.h"
#include "scheduler/store/schema.h"
#include "scheduler/store/sqlite.h"
#include "scheduler/store/sqlite_reader.h"
#include "scheduler/store/stored_specs.h"
#include "scheduler/store/wal.h"

namespace ordo::scheduler::store {
namespace {

class SqliteStore : public Store {
 public:
  // The lock and the database belong together: the lock is let go last.
  SqliteStore(std::unique_ptr<base::FileLock> lock,
              std::unique_ptr<Database> database,
              const DatabaseOptions& options)
      : lock_(std::move(lock)),
        database_(std::move(database)),
        options_(options),
        reader_(MakeSqliteReader(database_->path(), options, specs_)) {
    specs_->Open(reader_.get());
  }
  // Handles of specs may outlive it.
  ~SqliteStore() override { specs_->Close(); }

  absl::Status Prepare();
  absl::StatusOr<Contents> Load() override;
  absl::Status Commit(const std::vector<core::Record>& records) override;
  absl::Status Retire(const std::vector<std::string>& jobs,
                      const std::vector<core::RowPtr>& rows) override;
  Reader& reader() override { return *reader_; }
  bool MayBePast(const std::string& job) const override {
    return past_names_.MayHave(PastNames::Kind::kJob, job);
  }
  bool MayHaveMadePast(const std::string& request_id) const override {
    return past_names_.MayHave(PastNames::Kind::kRequest, request_id);
  }
  StoreSize Size() const override;

 private:
  // Runs `write` in a transaction.
  template <typename Write>
  absl::Status Transact(Write write);
  // That the job may have ended, if it is one that has.
  void NotePast(const core::Record& record);

  const std::unique_ptr<base::FileLock> lock_;
  const std::unique_ptr<Database> database_;
  const DatabaseOptions options_;
  std::unique_ptr<Statement> begin_, commit_, rollback_;
  std::unique_ptr<RowWriter> rows_;
  std::unique_ptr<Retirement> retirement_;
  PastNames past_names_;
  std::unique_ptr<PastNamesScan> past_names_scan_;
  const std::shared_ptr<StoredSpecs> specs_ = std::make_shared<StoredSpecs>();
  const std::unique_ptr<Reader> reader_;
};

StoreSize SqliteStore::Size() const {
  const std::string& path = database_->path();
  base::PosixFilesystem files;
  StoreSize size;
  if (const auto file = files.Stat(path); file.ok()) {
    size.database_bytes = static_cast<int64_t>(file->size_bytes);
  }
  if (const auto file = files.Stat(path + kLog); file.ok()) {
    size.wal_bytes = static_cast<int64_t>(file->size_bytes);
  }
  if (const auto room = files.FreeBytes(path); room.ok()) {
    size.free_bytes = static_cast<int64_t>(*room);
  }
  return size;
}

absl::Status SqliteStore::Prepare() {
  // First: a damaged file is not written to.
  ORDO_RETURN_IF_ERROR(database_->CheckPages());
  ORDO_RETURN_IF_ERROR(database_->Execute("PRAGMA journal_mode = WAL"));
  ORDO_RETURN_IF_ERROR(database_->Execute("PRAGMA synchronous = FULL"));
  ORDO_RETURN_IF_ERROR(PrepareSchema(*database_));
  ORDO_ASSIGN_OR_RETURN(begin_, database_->Prepare("BEGIN IMMEDIATE"));
  ORDO_ASSIGN_OR_RETURN(commit_, database_->Prepare("COMMIT"));
  ORDO_ASSIGN_OR_RETURN(rollback_, database_->Prepare("ROLLBACK"));
  ORDO_ASSIGN_OR_RETURN(rows_, RowWriter::Make(*database_, specs_));
  ORDO_ASSIGN_OR_RETURN(retirement_, Retirement::Make(*database_));
  ORDO_ASSIGN_OR_RETURN(past_names_scan_,
                        PastNamesScan::Make(*database_, past_names_));
  return absl::OkStatus();
}

absl::StatusOr<Contents> SqliteStore::Load() {
  Contents contents;
  DatabaseOptions options = options_;
  options.read_only = true;
  ORDO_ASSIGN_OR_RETURN(const auto other,
                        Database::Open(database_->path(), options));
  ORDO_ASSIGN_OR_RETURN(
      contents.records,
      ReadRecords(*database_, &contents.damage, specs_, other.get()));
  // Not below the clock: in a store that was restored, epochs which workers
  // have seen are unknown.
  ORDO_ASSIGN_OR_RETURN(const int64_t last, ReadMeta(*database_, kEpochKey));
  contents.epoch = std::max(last + 1, absl::ToUnixMicros(absl::Now()));
  ORDO_RETURN_IF_ERROR(WriteMeta(*database_, kEpochKey, contents.epoch));
  return contents;
}

template <typename Write>
absl::Status SqliteStore::Transact(Write write) {
  absl::Status status = begin_->Run();
  if (status.ok()) status = write();
  if (status.ok()) status = commit_->Run();
  if (status.ok()) return status;
  // The first error is the one that counts; SQLite may have rolled back itself.
  rollback_->Run().IgnoreError();
  rows_->Forget();
  return status;
}

void SqliteStore::NotePast(const core::Record& record) {
  const auto* job = std::get_if<core::JobPtr>(&record.value);
  if (job == nullptr || (*job)->end_ns == 0) return;
  past_names_.Add(PastNames::Kind::kJob, (*job)->id());
  past_names_.Add(PastNames::Kind::kRequest, (*job)->facts->request.id());
}

absl::Status SqliteStore::Commit(const std::vector<core::Record>& records) {
  if (records.empty()) return absl::OkStatus();
  // First, so that it says maybe to no fewer than are stored.
  for (const core::Record& record : records) NotePast(record);
  ORDO_RETURN_IF_ERROR(Transact([this, &records]() -> absl::Status {
    for (const core::Record& record : records) {
      ORDO_RETURN_IF_ERROR(rows_->Write(record));
    }
    return absl::OkStatus();
  }));
  rows_->NoteCommitted();
  // A little with each commit: a start does not wait for it.
  past_names_scan_->Step();
  return absl::OkStatus();
}

absl::Status SqliteStore::Retire(const std::vector<std::string>& jobs,
                                 const std::vector<core::RowPtr>& rows) {
  // Specs may go with them.
  rows_->Forget();
  return Transact([&]() -> absl::Status {
    for (const core::RowPtr& row : rows) {
      ORDO_RETURN_IF_ERROR(rows_->Write({row}));
    }
    return retirement_->Remove(jobs);
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> OpenSqliteStore(
    const SqliteStoreOptions& options) {
  const std::string& path = options.path;
  base::PosixFilesystem files;
  ORDO_RETURN_IF_ERROR(base::AddContext(files.MakeFolders(base::FolderOf(path)),
                                        "make the store's folder"));
  // A file of its own: SQLite would lose its locks on the store if this process
  // opened and closed that file otherwise.
  auto lock = base::FileLock::Take(path + ".lock");
  if (absl::IsFailedPrecondition(lock.status())) {
    return absl::FailedPreconditionError(absl::StrCat(
        "another scheduler uses the store ", path,
        "; stop it (ordo down), or name another store in the configuration"));
  }
  ORDO_RETURN_IF_ERROR(lock);
  ORDO_RETURN_IF_ERROR(CheckNotLost(files, path));
  const bool was_empty = IsEmptyFile(files, path);
  DatabaseOptions database_options;
  database_options.vfs = options.vfs;
  ORDO_ASSIGN_OR_RETURN(auto database, Database::Open(path, database_options));
  auto store = std::make_unique<SqliteStore>(
      *std::move(lock), std::move(database), database_options);
  ORDO_RETURN_IF_ERROR(store->Prepare());
  if (was_empty) {
    base::LogWarning(
        absl::StrCat("the store ", path, " was empty; starting without jobs"));
  }
  return std::unique_ptr<Store>(std::move(store));
}

}  // namespace ordo::scheduler::store
