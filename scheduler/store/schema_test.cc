#include "scheduler/store/schema.h"

#include "gmock/gmock.h"
#include "scheduler/store/testing/tables.h"

namespace ordo::scheduler::store {
namespace {

using base::testing::IsOk;
using base::testing::IsOkAndHolds;
using base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

class SchemaTest : public testing::TablesTest {};

TEST_F(SchemaTest, ANewFileGetsThisVersion) {
  EXPECT_THAT(PrepareSchema(*database_), IsOk());
  EXPECT_THAT(Meta(*database_, "schema_version"), IsOkAndHolds(kSchemaVersion));
  EXPECT_THAT(CheckSchema(*database_), IsOk());
}

TEST_F(SchemaTest, AFileOfThisVersionIsLeftAsItIs) {
  ORDO_ASSERT_OK(PrepareSchema(*database_));
  Execute("UPDATE meta SET value = 7 WHERE key = 'epoch'");
  EXPECT_THAT(PrepareSchema(*database_), IsOk());
  EXPECT_THAT(Meta(*database_, "epoch"), IsOkAndHolds(7));
}

TEST_F(SchemaTest, AFileOfALaterVersionIsRefused) {
  ORDO_ASSERT_OK(PrepareSchema(*database_));
  Execute("UPDATE meta SET value = 99 WHERE key = 'schema_version'");
  const auto refused =
      StatusIs(absl::StatusCode::kFailedPrecondition,
               AllOf(HasSubstr("99"), HasSubstr(folder_.Path("db"))));
  EXPECT_THAT(PrepareSchema(*database_), refused);
  EXPECT_THAT(CheckSchema(*database_), refused);
}

}  // namespace
}  // namespace ordo::scheduler::store
