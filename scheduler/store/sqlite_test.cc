#include "scheduler/store/sqlite.h"

#include <string>

#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::scheduler::store {
namespace {

using base::testing::IsOkAndHolds;
using base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(SqliteTest, ValuesComeBackAsTheyWereBound) {
  base::testing::TemporaryFolder folder;
  ORDO_ASSERT_OK_AND_ASSIGN(auto database, Database::Open(folder.Path("db")));
  ORDO_ASSERT_OK(database->Execute("CREATE TABLE t (a, b, c)"));
  ORDO_ASSERT_OK_AND_ASSIGN(
      auto insert, database->Prepare("INSERT INTO t VALUES (?, ?, ?)"));
  const std::string bytes("\0x\xff", 3);
  insert->BindInt(1, -5'000'000'000);
  insert->BindText(2, "text");
  insert->BindBlob(3, bytes);
  ORDO_ASSERT_OK(insert->Run());
  ORDO_ASSERT_OK_AND_ASSIGN(auto query,
                            database->Prepare("SELECT a, b, c FROM t"));
  EXPECT_THAT(query->Step(), IsOkAndHolds(true));
  EXPECT_EQ(query->Int(0), -5'000'000'000);
  EXPECT_EQ(query->Bytes(1), "text");
  EXPECT_EQ(query->Bytes(2), bytes);
  EXPECT_THAT(query->Step(), IsOkAndHolds(false));
}

TEST(SqliteTest, AnErrorNamesTheFileAndTheStatement) {
  base::testing::TemporaryFolder folder;
  ORDO_ASSERT_OK_AND_ASSIGN(auto database, Database::Open(folder.Path("db")));
  EXPECT_THAT(
      database->Execute("SELECT * FROM nowhere"),
      StatusIs(absl::StatusCode::kUnavailable, HasSubstr(folder.Path("db"))));
  EXPECT_THAT(database->Prepare("SELECT * FROM nowhere"),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("nowhere")));
}

TEST(SqliteTest, DamageOfPagesIsToldInOneLineThatBeginsWithTheStore) {
  base::testing::TemporaryFolder folder;
  base::PosixFilesystem files;
  const std::string path = folder.Path("db");
  {
    ORDO_ASSERT_OK_AND_ASSIGN(auto database, Database::Open(path));
    ORDO_ASSERT_OK(database->Execute(
        "CREATE TABLE t (a); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL "
        "SELECT i + 1 FROM n WHERE i < 2000) "
        "INSERT INTO t SELECT printf('%050d', i) FROM n"));
  }
  ORDO_ASSERT_OK_AND_ASSIGN(std::string bytes,
                            base::ReadFile(files, path, 1 << 20));
  // The header of a leaf page.
  bytes.replace(4 * 4096, 64, std::string(64, '\xff'));
  ORDO_ASSERT_OK(base::AtomicWrite(files, path, bytes));
  ORDO_ASSERT_OK_AND_ASSIGN(auto database, Database::Open(path));
  EXPECT_THAT(database->CheckPages(),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(StartsWith("store " + path + " is damaged: "),
                             HasSubstr("Page 5"), Not(HasSubstr("\n")))));
}

TEST(SqliteTest, AFileThatCannotBeMadeIsRefused) {
  EXPECT_THAT(Database::Open("/nonexistent/folder/db"),
              StatusIs(absl::StatusCode::kPermissionDenied,
                       HasSubstr("/nonexistent/folder/db")));
}

}  // namespace
}  // namespace ordo::scheduler::store
