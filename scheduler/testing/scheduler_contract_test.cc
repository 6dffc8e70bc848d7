#include "scheduler/testing/scheduler_contract.h"

#include <memory>

#include "base/clock/testing/fake_clock.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/metrics/metrics.h"
#include "gtest/gtest.h"
#include "scheduler/metrics.h"
#include "scheduler/policy/fair.h"
#include "scheduler/server/server.h"
#include "scheduler/store/testing/memory_store.h"
#include "scheduler/testing/fake_scheduler.h"

namespace ordo::scheduler::testing {
namespace {

class Fake : public ContractScheduler {
 public:
  Scheduler& scheduler() override { return scheduler_; }

 private:
  FakeScheduler scheduler_;
};

class Real : public ContractScheduler {
 public:
  Real() {
    server::ServerOptions options;
    options.core.place = policy::PlaceFair;
    options.store = &store_;
    options.clock = &clock_;
    options.files = &files_;
    options.metrics = &metrics_;
    options.storage_root = folder_.path();
    options.run_timer = false;
    server_ = server::Server::Start(std::move(options)).value();
  }
  Scheduler& scheduler() override { return *server_; }

 private:
  base::testing::TemporaryFolder folder_;
  base::testing::FakeClock clock_;
  base::PosixFilesystem files_;
  base::MetricsRegistry registry_;
  SchedulerMetrics metrics_{registry_};
  store::testing::MemoryStore store_{
      std::make_shared<store::testing::Memory>()};
  std::unique_ptr<server::Server> server_;
};

template <typename Subject>
std::unique_ptr<ContractScheduler> Make() {
  return std::make_unique<Subject>();
}

INSTANTIATE_TEST_SUITE_P(All, SchedulerContract,
                         ::testing::Values(ContractSubject{"Fake", Make<Fake>},
                                           ContractSubject{"Real", Make<Real>}),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace ordo::scheduler::testing
