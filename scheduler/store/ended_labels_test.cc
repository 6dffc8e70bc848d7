#include "scheduler/store/ended_labels.h"

#include <string>

#include "gmock/gmock.h"
#include "scheduler/store/testing/records.h"
#include "scheduler/store/testing/tables.h"

namespace ordo::scheduler::store {
namespace {

using base::testing::IsOk;
using base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class EndedLabelsTest : public testing::TablesTest {
 protected:
  EndedLabelsTest() {
    ORDO_EXPECT_OK(PrepareSchema(*database_));
    testing::EndedJob labelled;
    labelled.labels = {{"k", "v"}, {"team", "a"}};
    Write({testing::JobRecord(4, "d"),
           testing::EndedJobRecord(5, "e", labelled),
           testing::EndedJobRecord(6, "f", labelled)});
  }
  absl::Status Found() {
    const auto check = CheckLabels(*database_);
    return check.ok() ? check->damage.status() : check.status();
  }
};

TEST_F(EndedLabelsTest, ALabelThatIsNotItsJobsIsNamed) {
  EXPECT_THAT(Found(), IsOk());
  Execute(
      "UPDATE ended_labels SET label = 'k=w' WHERE label = 'k=v' AND "
      "sequence = 5");
  EXPECT_THAT(Found(),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("table ended_labels, label k=v sequence 5")));
}

TEST_F(EndedLabelsTest, RowsThatNoJobHasAreCounted) {
  Execute("INSERT INTO ended_labels VALUES ('k=v', 77), ('k=v', 4)");
  EXPECT_THAT(Found(), StatusIs(absl::StatusCode::kDataLoss,
                                HasSubstr("2 rows that no job")));
}

TEST_F(EndedLabelsTest, AllAreMadeFromTheJobs) {
  Execute("UPDATE ended_labels SET sequence = sequence + 100");
  Execute("DELETE FROM ended_labels WHERE label = 'k=v'");
  EXPECT_THAT(RebuildLabels(*database_), IsOk());
  EXPECT_THAT(Found(), IsOk());
  EXPECT_EQ(Number("SELECT count(*) FROM ended_labels"), 4);
}

TEST_F(EndedLabelsTest, APartIsFoundByItsParentLikeByALabel) {
  testing::EndedJob part;
  part.parent = "s";
  Write({testing::EndedJobRecord(7, "g", part)});
  EXPECT_THAT(Found(), IsOk());
  EXPECT_EQ(Number("SELECT sequence FROM ended_labels WHERE label = '=s'"), 7);
  Execute("DELETE FROM ended_labels WHERE label = '=s'");
  EXPECT_THAT(Found(), StatusIs(absl::StatusCode::kDataLoss,
                                HasSubstr("label =s sequence 7")));
}

TEST_F(EndedLabelsTest, LabelsOfAJobThatCannotBeReadAreNotCalledWrong) {
  // It may have ended, whatever its row says.
  for (const char* damage :
       {"UPDATE jobs SET crc = 0 WHERE sequence = 6",
        "UPDATE jobs SET end_ns = 0 WHERE sequence = 6",
        "DELETE FROM specs WHERE id = (SELECT spec FROM jobs WHERE sequence = "
        "6)"}) {
    Execute("SAVEPOINT whole");
    Execute(damage);
    ORDO_ASSERT_OK_AND_ASSIGN(const LabelCheck check, CheckLabels(*database_));
    EXPECT_TRUE(check.damage.empty()) << damage << check.damage.text();
    EXPECT_THAT(check.unread_jobs, ElementsAre("table jobs, sequence 6"))
        << damage;
    EXPECT_EQ(check.num_unknown, 2) << damage;
    Execute("ROLLBACK TO whole; RELEASE whole");
  }
}

TEST_F(EndedLabelsTest, OnlyThoseOfJobsThatCanBeReadAreMade) {
  Execute("DELETE FROM ended_labels");
  Execute("UPDATE jobs SET crc = 0 WHERE sequence = 6");
  EXPECT_THAT(RebuildLabels(*database_), IsOk());
  EXPECT_EQ(Number("SELECT count(*) FROM ended_labels WHERE sequence = 5"), 2);
  EXPECT_EQ(Number("SELECT count(*) FROM ended_labels"), 2);
}

}  // namespace
}  // namespace ordo::scheduler::store
