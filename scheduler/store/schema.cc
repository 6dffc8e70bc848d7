#include "scheduler/store/schema.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "scheduler/store/migration.h"

namespace ordo::scheduler::store {
namespace {

constexpr char kMeta[] =
    "CREATE TABLE IF NOT EXISTS meta ("
    "key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID";

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
      absl::StrCat("store ", database.path(), " has schema version ", version,
                   " and this scheduler reads ", kSchemaVersion,
                   "; run the release that wrote it, or name another store"));
}

absl::Status Prepare(Database& database) {
  ORDO_RETURN_IF_ERROR(database.Execute(kMeta));
  ORDO_ASSIGN_OR_RETURN(const int64_t version,
                        Meta(database, "schema_version"));
  if (version == kSchemaVersion) return absl::OkStatus();
  if (version != 0 && version != 1) return WrongVersion(database, version);
  if (version == 1) ORDO_RETURN_IF_ERROR(SetVersion1Aside(database));
  ORDO_RETURN_IF_ERROR(database.Execute(kTables));
  if (version == 1) ORDO_RETURN_IF_ERROR(TakeVersion1Over(database));
  // An epoch of an earlier version goes on.
  return database.Execute(
      absl::StrCat("INSERT INTO meta VALUES ('epoch', 0), ('last_sequence', 0) "
                   "ON CONFLICT DO NOTHING; "
                   "INSERT OR REPLACE INTO meta VALUES ('schema_version', ",
                   kSchemaVersion, ")"));
}

}  // namespace

absl::StatusOr<int64_t> Meta(Database& database, const std::string& key) {
  ORDO_ASSIGN_OR_RETURN(
      auto query, database.Prepare("SELECT value FROM meta WHERE key = ?"));
  query->BindText(1, key);
  ORDO_ASSIGN_OR_RETURN(const bool found, query->Step());
  return found ? query->Int(0) : 0;
}

absl::Status PrepareSchema(Database& database) {
  ORDO_RETURN_IF_ERROR(database.Execute("BEGIN IMMEDIATE"));
  absl::Status status = Prepare(database);
  if (status.ok()) status = database.Execute("COMMIT");
  // The first error is the one that counts; SQLite may have rolled back itself.
  if (!status.ok()) database.Execute("ROLLBACK").IgnoreError();
  return status;
}

absl::Status CheckSchema(Database& database) {
  ORDO_ASSIGN_OR_RETURN(const int64_t version,
                        Meta(database, "schema_version"));
  return version == kSchemaVersion ? absl::OkStatus()
                                   : WrongVersion(database, version);
}

}  // namespace ordo::scheduler::store
