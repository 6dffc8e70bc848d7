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
// tree; columns beside its body are there to find it by. Each row has the
// CRC32C of its table, key and values (rows.h).
constexpr char kTables[] = R"sql(
CREATE TABLE specs (
  id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, body BLOB NOT NULL,
  crc INTEGER NOT NULL);
CREATE TABLE jobs (
  sequence INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
  spec INTEGER NOT NULL, body BLOB NOT NULL, crc INTEGER NOT NULL);
CREATE TABLE checkpoints (
  name TEXT PRIMARY KEY, body BLOB NOT NULL, crc INTEGER NOT NULL);
CREATE TABLE reports (
  name TEXT PRIMARY KEY, body BLOB NOT NULL, crc INTEGER NOT NULL);
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
  return database.Execute(absl::StrCat(
      "INSERT INTO meta VALUES ('schema_version', ", kSchemaVersion,
      "), ('epoch', 0) ON CONFLICT (key) DO UPDATE"
      " SET value = excluded.value WHERE key <> 'epoch'"));
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
