#include "scheduler/core/spec_table.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::scheduler::core {
namespace {

jobs::v1::JobSpec MakeSpec(const std::string& name, int steps) {
  jobs::v1::JobSpec spec;
  spec.set_name(name);
  spec.mutable_training()->set_steps(steps);
  for (const char* key : {"a", "b", "c", "d"}) {
    (*spec.mutable_labels())[key] = key;
  }
  return spec;
}

TEST(SpecTableTest, JobsThatAskForTheSameShareOneSpecWithoutAName) {
  SpecTable table;
  const SpecPtr first = table.Share(MakeSpec("a", 5));
  EXPECT_EQ(table.Share(MakeSpec("b", 5)), first);
  EXPECT_NE(table.Share(MakeSpec("a", 6)), first);
  EXPECT_EQ(first->name(), "");
  EXPECT_EQ(first->training().steps(), 5);
}

TEST(SpecTableTest, ASpecThatNobodyUsesIsNotKept) {
  SpecTable table;
  std::weak_ptr<const jobs::v1::JobSpec> gone = table.Share(MakeSpec("a", 5));
  EXPECT_TRUE(gone.expired());
  EXPECT_EQ(table.Share(MakeSpec("a", 5))->training().steps(), 5);
}

}  // namespace
}  // namespace ordo::scheduler::core
