#include "scheduler/core/names.h"

#include "gtest/gtest.h"

namespace ordo::scheduler::core {
namespace {

TEST(Names, TheLastPartIsTheId) {
  EXPECT_EQ(IdOf(JobName("a")), "a");
  EXPECT_EQ(IdOf(CheckpointName("a", "200-1")), "200-1");
  EXPECT_EQ(IdOf(ReportName("a", "addition-200")), "addition-200");
}

TEST(Names, EachTellsItsJob) {
  EXPECT_EQ(JobIdOf(JobName("a")), "a");
  EXPECT_EQ(JobIdOf(CheckpointName("a", "200-1")), "a");
  EXPECT_EQ(JobIdOf(ReportName("a", "addition-200")), "a");
}

TEST(Names, AnIdAloneIsTheJob) { EXPECT_EQ(JobIdOf("a"), "a"); }

}  // namespace
}  // namespace ordo::scheduler::core
