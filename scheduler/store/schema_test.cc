#include "scheduler/store/schema.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "scheduler/store/meta.h"
#include "scheduler/store/testing/old_tables.h"
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
  EXPECT_THAT(ReadMeta(*database_, kSchemaVersionKey),
              IsOkAndHolds(kSchemaVersion));
  EXPECT_THAT(CheckSchema(*database_), IsOk());
}

TEST_F(SchemaTest, AFileOfThisVersionIsLeftAsItIs) {
  ORDO_ASSERT_OK(PrepareSchema(*database_));
  ORDO_ASSERT_OK(WriteMeta(*database_, kEpochKey, 7));
  EXPECT_THAT(PrepareSchema(*database_), IsOk());
  EXPECT_THAT(ReadMeta(*database_, kEpochKey), IsOkAndHolds(7));
}

TEST_F(SchemaTest, ADamagedVersionIsNoOther) {
  ORDO_ASSERT_OK(PrepareSchema(*database_));
  for (const int version : {1, 2, 99}) {
    Execute(absl::StrCat("UPDATE meta SET value = ", version,
                         " WHERE key = 'schema_version'"));
    EXPECT_THAT(PrepareSchema(*database_),
                StatusIs(absl::StatusCode::kDataLoss,
                         HasSubstr("table meta, key schema_version")));
  }
}

TEST_F(SchemaTest, NumbersOfVersion2GoOn) {
  ORDO_ASSERT_OK(PrepareSchema(*database_));
  Execute(testing::kBackToVersion2);
  Execute("UPDATE meta SET value = 5 WHERE key = 'epoch'");
  Execute("UPDATE meta SET value = 6 WHERE key = 'last_sequence'");
  EXPECT_THAT(PrepareSchema(*database_), IsOk());
  EXPECT_THAT(CheckSchema(*database_), IsOk());
  EXPECT_THAT(ReadMeta(*database_, kEpochKey), IsOkAndHolds(5));
  EXPECT_THAT(ReadMeta(*database_, kLastSequenceKey), IsOkAndHolds(6));
}

TEST_F(SchemaTest, AFileOfALaterVersionIsRefused) {
  ORDO_ASSERT_OK(PrepareSchema(*database_));
  ORDO_ASSERT_OK(WriteMeta(*database_, kSchemaVersionKey, 99));
  const auto refused =
      StatusIs(absl::StatusCode::kFailedPrecondition,
               AllOf(HasSubstr("99"), HasSubstr(folder_.Path("db"))));
  EXPECT_THAT(PrepareSchema(*database_), refused);
  EXPECT_THAT(CheckSchema(*database_), refused);
}

}  // namespace
}  // namespace ordo::scheduler::store
