#include "scheduler/store/migration.h"

#include <string>

#include "gmock/gmock.h"
#include "scheduler/core/present.h"
#include "scheduler/store/meta.h"
#include "scheduler/store/row_reader.h"
#include "scheduler/store/testing/old_tables.h"
#include "scheduler/store/testing/tables.h"

// A whole file of the first release is read in tests/releases.

namespace ordo::scheduler::store {
namespace {

using base::testing::IsOk;
using base::testing::IsOkAndHolds;
using base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

class MigrationTest : public testing::TablesTest {
 protected:
  MigrationTest() {
    Execute(testing::kMakeVersion1);
    jobs::v1::Job job;
    job.set_name("jobs/a");
    job.mutable_spec()->set_name("a");
    job.mutable_spec()->mutable_training()->set_steps(9);
    job.mutable_owner()->set_user("ada");
    job.set_sequence(3);
    job.set_version(2);
    job.add_attempts()->set_number(1);
    job_ = job;
    auto put = database_->Prepare(
        "INSERT INTO jobs VALUES (3, 'jobs/a', ?, 'request', 'print', 'w-1', "
        "5)");
    ORDO_EXPECT_OK(put);
    (*put)->BindBlob(1, job.SerializeAsString());
    ORDO_EXPECT_OK((*put)->Run());
    checkpoints::v1::Checkpoint checkpoint;
    checkpoint.set_name("jobs/a/checkpoints/5-1");
    put = database_->Prepare(
        "INSERT INTO checkpoints VALUES ('jobs/a/checkpoints/5-1', ?)");
    ORDO_EXPECT_OK(put);
    (*put)->BindBlob(1, checkpoint.SerializeAsString());
    ORDO_EXPECT_OK((*put)->Run());
  }

  jobs::v1::Job job_;
};

TEST_F(MigrationTest, EverythingIsTakenOver) {
  ASSERT_THAT(PrepareSchema(*database_), IsOk());
  ORDO_ASSERT_OK_AND_ASSIGN(const core::Records records,
                            ReadRecords(*database_));
  ASSERT_EQ(records.jobs.size(), 1u);
  const core::JobRecord& job = *records.jobs[0];
  EXPECT_EQ(core::Present(job)->SerializeAsString(), job_.SerializeAsString());
  EXPECT_EQ(job.facts->request.id(), "request");
  EXPECT_EQ(job.facts->request.fingerprint(), "print");
  EXPECT_EQ(job.incarnation.value(), "w-1");
  EXPECT_EQ(job.acknowledged_records, 5);
  ASSERT_EQ(records.checkpoints.size(), 1u);
  EXPECT_EQ(records.checkpoints[0]->name(), "jobs/a/checkpoints/5-1");
}

TEST_F(MigrationTest, TheEpochGoesOn) {
  ASSERT_THAT(PrepareSchema(*database_), IsOk());
  EXPECT_THAT(ReadMeta(*database_, kEpochKey), IsOkAndHolds(41));
  EXPECT_THAT(ReadMeta(*database_, kSchemaVersionKey),
              IsOkAndHolds(kSchemaVersion));
}

TEST_F(MigrationTest, TheOldTablesAreGone) {
  ASSERT_THAT(PrepareSchema(*database_), IsOk());
  EXPECT_EQ(Number("SELECT count(*) FROM sqlite_schema WHERE name LIKE '%\\_1' "
                   "ESCAPE '\\' AND type = 'table'"),
            0);
}

TEST_F(MigrationTest, RowsThatCannotBeReadAreNamedAndNothingIsChanged) {
  Execute("INSERT INTO jobs VALUES (7, 'jobs/b', x'ff', '', '', '', 0)");
  Execute("UPDATE checkpoints SET name = 'jobs/a/checkpoints/6-1'");
  EXPECT_THAT(PrepareSchema(*database_),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr("table jobs, sequence 7"),
                             HasSubstr("jobs/a/checkpoints/6-1"))));
  EXPECT_EQ(Number("SELECT value FROM meta WHERE key = 'schema_version'"), 1);
  EXPECT_EQ(Number("SELECT count(request_id) FROM jobs"), 2);
}

}  // namespace
}  // namespace ordo::scheduler::store
