// Records as a store gives them, when somebody has changed what they say: the
// core takes them as it takes any (CheckLoads).
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "google/protobuf/text_format.h"
#include "scheduler/core/load.h"
#include "scheduler/core/names.h"
#include "scheduler/core/present.h"
#include "tests/fuzz/cases.pb.h"
#include "tests/fuzz/loading.h"
#include "tests/fuzz/mutator.h"

namespace ordo::tests::fuzz {
namespace {

namespace core = scheduler::core;

const std::vector<std::string>& Words() {
  static const auto& words =
      *new std::vector<std::string>{"a",
                                    "b",
                                    "jobs/a",
                                    "jobs/b",
                                    "jobs/a/checkpoints/10-1",
                                    "w",
                                    "cpu:0",
                                    "10-1",
                                    "cpu",
                                    "WAITING_FOR_DEVICE",
                                    "FINISHED",
                                    "WORKER_LOST",
                                    "jobs/a/reports/r-10",
                                    "workers/w",
                                    "queues/q",
                                    "q",
                                    "queues/default",
                                    "aliases/main"};
  return words;
}

template <typename T, typename Rows>
void AddNamed(const Rows& rows, std::vector<std::shared_ptr<const T>>* out) {
  for (const T& row : rows) out->push_back(std::make_shared<const T>(row));
  std::stable_sort(out->begin(), out->end(), [](const auto& a, const auto& b) {
    return a->name() < b->name();
  });
}

core::Records RecordsOf(const StoreCase& input) {
  core::Records records;
  core::SpecTable specs;
  records.last_sequence = input.last_sequence();
  for (const StoredJob& row : input.jobs()) {
    core::StoredJob stored;
    stored.job = row.job();
    stored.request_id = row.request_id();
    stored.fingerprint = row.fingerprint();
    stored.incarnation = row.incarnation();
    stored.acknowledged_records = row.acknowledged_records();
    records.jobs.push_back(core::RecordOf(std::move(stored), &specs));
  }
  std::stable_sort(records.jobs.begin(), records.jobs.end(),
                   [](const auto& a, const auto& b) {
                     return a->facts->sequence < b->facts->sequence;
                   });
  AddNamed(input.checkpoints(), &records.checkpoints);
  AddNamed(input.reports(), &records.reports);
  for (const workers::v1::Worker& worker : input.workers()) {
    records.rows.push_back(std::make_shared<const core::Row>(
        core::Row{core::Row::Kind::kWorker, core::IdOf(worker.name()),
                  worker.SerializeAsString()}));
  }
  for (const queues::v1::Queue& queue : input.queues()) {
    records.rows.push_back(std::make_shared<const core::Row>(
        core::Row{core::Row::Kind::kQueue, core::IdOf(queue.name()),
                  queue.SerializeAsString()}));
  }
  for (const checkpoints::v1::Alias& alias : input.aliases()) {
    records.rows.push_back(std::make_shared<const core::Row>(
        core::Row{core::Row::Kind::kAlias, core::IdOf(alias.name()),
                  alias.SerializeAsString()}));
  }
  for (const std::string& pin : input.pins()) {
    records.rows.push_back(std::make_shared<const core::Row>(
        core::Row{core::Row::Kind::kPin, pin, ""}));
  }
  return records;
}

}  // namespace
}  // namespace ordo::tests::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ordo::tests::fuzz::StoreCase input;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (google::protobuf::TextFormat::ParseFromString(text, &input)) {
    ordo::tests::fuzz::CheckLoads(ordo::tests::fuzz::RecordsOf(input));
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size,
                                          size_t max_size, unsigned int seed) {
  return ordo::tests::fuzz::MutateText(
      ordo::tests::fuzz::Words(), seed,
      ordo::tests::fuzz::StoreCase::default_instance(), {data, size, max_size});
}
