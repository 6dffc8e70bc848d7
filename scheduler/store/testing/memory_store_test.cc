#include "scheduler/store/testing/memory_store.h"

#include "scheduler/store/testing/store_conformance.h"

namespace ordo::scheduler::store::testing {
namespace {

class MemoryUnderTest : public StoreUnderTest {
 public:
  absl::StatusOr<std::unique_ptr<Store>> Open() override {
    return std::make_unique<MemoryStore>(memory_);
  }
  // Its writes are records, and it loses none.
  Outcome RunAndDie(const History& history, const Death& death) override {
    Outcome outcome;
    memory_->DieAt(death.at_write);
    history([this] { return Open(); },
            [&outcome] { ++outcome.num_acknowledged; });
    outcome.finished = !memory_->Revive();
    return outcome;
  }
  void SetFull(bool full) override {
    memory_->Fail(full ? absl::ResourceExhaustedError("full")
                       : absl::OkStatus());
  }

 private:
  const std::shared_ptr<Memory> memory_ = std::make_shared<Memory>();
};

std::unique_ptr<StoreUnderTest> MakeMemoryStore() {
  return std::make_unique<MemoryUnderTest>();
}

INSTANTIATE_TEST_SUITE_P(Memory, StoreConformanceTest,
                         ::testing::Values(&MakeMemoryStore));

}  // namespace
}  // namespace ordo::scheduler::store::testing
