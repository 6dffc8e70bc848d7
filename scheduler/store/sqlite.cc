#include "scheduler/store/sqlite.h"

#include <cerrno>
#include <sqlite3.h>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/check.h"

namespace ordo::scheduler::store {

namespace {

// Whether the disk is full although SQLite gave another name to it, as it does
// where the file that readers share or a sync fails.
bool IsFull(int code, sqlite3* handle) {
  if ((code & 0xff) == SQLITE_FULL) return true;
  if ((code & 0xff) != SQLITE_IOERR || handle == nullptr) return false;
  const int error = sqlite3_system_errno(handle);
  return error == ENOSPC || error == EDQUOT;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Database>> Database::Open(
    const std::string& path, const DatabaseOptions& options) {
  sqlite3* handle = nullptr;
  const int flags = options.read_only
                        ? SQLITE_OPEN_READONLY
                        : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  const int code =
      sqlite3_open_v2(path.c_str(), &handle, flags,
                      options.vfs.empty() ? nullptr : options.vfs.c_str());
  std::unique_ptr<Database> database(
      new Database(handle, path, options.origin.value_or(Origin{path})));
  if (code != SQLITE_OK) return database->Error(code, "open");
  // Readers such as the sqlite3 shell may hold a lock for a moment.
  sqlite3_busy_timeout(handle, 5000);
  return database;
}

Database::~Database() { sqlite3_close_v2(handle_); }

absl::Status Database::Error(int code, const std::string& attempted) const {
  const std::string message = absl::StrCat(
      "store ", path_, ": ", attempted, ": ",
      handle_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle_));
  if (IsFull(code, handle_)) {
    return absl::ResourceExhaustedError(
        absl::StrCat(message, "; free space on its disk"));
  }
  switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return Damaged(absl::StrCat(
          attempted, ": ",
          handle_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle_)));
    case SQLITE_CONSTRAINT:
      return absl::InternalError(message);
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
      return absl::PermissionDeniedError(absl::StrCat(
          message, "; the scheduler's user must be able to write it"));
    default:
      return absl::UnavailableError(message);
  }
}

absl::Status Database::Damaged(const std::string& what) const {
  return absl::DataLossError(absl::StrCat(
      origin_.name(), " is damaged: ", what, "; ", origin_.advice(),
      origin_.is_copy ? "" : "; or move it away to start with an empty store"));
}

absl::Status Database::Execute(const std::string& sql) {
  const int code =
      sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? absl::OkStatus() : Error(code, sql);
}

absl::StatusOr<std::unique_ptr<Statement>> Database::Prepare(
    const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v3(handle_, sql.c_str(), static_cast<int>(sql.size()),
                         SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return Error(code, sql);
  return std::unique_ptr<Statement>(new Statement(*this, statement, sql));
}

absl::Status Database::CopyTo(Database& target) {
  sqlite3_backup* copy =
      sqlite3_backup_init(target.handle_, "main", handle_, "main");
  if (copy == nullptr) {
    return target.Error(sqlite3_errcode(target.handle_), "begin a copy");
  }
  // All in one step: in steps it would begin again after each commit.
  const int code = sqlite3_backup_step(copy, -1);
  sqlite3_backup_finish(copy);
  if (code == SQLITE_DONE) return absl::OkStatus();
  return target.Error(code, absl::StrCat("copy ", path_));
}

absl::Status Database::CheckPages() {
  auto query = Prepare("PRAGMA quick_check(1)");
  if (!query.ok()) return query.status();
  const absl::StatusOr<bool> row = (*query)->Step();
  if (!row.ok()) return row.status();
  const std::string found = (*query)->Bytes(0);
  if (found == "ok") return absl::OkStatus();
  // It may have several lines; who reads a log reads the last.
  return Damaged(absl::StrReplaceAll(found, {{"\n", ", "}}));
}

Statement::~Statement() { sqlite3_finalize(statement_); }

void Statement::BindInt(int parameter, int64_t value) {
  ORDO_CHECK(sqlite3_bind_int64(statement_, parameter, value) == SQLITE_OK)
      << sql_;
}

void Statement::BindText(int parameter, std::string_view value) {
  // A null pointer would be NULL, not an empty value.
  const char* data = value.data() == nullptr ? "" : value.data();
  ORDO_CHECK(sqlite3_bind_text64(statement_, parameter, data, value.size(),
                                 SQLITE_TRANSIENT, SQLITE_UTF8) == SQLITE_OK)
      << sql_;
}

void Statement::BindBlob(int parameter, std::string_view value) {
  const char* data = value.data() == nullptr ? "" : value.data();
  ORDO_CHECK(sqlite3_bind_blob64(statement_, parameter, data, value.size(),
                                 SQLITE_TRANSIENT) == SQLITE_OK)
      << sql_;
}

absl::StatusOr<bool> Statement::Step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return database_.Error(code, sql_);
}

absl::Status Statement::Run() {
  const absl::StatusOr<bool> row = Step();
  Reset();
  return row.status();
}

void Statement::Reset() { sqlite3_reset(statement_); }

int Statement::num_columns() const { return sqlite3_column_count(statement_); }

std::string Statement::ColumnName(int column) const {
  return sqlite3_column_name(statement_, column);
}

bool Statement::IsInt(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_INTEGER;
}

int64_t Statement::Int(int column) const {
  return sqlite3_column_int64(statement_, column);
}

std::string Statement::Bytes(int column) const {
  return std::string(View(column));
}

std::string_view Statement::View(int column) const {
  const void* data = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return data == nullptr ? std::string_view()
                         : std::string_view(static_cast<const char*>(data),
                                            static_cast<size_t>(size));
}

}  // namespace ordo::scheduler::store
