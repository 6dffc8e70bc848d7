#include "scheduler/store/sqlite_store.h"

#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/status/status.h"
#include "scheduler/core/present.h"
#include "scheduler/core/state.h"
#include "scheduler/store/file_lock.h"
#include "scheduler/store/sqlite.h"

namespace ordo::scheduler::store {
namespace {

// Jobs are read as a whole and written one by one: a row per job, keyed by its
// sequence so that new ones go to the end of the tree.
constexpr char kTables[] = R"sql(
CREATE TABLE IF NOT EXISTS meta (
  key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS jobs (
  sequence INTEGER PRIMARY KEY, name TEXT NOT NULL, body BLOB NOT NULL,
  request_id TEXT NOT NULL, fingerprint TEXT NOT NULL,
  incarnation TEXT NOT NULL, acknowledged INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS checkpoints (
  name TEXT PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS reports (
  name TEXT PRIMARY KEY, body BLOB NOT NULL);
)sql";

class SqliteStore : public Store {
 public:
  // The lock and the database belong together: the lock is let go last.
  SqliteStore(std::string path, std::unique_ptr<FileLock> lock,
              std::unique_ptr<Database> database)
      : path_(std::move(path)),
        lock_(std::move(lock)),
        database_(std::move(database)) {}

  absl::Status Prepare();
  absl::StatusOr<Contents> Load() override;
  absl::Status Commit(const std::vector<core::Record>& records) override;

 private:
  absl::StatusOr<int64_t> Meta(const std::string& key);
  absl::Status CheckVersion();
  absl::Status LoadJobs(core::Records* records);
  template <typename T>
  absl::Status LoadNamed(const std::string& table,
                         std::vector<std::shared_ptr<const T>>* records);
  absl::Status Write(const core::Record& record);

  const std::string path_;
  const std::unique_ptr<FileLock> lock_;
  const std::unique_ptr<Database> database_;
  std::unique_ptr<Statement> begin_, commit_, rollback_;
  std::unique_ptr<Statement> put_job_, put_checkpoint_, put_report_;
};

absl::Status SqliteStore::CheckVersion() {
  ORDO_ASSIGN_OR_RETURN(const int64_t version, Meta("schema_version"));
  if (version == 0) {
    return database_->Execute(
        absl::StrCat("INSERT INTO meta VALUES ('schema_version', ",
                     kSchemaVersion, "), ('epoch', 0)"));
  }
  if (version == kSchemaVersion) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("store ", path_, " has schema version ", version,
                   " and this scheduler reads ", kSchemaVersion,
                   "; run the release that wrote it, or name another store"));
}

absl::Status SqliteStore::Prepare() {
  ORDO_RETURN_IF_ERROR(database_->Execute("PRAGMA journal_mode = WAL"));
  ORDO_RETURN_IF_ERROR(database_->Execute("PRAGMA synchronous = FULL"));
  ORDO_RETURN_IF_ERROR(database_->Execute(kTables));
  ORDO_RETURN_IF_ERROR(CheckVersion());
  const auto prepare = [this](const char* sql,
                              std::unique_ptr<Statement>* statement) {
    auto prepared = database_->Prepare(sql);
    if (!prepared.ok()) return prepared.status();
    *statement = *std::move(prepared);
    return absl::OkStatus();
  };
  ORDO_RETURN_IF_ERROR(prepare("BEGIN IMMEDIATE", &begin_));
  ORDO_RETURN_IF_ERROR(prepare("COMMIT", &commit_));
  ORDO_RETURN_IF_ERROR(prepare("ROLLBACK", &rollback_));
  ORDO_RETURN_IF_ERROR(prepare(
      "INSERT INTO jobs VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) "
      "ON CONFLICT (sequence) DO UPDATE SET body = ?3, incarnation = ?6, "
      "acknowledged = ?7",
      &put_job_));
  ORDO_RETURN_IF_ERROR(
      prepare("INSERT INTO checkpoints VALUES (?1, ?2) "
              "ON CONFLICT (name) DO UPDATE SET body = ?2",
              &put_checkpoint_));
  return prepare(
      "INSERT INTO reports VALUES (?1, ?2) "
      "ON CONFLICT (name) DO UPDATE SET body = ?2",
      &put_report_);
}

absl::StatusOr<int64_t> SqliteStore::Meta(const std::string& key) {
  ORDO_ASSIGN_OR_RETURN(
      auto query, database_->Prepare("SELECT value FROM meta WHERE key = ?"));
  query->BindText(1, key);
  ORDO_ASSIGN_OR_RETURN(const bool found, query->Step());
  return found ? query->Int(0) : 0;
}

absl::Status SqliteStore::LoadJobs(core::Records* records) {
  ORDO_ASSIGN_OR_RETURN(
      auto query,
      database_->Prepare("SELECT sequence, body, request_id, fingerprint, "
                         "incarnation, acknowledged FROM jobs "
                         "ORDER BY sequence"));
  core::SpecTable specs;
  while (true) {
    ORDO_ASSIGN_OR_RETURN(const bool found, query->Step());
    if (!found) return absl::OkStatus();
    core::StoredJob stored;
    if (!stored.job.ParseFromString(query->Bytes(1))) {
      return absl::DataLossError(
          absl::StrCat("store ", path_, ": the job of sequence ", query->Int(0),
                       " cannot be read"));
    }
    stored.request_id = query->Bytes(2);
    stored.fingerprint = query->Bytes(3);
    stored.incarnation = query->Bytes(4);
    stored.acknowledged_records = query->Int(5);
    records->jobs.push_back(core::RecordOf(std::move(stored), &specs));
  }
}

template <typename T>
absl::Status SqliteStore::LoadNamed(
    const std::string& table, std::vector<std::shared_ptr<const T>>* records) {
  ORDO_ASSIGN_OR_RETURN(
      auto query, database_->Prepare(absl::StrCat("SELECT name, body FROM ",
                                                  table, " ORDER BY name")));
  while (true) {
    ORDO_ASSIGN_OR_RETURN(const bool found, query->Step());
    if (!found) return absl::OkStatus();
    auto record = std::make_shared<T>();
    if (!record->ParseFromString(query->Bytes(1))) {
      return absl::DataLossError(absl::StrCat(
          "store ", path_, ": ", query->Bytes(0), " cannot be read"));
    }
    records->push_back(std::move(record));
  }
}

absl::StatusOr<Contents> SqliteStore::Load() {
  Contents contents;
  // Not below the clock: in a store that was restored, epochs which workers
  // have seen are unknown.
  ORDO_RETURN_IF_ERROR(database_->Execute(
      absl::StrCat("UPDATE meta SET value = max(value + 1, ",
                   absl::ToUnixMicros(absl::Now()), ") WHERE key = 'epoch'")));
  ORDO_ASSIGN_OR_RETURN(contents.epoch, Meta("epoch"));
  ORDO_RETURN_IF_ERROR(LoadJobs(&contents.records));
  ORDO_RETURN_IF_ERROR(LoadNamed("checkpoints", &contents.records.checkpoints));
  ORDO_RETURN_IF_ERROR(LoadNamed("reports", &contents.records.reports));
  return contents;
}

absl::Status SqliteStore::Write(const core::Record& record) {
  if (const auto* put = std::get_if<core::JobPtr>(&record.value)) {
    const core::JobRecord& job = **put;
    put_job_->BindInt(1, job.facts->sequence);
    put_job_->BindText(2, core::JobName(job.id()));
    put_job_->BindBlob(3, core::PresentedBytes(job));
    put_job_->BindText(4, job.facts->request_id);
    put_job_->BindText(5, job.facts->fingerprint);
    put_job_->BindText(6, job.incarnation);
    put_job_->BindInt(7, job.acknowledged_records);
    return put_job_->Run();
  }
  if (const auto* checkpoint =
          std::get_if<core::CheckpointPtr>(&record.value)) {
    put_checkpoint_->BindText(1, (*checkpoint)->name());
    put_checkpoint_->BindBlob(2, (*checkpoint)->SerializeAsString());
    return put_checkpoint_->Run();
  }
  const auto& report = std::get<core::ReportPtr>(record.value);
  put_report_->BindText(1, report->name());
  put_report_->BindBlob(2, report->SerializeAsString());
  return put_report_->Run();
}

absl::Status SqliteStore::Commit(const std::vector<core::Record>& records) {
  if (records.empty()) return absl::OkStatus();
  ORDO_RETURN_IF_ERROR(begin_->Run());
  absl::Status status;
  for (const core::Record& record : records) {
    status = Write(record);
    if (!status.ok()) break;
  }
  if (status.ok()) status = commit_->Run();
  // The first error is the one that counts; SQLite may have rolled back itself.
  if (!status.ok()) rollback_->Run().IgnoreError();
  return status;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> OpenSqliteStore(
    const std::string& path) {
  base::PosixFilesystem files;
  ORDO_RETURN_IF_ERROR(base::AddContext(files.MakeFolders(base::FolderOf(path)),
                                        "make the store's folder"));
  // A file of its own: SQLite would lose its locks on the store if this process
  // opened and closed that file otherwise.
  auto lock = FileLock::Take(path + ".lock");
  if (absl::IsFailedPrecondition(lock.status())) {
    return absl::FailedPreconditionError(absl::StrCat(
        "another scheduler uses the store ", path,
        "; stop it (ordo down), or name another store in the configuration"));
  }
  ORDO_RETURN_IF_ERROR(lock);
  ORDO_ASSIGN_OR_RETURN(auto database, Database::Open(path));
  auto store = std::make_unique<SqliteStore>(path, *std::move(lock),
                                             std::move(database));
  ORDO_RETURN_IF_ERROR(store->Prepare());
  return std::unique_ptr<Store>(std::move(store));
}

}  // namespace ordo::scheduler::store
