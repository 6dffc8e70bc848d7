#include "scheduler/policy/check.h"

#include <functional>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/policy/testing/boards.h"

namespace ordo::scheduler::policy {
namespace {

using ::ordo::base::testing::IsOk;
using ::ordo::base::testing::StatusIs;
using testing::Cpus;
using ::testing::HasSubstr;
using testing::TestBoard;
using testing::Waiter;

// A board with jobs that wait, run and have a reservation.
TestBoard Busy() {
  TestBoard test;
  test.PutWorker("w1", 4);
  test.PutWorker("w2", 4);
  test.Run(test.Wait(Cpus(2)), "w1");
  test.Wait(Cpus(4));
  test.board.Reserve({2, absl::InfiniteDuration(), {{"w2", 1}}});
  Waiter part;
  part.parent = "sweep";
  part.max_parallel = 1;
  test.Wait(part);
  return test;
}

// What Check says after a mistake in the tables.
absl::Status Broken(const std::function<void(Tables&)>& mistake) {
  TestBoard test = Busy();
  mistake(const_cast<Tables&>(test.board.tables()));
  return Check(test.board);
}

TEST(CheckTest, HoldsOfABusyBoard) { EXPECT_THAT(Check(Busy().board), IsOk()); }

TEST(CheckTest, FindsAReservationThatADrainWouldMeet) {
  TestBoard test;
  Worker worker = testing::WorkerWith("w1", 2);
  worker.drain_at = absl::Hours(10);
  test.board.PutWorker(worker);
  const int64_t job = test.Wait(testing::Within(Cpus(2), absl::Hours(1)));
  const auto reserve = [&](absl::Duration at) {
    test.board.Reserve({job, at, {{"w1", 1}}});
    return Check(test.board);
  };
  EXPECT_THAT(reserve(absl::Hours(9) - absl::Seconds(30)), IsOk());
  EXPECT_THAT(reserve(absl::Hours(9)),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("drained")));
}

TEST(CheckTest, FindsEachMistake) {
  const std::vector<std::pair<std::function<void(Tables&)>, std::string>>
      mistakes = {
          {[](Tables& t) { t.waiting.erase(2); }, "does not wait"},
          {[](Tables& t) { t.running.erase(1); }, "miscounted"},
          {[](Tables& t) {
             const RunEntry entry = t.running[1];
             t.running.emplace(2, entry);
           },
           "waits and runs"},
          {[](Tables& t) { t.workers[0].devices[3].job = 9; }, "held by job 9"},
          {[](Tables& t) { t.workers[0].devices[0].job = 0; },
           "differs about devices"},
          {[](Tables& t) { t.workers[0].room.cpus = 1; }, "stale"},
          {[](Tables& t) { t.classes[0].rooms.clear(); }, "index"},
          {[](Tables& t) { ++t.classes[0].serving[absl::Hours(1)]; }, "class"},
          {[](Tables& t) { ++t.num_drained; }, "will be drained"},
          {[](Tables& t) { ++t.kinds[0].num_open; }, "room for cpu"},
          {[](Tables& t) { ++t.kinds[0].num_shapes; }, "shapes of cpu"},
          {[](Tables& t) {
             t.reservations[2].workers.push_back({0, 1});
           },
           "not whole"},
          {[](Tables& t) { ++t.queues[0].num_waiting; }, "queue default"},
          {[](Tables& t) { ++t.queues[0].kinds.at(0).held; }, "holds"},
          {[](Tables& t) { t.queues[0].kinds.at(0).attempts.clear(); },
           "not among the attempts"},
          {[](Tables& t) {
             t.queues[0].kinds.at(0).attempts.insert(
                 AttemptKey{0, 1, {}, 7, {}});
           },
           "does not run on"},
          {[](Tables& t) { t.queues[0].kinds.at(0).lanes.clear(); },
           "not in its queue"},
          {[](Tables& t) { t.queues[0].owners.clear(); }, "owner"},
          {[](Tables& t) { ++t.parents[0].num_running; }, "parent sweep"},
          {[](Tables& t) { ++t.parents[0].num_reserved; }, "parent sweep"},
      };
  for (const auto& [mistake, text] : mistakes) {
    EXPECT_THAT(Broken(mistake),
                StatusIs(absl::StatusCode::kInternal, HasSubstr(text)))
        << text;
  }
}

}  // namespace
}  // namespace ordo::scheduler::policy
