#include "scheduler/store/row_writer.h"

#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "scheduler/core/present.h"
#include "scheduler/store/row_reader.h"
#include "scheduler/store/stored_specs.h"
#include "scheduler/store/testing/records.h"
#include "scheduler/store/testing/tables.h"

namespace ordo::scheduler::store {
namespace {

using testing::JobRecord;

class RowWriterTest : public testing::TablesTest {
 protected:
  RowWriterTest() { ORDO_EXPECT_OK(PrepareSchema(*database_)); }
};

TEST_F(RowWriterTest, ASpecIsStoredOncePerDigest) {
  // Jobs 1 and 4 ask for the same.
  Write({JobRecord(1, "a"), JobRecord(2, "b"), JobRecord(4, "d")});
  EXPECT_EQ(Number("SELECT count(*) FROM specs"), 2);
  EXPECT_EQ(Number("SELECT count(DISTINCT spec) FROM jobs"), 2);
}

TEST_F(RowWriterTest, ASpecOfAnEarlierLifeIsFound) {
  Write({JobRecord(1, "a")});
  Write({JobRecord(4, "d")});
  EXPECT_EQ(Number("SELECT count(*) FROM specs"), 1);
}

TEST_F(RowWriterTest, ADamagedSpecIsWrittenAgainBeforeAJobNamesIt) {
  for (const char* damage : {"crc = 0", "body = x'00'"}) {
    Write({JobRecord(1, "a")});
    Execute(absl::StrCat("UPDATE specs SET ", damage));
    Write({JobRecord(4, "d")});
    EXPECT_THAT(FindDamagedRows(*database_),
                base::testing::IsOkAndHolds(::testing::IsEmpty()))
        << damage;
    EXPECT_EQ(Number("SELECT count(*) FROM specs"), 1);
    Execute("DELETE FROM jobs");
  }
}

TEST_F(RowWriterTest, TheOrderOfMapsMakesNoOtherSpec) {
  std::vector<core::Record> records;
  for (int i = 1; i <= 20; ++i) {
    core::StoredJob stored;
    stored.job.set_sequence(i);
    stored.job.mutable_spec()->set_name(absl::StrCat("job-", i));
    for (int label = 0; label < 20; ++label) {
      (*stored.job.mutable_spec()
            ->mutable_labels())[absl::StrCat((label + i) % 20)] = "x";
    }
    core::SpecTable specs;
    records.push_back({core::RecordOf(std::move(stored), &specs)});
  }
  Write(records);
  EXPECT_EQ(Number("SELECT count(*) FROM specs"), 1);
}

TEST_F(RowWriterTest, SpecsThatWereRolledBackAreWrittenAgain) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto writer, RowWriter::Make(*database_));
  const core::Record job = JobRecord(1, "a");
  Execute("BEGIN");
  ORDO_ASSERT_OK(writer->Write(job));
  Execute("ROLLBACK");
  writer->Forget();
  ORDO_ASSERT_OK(writer->Write(job));
  EXPECT_EQ(Number("SELECT count(*) FROM jobs JOIN specs ON spec = id"), 1);
}

TEST_F(RowWriterTest, AJobKnowsItsSpecByNumberOnceThatIsCommitted) {
  const auto specs = std::make_shared<StoredSpecs>();
  ORDO_ASSERT_OK_AND_ASSIGN(const auto writer,
                            RowWriter::Make(*database_, specs));
  const core::Record record = JobRecord(2, "b");
  const core::SpecHandle& spec =
      *std::get<core::JobPtr>(record.value)->facts->spec;
  Execute("BEGIN");
  ORDO_ASSERT_OK(writer->Write(record));
  Execute("ROLLBACK");
  writer->Forget();
  writer->NoteCommitted();
  EXPECT_EQ(spec.IdIn(specs.get()), std::nullopt);
  spec.LetGo();
  ORDO_ASSERT_OK(writer->Write(record));
  writer->NoteCommitted();
  EXPECT_EQ(spec.IdIn(specs.get()), Number("SELECT spec FROM jobs"));
  // It is written again, without its spec, which nobody can read here.
  spec.LetGo();
  Execute("DELETE FROM jobs");
  ORDO_ASSERT_OK(writer->Write(record));
  EXPECT_EQ(Number("SELECT count(*) FROM jobs JOIN specs ON spec = id"), 1);
}

TEST_F(RowWriterTest, TheNumberOfASpecIsNotGivenAgain) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto writer, RowWriter::Make(*database_));
  ORDO_ASSERT_OK(writer->Write(JobRecord(1, "a")));
  EXPECT_EQ(Number("SELECT id FROM specs"), 1);
  Execute("DELETE FROM jobs; DELETE FROM specs");
  writer->Forget();
  ORDO_ASSERT_OK(writer->Write(JobRecord(2, "b")));
  EXPECT_EQ(Number("SELECT id FROM specs"), 2);
}

TEST_F(RowWriterTest, ManySpecsThatAreGoneAreForgotten) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto writer, RowWriter::Make(*database_));
  Execute("BEGIN");
  // Each has a spec of its own, at an address that another had.
  for (int i = 1; i <= 5000; ++i) {
    core::StoredJob stored;
    stored.job.set_sequence(i);
    stored.job.mutable_spec()->set_name(absl::StrCat("job-", i));
    stored.job.mutable_spec()->mutable_training()->set_steps(i);
    core::SpecTable specs;
    ORDO_ASSERT_OK(writer->Write({core::RecordOf(std::move(stored), &specs)}));
  }
  Execute("COMMIT");
  EXPECT_EQ(Number("SELECT count(DISTINCT spec) FROM jobs"), 5000);
}

TEST_F(RowWriterTest, TwoJobsOfOneNameAreABugOfOurs) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto writer, RowWriter::Make(*database_));
  ORDO_ASSERT_OK(writer->Write(JobRecord(1, "a")));
  EXPECT_THAT(writer->Write(JobRecord(2, "a")),
              base::testing::StatusIs(absl::StatusCode::kInternal));
}

}  // namespace
}  // namespace ordo::scheduler::store
