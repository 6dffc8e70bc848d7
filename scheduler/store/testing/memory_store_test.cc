#include "scheduler/store/testing/memory_store.h"

#include "scheduler/store/testing/store_conformance.h"

namespace ordo::scheduler::store::testing {
namespace {

OpenStore MakeMemoryStore() {
  auto memory = std::make_shared<Memory>();
  return [memory]() -> absl::StatusOr<std::unique_ptr<Store>> {
    return std::make_unique<MemoryStore>(memory);
  };
}

INSTANTIATE_TEST_SUITE_P(Memory, StoreConformanceTest,
                         ::testing::Values(&MakeMemoryStore));

}  // namespace
}  // namespace ordo::scheduler::store::testing
