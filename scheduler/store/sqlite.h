#ifndef ORDO_SCHEDULER_STORE_SQLITE_H_
#define ORDO_SCHEDULER_STORE_SQLITE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/store/damage.h"

struct sqlite3;
struct sqlite3_stmt;

// SQLite with statuses instead of codes. Not thread-safe.

namespace ordo::scheduler::store {

class Statement;

struct DatabaseOptions {
  // Not changed, nor made when it is missing.
  bool read_only = false;
  // Name of the SQLite VFS below it; empty: the default one.
  std::string vfs;
  // What messages of damage name. Not set: the file, as a store.
  std::optional<Origin> origin;
};

// An open database. Outlives its statements.
class Database {
 public:
  // Makes the file when it is missing. Errors, here and below, name the file:
  // DATA_LOSS for a damaged one, by its origin, RESOURCE_EXHAUSTED for a full
  // disk, PERMISSION_DENIED where it may not be opened or written, INTERNAL for
  // a constraint that does not hold, else UNAVAILABLE.
  static absl::StatusOr<std::unique_ptr<Database>> Open(
      const std::string& path, const DatabaseOptions& options = {});
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Runs statements that give nothing back.
  absl::Status Execute(const std::string& sql);
  absl::StatusOr<std::unique_ptr<Statement>> Prepare(const std::string& sql);
  // Copies all of it, as it is at one moment, over what `target` holds. Others
  // may read and write it meanwhile.
  absl::Status CopyTo(Database& target);
  // DATA_LOSS, with what SQLite says, unless the pages and rows of the file fit
  // together. Reads all of it.
  absl::Status CheckPages();

  const std::string& path() const { return path_; }
  const Origin& origin() const { return origin_; }

 private:
  friend class Statement;
  Database(sqlite3* handle, std::string path, Origin origin)
      : handle_(handle), path_(std::move(path)), origin_(std::move(origin)) {}
  absl::Status Damaged(const std::string& what) const;
  absl::Status Error(int code, const std::string& attempted) const;

  sqlite3* handle_;
  const std::string path_;
  const Origin origin_;
};

// A prepared statement. Parameters and columns count from 1 and 0, as in
// SQLite.
class Statement {
 public:
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // Values of the next run. Bound data is copied.
  void BindInt(int parameter, int64_t value);
  void BindText(int parameter, std::string_view value);
  void BindBlob(int parameter, std::string_view value);

  // The next row: false when there is none. Starts a run when none is on.
  absl::StatusOr<bool> Step();
  // Runs to the end and makes the statement ready for the next run.
  absl::Status Run();
  // Ends a run.
  void Reset();

  // Of the current row.
  int num_columns() const;
  std::string ColumnName(int column) const;
  bool IsInt(int column) const;
  int64_t Int(int column) const;
  std::string Bytes(int column) const;
  // The same without a copy; until the next call.
  std::string_view View(int column) const;

 private:
  friend class Database;
  Statement(Database& database, sqlite3_stmt* statement, std::string sql)
      : database_(database), statement_(statement), sql_(std::move(sql)) {}

  Database& database_;
  sqlite3_stmt* statement_;
  const std::string sql_;
};

// Runs a bound query to its end, or until `take`, which is called with each
// row, gives an error; the statement is ready for the next run then.
template <typename Take>
absl::Status ForEach(Statement& query, Take take) {
  absl::Status status;
  while (status.ok()) {
    const absl::StatusOr<bool> found = query.Step();
    status = found.status();
    if (!found.ok() || !*found) break;
    status = take(query);
  }
  query.Reset();
  return status;
}

// The same of a query without parameters.
template <typename Take>
absl::Status ForEach(Database& database, const std::string& sql, Take take) {
  const absl::StatusOr<std::unique_ptr<Statement>> query =
      database.Prepare(sql);
  return query.ok() ? ForEach(**query, std::move(take)) : query.status();
}

}  // namespace ordo::scheduler::store

#endif  // ORDO_SCHEDULER_STORE_SQLITE_H_
