#ifndef ORDO_SCHEDULER_STORE_TESTING_OLD_TABLES_H_
#define ORDO_SCHEDULER_STORE_TESTING_OLD_TABLES_H_

// Files of earlier schemas, for tests: SQL.

namespace ordo::scheduler::store::testing {

// Makes the tables of version 1 in an empty file.
inline constexpr char kMakeVersion1[] = R"sql(
CREATE TABLE meta (
  key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE jobs (
  sequence INTEGER PRIMARY KEY, name TEXT NOT NULL, body BLOB NOT NULL,
  request_id TEXT NOT NULL, fingerprint TEXT NOT NULL,
  incarnation TEXT NOT NULL, acknowledged INTEGER NOT NULL);
CREATE TABLE checkpoints (name TEXT PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE reports (name TEXT PRIMARY KEY, body BLOB NOT NULL);
INSERT INTO meta VALUES ('schema_version', 1), ('epoch', 41);
)sql";

// Makes a file of version 2, in which `meta` had no checksums, of one of
// version 3.
inline constexpr char kBackToVersion2[] = R"sql(
ALTER TABLE meta DROP COLUMN crc;
UPDATE meta SET value = 2 WHERE key = 'schema_version';
)sql";

}  // namespace ordo::scheduler::store::testing

#endif  // ORDO_SCHEDULER_STORE_TESTING_OLD_TABLES_H_
