#include "scheduler/server/admin_calls.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::scheduler::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class AdminCallsTest : public ::testing::Test {
 protected:
  Scheduler::QueueCallback NoteQueue() {
    return [this](absl::StatusOr<queues::v1::Queue> queue) {
      told_.push_back(queue.ok() ? queue->name()
                                 : std::string(queue.status().message()));
    };
  }
  Scheduler::WorkerCallback NoteWorker() {
    return [this](absl::StatusOr<workers::v1::Worker> worker) {
      told_.push_back(worker.ok() ? worker->name()
                                  : std::string(worker.status().message()));
    };
  }
  Scheduler::TokenCallback NoteToken() {
    return [this](const absl::Status& status) {
      told_.push_back(status.ok() ? "token" : std::string(status.message()));
    };
  }
  static core::QueuePtr QueueNamed(const std::string& name) {
    auto queue = std::make_shared<queues::v1::Queue>();
    queue->set_name(name);
    return queue;
  }
  static std::shared_ptr<const workers::v1::Worker> WorkerNamed(
      const std::string& name) {
    auto worker = std::make_shared<workers::v1::Worker>();
    worker->set_name(name);
    return worker;
  }

  AdminCalls calls_;
  std::vector<std::string> told_;
};

TEST_F(AdminCallsTest, EachIsAnsweredOnce) {
  calls_.Add(1, NoteQueue());
  calls_.Add(2, NoteWorker());
  calls_.Answer(core::AnswerWorker{2, WorkerNamed("workers/w")});
  calls_.Answer(core::AnswerQueue{1, QueueNamed("queues/q")});
  calls_.Answer(core::AnswerQueue{1, QueueNamed("queues/again")});
  calls_.Add(3, NoteToken());
  calls_.Answer(core::AnswerRow{3});
  EXPECT_THAT(told_, ElementsAre("workers/w", "queues/q", "token"));
  EXPECT_EQ(calls_.size(), 0);
}

TEST_F(AdminCallsTest, ErrorsAreAnswersToo) {
  calls_.Add(1, NoteQueue());
  calls_.Add(2, NoteWorker());
  calls_.Answer(core::AnswerQueue{1, absl::NotFoundError("no queue")});
  calls_.Answer(core::AnswerWorker{2, absl::NotFoundError("no worker")});
  EXPECT_THAT(told_, ElementsAre("no queue", "no worker"));
}

TEST_F(AdminCallsTest, RefusedCallsAreNotAnsweredAfterwards) {
  calls_.Add(1, NoteQueue());
  calls_.Add(2, NoteWorker());
  calls_.Add(3, NoteToken());
  EXPECT_EQ(calls_.size(), 3);
  calls_.RefuseAll(absl::UnavailableError("full"));
  EXPECT_THAT(told_, ElementsAre("full", "full", "full"));
  told_.clear();
  calls_.Answer(core::AnswerQueue{1, QueueNamed("queues/q")});
  calls_.Answer(core::AnswerWorker{2, WorkerNamed("workers/w")});
  EXPECT_THAT(told_, IsEmpty());
}

}  // namespace
}  // namespace ordo::scheduler::server
