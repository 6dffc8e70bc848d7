#include "scheduler/store/sqlite.h"

#include <sqlite3.h>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace ordo::scheduler::store {

absl::StatusOr<std::unique_ptr<Database>> Database::Open(
    const std::string& path) {
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &handle,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  std::unique_ptr<Database> database(new Database(handle, path));
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
  switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return absl::DataLossError(absl::StrCat(
          message,
          "; restore the file from a copy, or move it away to start "
          "with an empty store"));
    case SQLITE_FULL:
      return absl::ResourceExhaustedError(
          absl::StrCat(message, "; free space on its disk"));
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
      return absl::PermissionDeniedError(absl::StrCat(
          message, "; the scheduler's user must be able to write it"));
    default:
      return absl::UnavailableError(message);
  }
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

Statement::~Statement() { sqlite3_finalize(statement_); }

void Statement::BindInt(int parameter, int64_t value) {
  ORDO_CHECK(sqlite3_bind_int64(statement_, parameter, value) == SQLITE_OK)
      << sql_;
}

void Statement::BindText(int parameter, const std::string& value) {
  ORDO_CHECK(sqlite3_bind_text64(statement_, parameter, value.data(),
                                 value.size(), SQLITE_TRANSIENT,
                                 SQLITE_UTF8) == SQLITE_OK)
      << sql_;
}

void Statement::BindBlob(int parameter, const std::string& value) {
  ORDO_CHECK(sqlite3_bind_blob64(statement_, parameter, value.data(),
                                 value.size(), SQLITE_TRANSIENT) == SQLITE_OK)
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

int64_t Statement::Int(int column) const {
  return sqlite3_column_int64(statement_, column);
}

std::string Statement::Bytes(int column) const {
  const void* data = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return data == nullptr ? std::string()
                         : std::string(static_cast<const char*>(data),
                                       static_cast<size_t>(size));
}

}  // namespace ordo::scheduler::store
