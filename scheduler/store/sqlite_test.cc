#include "scheduler/store/sqlite.h"

#include <string>

#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::scheduler::store {
namespace {

using base::testing::IsOkAndHolds;
using base::testing::StatusIs;
using ::testing::HasSubstr;

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

TEST(SqliteTest, AFileThatCannotBeMadeIsRefused) {
  EXPECT_THAT(Database::Open("/nonexistent/folder/db"),
              StatusIs(absl::StatusCode::kPermissionDenied,
                       HasSubstr("/nonexistent/folder/db")));
}

}  // namespace
}  // namespace ordo::scheduler::store
