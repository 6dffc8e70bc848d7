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

TEST(ReferencesTest, AModelMayBeFromAJobByItsName) {
  Violations violations;
  std::string name = "a";
  ResolveModelFrom(&name, &violations);
  EXPECT_EQ(name, "jobs/a");
  EXPECT_THAT(violations, IsEmpty());
}

}  // namespace
}  // namespace ordo::services::spec
