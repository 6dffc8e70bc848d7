// A supervisor's journal, by the worker that comes back. The first byte says
// whether what follows is taken as it is or made a journal with right sums, in
// slots, from the front.
#include "worker/supervisor/journal.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/check.h"
#include "worker/agent/facts.h"

namespace ordo::tests::fuzz {
namespace {

using worker::supervisor::JournalRecord;
using worker::supervisor::ParseJournal;

void Mend(std::string* bytes) {
  const size_t slots = bytes->size() / sizeof(JournalRecord);
  for (size_t i = 0; i < slots; ++i) {
    JournalRecord record;
    char* const slot = bytes->data() + i * sizeof(record);
    std::memcpy(&record, slot, sizeof(record));
    record.magic = worker::supervisor::kJournalMagic;
    record.index = static_cast<uint32_t>(i);
    record.checksum = worker::supervisor::JournalChecksum(
        &record, sizeof(record) - sizeof(record.checksum));
    std::memcpy(slot, &record, sizeof(record));
  }
}

void Check(const std::string& bytes) {
  const std::vector<JournalRecord> records =
      ParseJournal(bytes.data(), bytes.size());
  ORDO_CHECK(records.size() <= worker::supervisor::kJournalSlots);
  for (size_t i = 0; i < records.size(); ++i) {
    ORDO_CHECK(records[i].index == i) << i;
    // A worker that looks earlier has seen the beginning of the same.
    const auto facts = worker::agent::FactsOf(
        std::vector<JournalRecord>(records.begin(), records.begin() + i + 1));
    if (!facts.exit.has_value() && !facts.start_failure.has_value()) continue;
    for (const bool kill_asked : {false, true}) {
      agent::v1::ObservedAttempt observed;
      worker::agent::DescribeEnd(facts, kill_asked, "trainer", &observed);
      ORDO_CHECK(observed.cause() !=
                 agent::v1::ObservedAttempt::CAUSE_UNSPECIFIED);
    }
  }
}

}  // namespace
}  // namespace ordo::tests::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 1) ordo::tests::fuzz::Mend(&bytes);
  ordo::tests::fuzz::Check(bytes);
  return 0;
}
