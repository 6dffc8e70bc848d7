#include "services/spec/references.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::services::spec {
namespace {

using ::testing::IsEmpty;
using Violations = std::vector<base::FieldViolation>;

TEST(ReferencesTest, LatestIsTheJobAlone) {
  Violations violations;
  std::string name = "jobs/a/checkpoints/latest";
  ResolveReference("start_from", &name, &violations);
  EXPECT_EQ(name, "jobs/a");
  EXPECT_THAT(violations, IsEmpty());
  name = "a";
  ResolveReference("start_from", &name, &violations);
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].field, "start_from");
}

TEST(ReferencesTest, FormsAreToldApart) {
  EXPECT_EQ(FormOf("jobs/a"), ReferenceForm::kJob);
  EXPECT_EQ(FormOf("jobs/a/checkpoints/20-1"), ReferenceForm::kCheckpoint);
  EXPECT_EQ(FormOf("jobs/a/checkpoints/latest"), ReferenceForm::kCheckpoint);
  EXPECT_EQ(FormOf("jobs/a/reports/grid-20"), ReferenceForm::kReport);
  EXPECT_EQ(FormOf("aliases/main"), ReferenceForm::kAlias);
  for (const char* name :
       {"", "a", "jobs", "jobs/", "jobs/A", "workers/w", "jobs/a/checkpoints",
        "jobs/a/checkpoints/x", "jobs/a/reports/", "jobs/a/reports/..",
        "jobs/a/reports/x/y", "jobs/a/reports/x y"}) {
    EXPECT_EQ(FormOf(name), ReferenceForm::kNone) << name;
  }
}

TEST(ReferencesTest, AReportMayStandWhereASubjectMay) {
  Violations violations;
  std::string name = "jobs/a/reports/grid-20";
  ResolveSubject("gate.baseline", &name, &violations);
  EXPECT_EQ(name, "jobs/a/reports/grid-20");
  std::string latest = "jobs/a/checkpoints/latest";
  ResolveSubject("gate.baseline", &latest, &violations);
  EXPECT_EQ(latest, "jobs/a");
  EXPECT_THAT(violations, IsEmpty());
  ResolveReference("start_from", &name, &violations);
  ASSERT_EQ(violations.size(), 1u);
}

TEST(ReferencesTest, AnAliasStaysAsItIs) {
  Violations violations;
  std::string name = "aliases/main";
  EXPECT_TRUE(NamesAlias(name));
  ResolveReference("start_from", &name, &violations);
  ResolveModelFrom(&name, &violations);
  EXPECT_EQ(name, "aliases/main");
  EXPECT_THAT(violations, IsEmpty());
  EXPECT_FALSE(NamesAlias("jobs/a"));
  for (const char* wrong : {"aliases/", "aliases/Main", "aliases/a/b"}) {
    name = wrong;
    violations.clear();
    ResolveReference("start_from", &name, &violations);
    EXPECT_EQ(violations.size(), 1u) << wrong;
  }
}

TEST(ReferencesTest, LastIsTheLatest) {
  Violations violations;
  std::string name = "jobs/a/checkpoints/last";
  ResolveReference("start_from", &name, &violations);
  EXPECT_EQ(name, "jobs/a");
  EXPECT_THAT(violations, IsEmpty());
}

TEST(ReferencesTest, TheBestMayStandWhereverACheckpointMay) {
  Violations violations;
  std::string name = "jobs/a/checkpoints/best";
  ResolveReference("start_from", &name, &violations);
  ResolveEvaluated("checkpoints[0]", &name, &violations);
  ResolveSubject("gate.baseline", &name, &violations);
  ResolveModelFrom(&name, &violations);
  EXPECT_EQ(name, "jobs/a/checkpoints/best");
  EXPECT_THAT(violations, IsEmpty());
  EXPECT_TRUE(NamesBest(name));
  EXPECT_FALSE(NamesBest("jobs/a"));
  name = "jobs/A/checkpoints/best";
  EXPECT_FALSE(NamesBest(name));
  ResolveEvaluated("checkpoints[0]", &name, &violations);
  EXPECT_EQ(violations.size(), 1u);
}

TEST(ReferencesTest, OnlyWhatIsEvaluatedMayBeAll) {
  Violations violations;
  std::string name = "jobs/a/checkpoints/every";
  ResolveEvaluated("checkpoints[0]", &name, &violations);
  EXPECT_EQ(name, "jobs/a/checkpoints/every");
  EXPECT_THAT(violations, IsEmpty());
  ResolveReference("start_from", &name, &violations);
  EXPECT_EQ(violations.size(), 1u);
  EXPECT_TRUE(NamesEvery("jobs/a/checkpoints/every"));
  EXPECT_FALSE(NamesEvery("jobs/every"));
}

TEST(ReferencesTest, AModelMayBeFromAJobByItsName) {
  Violations violations;
  std::string name = "a";
  ResolveModelFrom(&name, &violations);
  EXPECT_EQ(name, "jobs/a");
  EXPECT_THAT(violations, IsEmpty());
}

}  // namespace
}  // namespace ordo::services::spec
