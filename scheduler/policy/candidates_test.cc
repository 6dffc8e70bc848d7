#include "scheduler/policy/candidates.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/policy/testing/boards.h"

namespace ordo::scheduler::policy {
namespace {

using testing::Cpus;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::TestBoard;

class CandidatesTest : public ::testing::Test {
 protected:
  void RunMany(int count) {
    test_.PutWorker("w1", count);
    for (int i = 0; i < count; ++i) test_.Run(test_.Wait(), "w1");
  }
  std::vector<int64_t> All(int priority) {
    const int64_t job = test_.Wait({Cpus(1), "default", "ann", priority});
    const Plan plan(test_.board, test_.now);
    Candidates candidates(plan, {job, false});
    std::vector<int64_t> jobs;
    while (const auto candidate = candidates.Next()) {
      jobs.push_back(candidate->job);
    }
    return jobs;
  }

  TestBoard test_;
};

TEST_F(CandidatesTest, SmallestPriorityThenLeastDeviceTimeThenFirst) {
  test_.PutWorker("w1", 9);
  test_.Run(test_.Wait({Cpus(1), "default", "ann", 2}), "w1");
  test_.Run(test_.Wait({Cpus(2), "default", "ann", 1}), "w1");
  test_.Run(test_.Wait({Cpus(1), "default", "ann", 1}), "w1");
  test_.Run(test_.Wait({Cpus(1), "default", "ann", 1}), "w1");
  test_.Run(test_.Wait({Cpus(1), "default", "ann", 3}), "w1");
  test_.now += absl::Minutes(5);
  EXPECT_THAT(All(3), ElementsAre(3, 4, 2, 1));
}

TEST_F(CandidatesTest, NoneOfThatPriorityOrTooYoung) {
  RunMany(2);
  test_.now += absl::Seconds(59);
  EXPECT_THAT(All(1), IsEmpty());
  test_.now += absl::Seconds(1);
  EXPECT_THAT(All(1), ElementsAre(1, 2));
  EXPECT_THAT(All(0), IsEmpty());
}

TEST_F(CandidatesTest, ManyThatAreTooYoungHideNoneThatIsNot) {
  RunMany(2);
  test_.now += absl::Minutes(5);
  test_.PutWorker("w2", 200);
  for (int i = 0; i < 200; ++i) test_.Run(test_.Wait(), "w2");
  EXPECT_THAT(All(1), ElementsAre(1, 2));
}

TEST_F(CandidatesTest, ARankIsOfOneOrOfNone) {
  RunMany(1);
  test_.now += absl::Minutes(5);
  const Occupant& rank = test_.board.tables().workers[0].occupants[0];
  const int64_t job = test_.Wait({Cpus(1), "default", "ann", 1});
  const int64_t equal = test_.Wait();
  const Plan plan(test_.board, test_.now);
  EXPECT_EQ(Candidates(plan, {job, false}).Of(rank)->job, 1);
  EXPECT_FALSE(Candidates(plan, {equal, false}).Of(rank).has_value());
}

}  // namespace
}  // namespace ordo::scheduler::policy
