#ifndef ORDO_SCHEDULER_TESTING_SCHEDULER_CONTRACT_H_
#define ORDO_SCHEDULER_TESTING_SCHEDULER_CONTRACT_H_

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "gtest/gtest.h"
#include "scheduler/scheduler.h"

// What every Scheduler does, as tests. To have an implementation judged:
//
//   INSTANTIATE_TEST_SUITE_P(Mine, SchedulerContract,
//                            ::testing::Values(ContractSubject{"mine", Make}));

namespace ordo::scheduler::testing {

// A scheduler with what it needs, without jobs or workers.
class ContractScheduler {
 public:
  virtual ~ContractScheduler() = default;
  virtual Scheduler& scheduler() = 0;
};

struct ContractSubject {
  std::string name;
  std::function<std::unique_ptr<ContractScheduler>()> make;
};

inline std::ostream& operator<<(std::ostream& out,
                                const ContractSubject& subject) {
  return out << subject.name;
}

class SchedulerContract : public ::testing::TestWithParam<ContractSubject> {
 protected:
  SchedulerContract() : subject_(GetParam().make()) {}
  Scheduler& scheduler() { return subject_->scheduler(); }

 private:
  std::unique_ptr<ContractScheduler> subject_;
};

}  // namespace ordo::scheduler::testing

#endif  // ORDO_SCHEDULER_TESTING_SCHEDULER_CONTRACT_H_
