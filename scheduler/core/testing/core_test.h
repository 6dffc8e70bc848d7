#ifndef ORDO_SCHEDULER_CORE_TESTING_CORE_TEST_H_
#define ORDO_SCHEDULER_CORE_TESTING_CORE_TEST_H_

#include "base/status/testing/status_matchers.h"
#include "gtest/gtest.h"
#include "scheduler/core/testing/test_shell.h"

namespace ordo::scheduler::core::testing {

// A test of the core with a worker "w"; each step must do, and its effects are
// of no interest.
class CoreTest : public ::testing::Test {
 protected:
  void StartWorker() {
    ORDO_ASSERT_OK(shell_.Announce(WorkerBuilder("w")));
    shell_.Ignore();
  }
  void Submit(const NewJob& job) {
    ORDO_ASSERT_OK(shell_.Submit(job));
    shell_.Ignore();
  }
  // What the worker reports of its only attempt.
  void Observe(const agent::v1::ObservedAttempt& attempt) {
    shell_.Observe("w", {attempt});
    shell_.Ignore();
  }

  TestShell shell_;
};

}  // namespace ordo::scheduler::core::testing

#endif  // ORDO_SCHEDULER_CORE_TESTING_CORE_TEST_H_
