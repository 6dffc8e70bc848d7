#include "services/jobs/queue_rules.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/testing/fake_scheduler.h"

namespace ordo::services::jobs {
namespace {

using ordo::jobs::v1::JobSpec;
using ordo::queues::v1::Queue;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class QueueRulesTest : public ::testing::Test {
 protected:
  // 0: not set.
  void MakeQueue(const std::string& id, int64_t default_limit,
                 int64_t max_limit) {
    Queue queue;
    queue.set_name("queues/" + id);
    if (default_limit != 0) {
      queue.mutable_default_run_time_limit()->set_seconds(default_limit);
    }
    if (max_limit != 0) {
      queue.mutable_max_run_time_limit()->set_seconds(max_limit);
    }
    scheduler_.CreateQueue(queue, {}, [](const auto& made) {
      EXPECT_TRUE(made.ok()) << made.status();
    });
  }

  // The run_time_limit in seconds that the job gets; 0: none.
  int64_t Apply(const std::string& queue, int64_t limit) {
    violations_.clear();
    return QueueRules(scheduler_)
        .Apply(SpecOf(queue, limit), &violations_)
        ->run_time_limit()
        .seconds();
  }

  static scheduler::SpecPtr SpecOf(const std::string& queue, int64_t limit) {
    auto spec = std::make_shared<JobSpec>();
    spec->set_queue(queue);
    if (limit != 0) spec->mutable_run_time_limit()->set_seconds(limit);
    return spec;
  }

  scheduler::testing::FakeScheduler scheduler_;
  std::vector<base::FieldViolation> violations_;
};

TEST_F(QueueRulesTest, JobWithoutALimitGetsThatOfItsQueue) {
  MakeQueue("short", 60, 120);
  MakeQueue("bounded", 0, 90);
  EXPECT_EQ(Apply("short", 0), 60);
  EXPECT_EQ(Apply("bounded", 0), 90);
  EXPECT_EQ(Apply("default", 0), 0);
  EXPECT_THAT(violations_, IsEmpty());
}

TEST_F(QueueRulesTest, LimitOfAJobStaysUpToTheLargestOfItsQueue) {
  MakeQueue("short", 60, 120);
  EXPECT_EQ(Apply("short", 120), 120);
  EXPECT_THAT(violations_, IsEmpty());
  EXPECT_EQ(Apply("default", 1000), 1000);
  EXPECT_THAT(violations_, IsEmpty());
}

TEST_F(QueueRulesTest, JobsOfOneSpecGoOnSharingOne) {
  MakeQueue("short", 60, 120);
  QueueRules rules(scheduler_);
  for (const char* queue : {"short", "default"}) {
    const scheduler::SpecPtr spec = SpecOf(queue, 0);
    EXPECT_EQ(rules.Apply(spec, &violations_), rules.Apply(spec, &violations_));
  }
}

TEST_F(QueueRulesTest, LimitAboveThatOfTheQueueIsRefused) {
  MakeQueue("short", 60, 120);
  Apply("short", 121);
  ASSERT_EQ(violations_.size(), 1u);
  EXPECT_EQ(violations_[0].field, "run_time_limit");
  EXPECT_THAT(violations_[0].description, HasSubstr("at most 2m"));
}

TEST_F(QueueRulesTest, UnknownQueueNamesTheNearest) {
  MakeQueue("short", 0, 0);
  Apply("shrot", 0);
  ASSERT_EQ(violations_.size(), 1u);
  EXPECT_EQ(violations_[0].field, "queue");
  EXPECT_THAT(violations_[0].description, HasSubstr("did you mean 'short'?"));
}

}  // namespace
}  // namespace ordo::services::jobs
