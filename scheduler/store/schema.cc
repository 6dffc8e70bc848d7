#include "scheduler/store/schema.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "scheduler/store/meta.h"
#include "scheduler/store/migration.h"

namespace ordo::scheduler::store {
namespace {

constexpr char kMetaTable[] =
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL, "
    "crc INTEGER NOT NULL) WITHOUT ROWID";

// A row a job, keyed by its sequence so that new ones go to the end of the
// tree; columns beside its body are there to find it by. Jobs that have not
// ended are in one index beside those of names and requests; all others are of
// those that have, so that a job enters them once. Each row has a checksum
// (checksum.h) over its values as they stand here.
constexpr char kTables[] = R"sql(
CREATE TABLE specs (
  id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, body BLOB NOT NULL,
  crc INTEGER NOT NULL);
CREATE TABLE jobs (
  sequence INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
  request_id TEXT NOT NULL, spec INTEGER NOT NULL, owner TEXT NOT NULL,
  queue TEXT NOT NULL, state INTEGER NOT NULL, end_ns INTEGER NOT NULL,
  body BLOB NOT NULL, crc INTEGER NOT NULL);
CREATE UNIQUE INDEX job_requests ON jobs (request_id) WHERE request_id <> '';
CREATE INDEX live_jobs ON jobs (sequence) WHERE end_ns = 0;
CREATE INDEX ended_jobs ON jobs (sequence) WHERE end_ns <> 0;
CREATE INDEX ended_states ON jobs (state, sequence) WHERE end_ns <> 0;
CREATE INDEX ended_owners ON jobs (owner, sequence) WHERE end_ns <> 0;
CREATE INDEX ended_queues ON jobs (queue, sequence) WHERE end_ns <> 0;
CREATE INDEX ended_times ON jobs (end_ns, sequence) WHERE end_ns <> 0;
CREATE INDEX job_specs ON jobs (spec);
CREATE TABLE retired (
  name TEXT PRIMARY KEY, request_id TEXT NOT NULL, state INTEGER NOT NULL,
  crc INTEGER NOT NULL) WITHOUT ROWID;
CREATE UNIQUE INDEX retired_requests ON retired (request_id)
  WHERE request_id <> '';
CREATE TABLE ended_labels (
  label TEXT NOT NULL, sequence INTEGER NOT NULL,
  PRIMARY KEY (label, sequence)) WITHOUT ROWID;
CREATE INDEX ended_label_jobs ON ended_labels (sequence);
CREATE TABLE checkpoints (
  name TEXT PRIMARY KEY, job TEXT NOT NULL, create_ns INTEGER NOT NULL,
  deleted INTEGER NOT NULL, body BLOB NOT NULL, crc INTEGER NOT NULL);
CREATE INDEX deleted_checkpoints ON checkpoints (name) WHERE deleted <> 0;
CREATE INDEX checkpoint_jobs ON checkpoints (job, create_ns, name);
CREATE INDEX checkpoint_times ON checkpoints (create_ns, name);
CREATE TABLE reports (
  name TEXT PRIMARY KEY, job TEXT NOT NULL, create_ns INTEGER NOT NULL,
  body BLOB NOT NULL, crc INTEGER NOT NULL);
CREATE INDEX report_jobs ON reports (job, create_ns, name);
CREATE INDEX report_times ON reports (create_ns, name);
CREATE TABLE other (
  kind INTEGER NOT NULL, key TEXT NOT NULL, body BLOB NOT NULL,
  crc INTEGER NOT NULL, PRIMARY KEY (kind, key)) WITHOUT ROWID;
)sql";

absl::Status WrongVersion(const Database& database, int64_t version) {
  return absl::FailedPreconditionError(
      absl::StrCat(database.origin().name(), " has schema version ", version,
                   " and this scheduler reads ", kSchemaVersion,
                   "; run the release that wrote it, or name another"));
}

absl::StatusOr<int64_t> Number(Database& database, const std::string& sql) {
  int64_t number = 0;
  ORDO_RETURN_IF_ERROR(ForEach(database, sql, [&number](const Statement& row) {
    number = row.Int(0);
    return absl::OkStatus();
  }));
  return number;
}

// Of a file whose table `meta` is there. Before version 3 its rows had no
// checksums; since then they are checked.
absl::StatusOr<int64_t> Version(Database& database) {
  ORDO_ASSIGN_OR_RETURN(const int64_t has_checksums,
                        Number(database,
                               "SELECT count(*) FROM pragma_table_info('meta') "
                               "WHERE name = 'crc'"));
  if (has_checksums != 0) {
    ORDO_RETURN_IF_ERROR(CheckMeta(database));
  }
  return Number(database,
                "SELECT value FROM meta WHERE key = 'schema_version'");
}

absl::Status MakeNew(Database& database) {
  ORDO_RETURN_IF_ERROR(database.Execute(kMetaTable));
  ORDO_RETURN_IF_ERROR(database.Execute(kTables));
  ORDO_RETURN_IF_ERROR(WriteMeta(database, kEpochKey, 0));
  ORDO_RETURN_IF_ERROR(WriteMeta(database, kLastSequenceKey, 0));
  return WriteMeta(database, kSchemaVersionKey, kSchemaVersion);
}

// An epoch and a last sequence of an earlier version go on.
absl::Status AddChecksums(Database& database) {
  ORDO_ASSIGN_OR_RETURN(
      const int64_t epoch,
      Number(database, "SELECT value FROM meta WHERE key = 'epoch'"));
  ORDO_ASSIGN_OR_RETURN(
      const int64_t last_sequence,
      Number(database, "SELECT value FROM meta WHERE key = 'last_sequence'"));
  ORDO_RETURN_IF_ERROR(database.Execute(
      "ALTER TABLE meta ADD COLUMN crc INTEGER NOT NULL DEFAULT 0"));
  ORDO_RETURN_IF_ERROR(WriteMeta(database, kEpochKey, epoch));
  ORDO_RETURN_IF_ERROR(WriteMeta(database, kLastSequenceKey, last_sequence));
  return WriteMeta(database, kSchemaVersionKey, kSchemaVersion);
}

absl::Status Prepare(Database& database) {
  ORDO_ASSIGN_OR_RETURN(
      const int64_t is_there,
      Number(database,
             "SELECT count(*) FROM sqlite_master WHERE name = 'meta'"));
  if (is_there == 0) return MakeNew(database);
  ORDO_ASSIGN_OR_RETURN(const int64_t version, Version(database));
  if (version == kSchemaVersion) return absl::OkStatus();
  if (version != 1 && version != 2) return WrongVersion(database, version);
  if (version == 1) {
    ORDO_RETURN_IF_ERROR(SetVersion1Aside(database));
    ORDO_RETURN_IF_ERROR(database.Execute(kTables));
    ORDO_RETURN_IF_ERROR(TakeVersion1Over(database));
  }
  return AddChecksums(database);
}

}  // namespace

absl::Status PrepareSchema(Database& database) {
  ORDO_RETURN_IF_ERROR(database.Execute("BEGIN IMMEDIATE"));
  absl::Status status = Prepare(database);
  if (status.ok()) status = database.Execute("COMMIT");
  // The first error is the one that counts; SQLite may have rolled back itself.
  if (!status.ok()) database.Execute("ROLLBACK").IgnoreError();
  return status;
}

absl::Status CheckSchema(Database& database, int oldest) {
  ORDO_ASSIGN_OR_RETURN(const int64_t version, Version(database));
  return version >= oldest && version <= kSchemaVersion
             ? absl::OkStatus()
             : WrongVersion(database, version);
}

}  // namespace ordo::scheduler::store
