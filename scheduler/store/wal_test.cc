#include "scheduler/store/wal.h"

#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::scheduler::store {
namespace {

using base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

class WalTest : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& bytes) {
    ORDO_ASSERT_OK(base::AtomicWrite(files_, folder_.Path(name), bytes));
  }
  absl::Status Check() { return CheckNotLost(files_, folder_.Path("ordo.db")); }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
};

TEST_F(WalTest, AnEmptyFileBesideALogIsDamage) {
  Write("ordo.db", "");
  Write("ordo.db-wal", "x");
  EXPECT_THAT(Check(), StatusIs(absl::StatusCode::kDataLoss,
                                HasSubstr("ordo.db-wal is not")));
}

TEST_F(WalTest, AFileThatIsGoneBesideALogIsDamage) {
  Write("ordo.db-wal", "x");
  EXPECT_THAT(Check(),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr("store " + folder_.Path("ordo.db") +
                                       " is damaged: it is gone"),
                             HasSubstr(folder_.Path("ordo.db-wal") + " is not"),
                             HasSubstr("restore FILE"),
                             HasSubstr("or move the log away"))));
}

TEST_F(WalTest, WithoutALogOrWithContentItIsNone) {
  ORDO_EXPECT_OK(Check());
  Write("ordo.db-wal", "");
  ORDO_EXPECT_OK(Check());
  Write("ordo.db", "");
  ORDO_EXPECT_OK(Check());
  Write("ordo.db", "content");
  Write("ordo.db-wal", "x");
  ORDO_EXPECT_OK(Check());
}

TEST_F(WalTest, OnlyAFileWithoutAByteIsEmpty) {
  EXPECT_FALSE(IsEmptyFile(files_, folder_.Path("a")));
  EXPECT_FALSE(IsEmptyFile(files_, folder_.Path("")));
  Write("a", "");
  EXPECT_TRUE(IsEmptyFile(files_, folder_.Path("a")));
  Write("a", "x");
  EXPECT_FALSE(IsEmptyFile(files_, folder_.Path("a")));
}

}  // namespace
}  // namespace ordo::scheduler::store
