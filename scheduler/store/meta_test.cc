#include "scheduler/store/meta.h"

#include "gmock/gmock.h"
#include "scheduler/store/testing/tables.h"

namespace ordo::scheduler::store {
namespace {

using base::testing::IsOk;
using base::testing::IsOkAndHolds;
using base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

class MetaTest : public testing::TablesTest {
 protected:
  MetaTest() { ORDO_EXPECT_OK(PrepareSchema(*database_)); }
};

TEST_F(MetaTest, ANumberComesBack) {
  ORDO_ASSERT_OK(WriteMeta(*database_, kEpochKey, 41));
  ORDO_ASSERT_OK(WriteMeta(*database_, kEpochKey, 42));
  EXPECT_THAT(ReadMeta(*database_, kEpochKey), IsOkAndHolds(42));
  EXPECT_THAT(CheckMeta(*database_), IsOk());
}

TEST_F(MetaTest, EachThatIsDamagedOrGoneIsNamed) {
  Execute("UPDATE meta SET value = value + 1 WHERE key = 'epoch'");
  Execute("DELETE FROM meta WHERE key = 'last_sequence'");
  EXPECT_THAT(ReadMeta(*database_, kEpochKey),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("table meta, key epoch")));
  EXPECT_THAT(CheckMeta(*database_),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr("table meta, key epoch"),
                             HasSubstr("table meta, key last_sequence"))));
}

}  // namespace
}  // namespace ordo::scheduler::store
