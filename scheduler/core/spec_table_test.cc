#include "scheduler/core/spec_table.h"

#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::scheduler::core {
namespace {

SpecPtr MakeSpec(int steps) {
  auto spec = std::make_shared<jobs::v1::JobSpec>();
  spec->mutable_training()->set_steps(steps);
  for (const char* key : {"a", "b", "c", "d"}) {
    (*spec->mutable_labels())[key] = key;
  }
  return spec;
}

TEST(SpecTableTest, JobsThatAskForTheSameShareOneSpec) {
  SpecTable table;
  const SpecPtr first = table.Share(MakeSpec(5));
  EXPECT_EQ(table.Share(MakeSpec(5)), first);
  EXPECT_NE(table.Share(MakeSpec(6)), first);
  EXPECT_EQ(first->training().steps(), 5);
}

TEST(SpecTableTest, WhoAsksWithTheSameObjectGetsTheSameAnswer) {
  SpecTable table;
  const SpecPtr first = table.Share(MakeSpec(5));
  const SpecPtr equal = MakeSpec(5);
  const SpecPtr again = equal;
  EXPECT_EQ(table.Share(equal), first);
  EXPECT_EQ(table.Share(again), first);
}

TEST(SpecTableTest, ASpecAtTheAddressOfAnotherThatIsGoneIsItsOwn) {
  SpecTable table;
  // Specs come and go: addresses are given out again.
  for (int i = 0; i < 100; ++i) {
    const SpecPtr spec = MakeSpec(i);
    const SpecPtr other_owner = spec;
    EXPECT_EQ(table.Share(spec)->training().steps(), i);
  }
}

TEST(SpecTableTest, ASpecThatNobodyUsesIsNotKept) {
  SpecTable table;
  std::weak_ptr<const jobs::v1::JobSpec> gone = table.Share(MakeSpec(5));
  EXPECT_TRUE(gone.expired());
  EXPECT_EQ(table.Share(MakeSpec(5))->training().steps(), 5);
}

TEST(SpecTableTest, NothingIsRememberedForEverOfSpecsThatNobodyUses) {
  SpecTable table;
  for (int i = 0; i < 5000; ++i) {
    const SpecPtr spec = MakeSpec(i);
    const SpecPtr other_owner = spec;
    table.Share(spec);
  }
  EXPECT_LE(table.size(), 1024u);
}

}  // namespace
}  // namespace ordo::scheduler::core
