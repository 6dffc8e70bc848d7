#ifndef ORDO_WORKER_SUPERVISOR_JOURNAL_H_
#define ORDO_WORKER_SUPERVISOR_JOURNAL_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// The journal of one task: what its supervisor did, so that a worker that comes
// back can tell how far the task is. Written by the supervisor alone, read by
// the worker's agent.
//
// The file has kJournalBytes from its first write on: slots of one record,
// filled from the front, the rest zero. It never grows, so a disk that fills
// up later cannot keep the end of a task from being recorded. Numbers are in
// the machine's own byte order: the file never leaves the machine.
//
// No library but the standard one is used here: the supervisor links nothing
// else.

namespace ordo::worker::supervisor {

// What happened. Values are stored: never renumber.
enum class Phase : uint32_t {
  // The supervisor runs: pid and start_ticks are its own.
  kSupervisorStarted = 1,
  // The trainer runs: pid and group are the trainer's.
  kTrainerStarted = 2,
  // Somebody asked to stop (checkpoint first) or to kill; detail is the
  // grace in milliseconds.
  kStopRequested = 3,
  kKillRequested = 4,
  // No progress for detail milliseconds; the group was killed.
  kHang = 5,
  // The trainer could not be started: operation and error_number say why.
  kStartFailed = 6,
  // The trainer left: exit_code, or signal when one ended it; detail is which
  // limits were met until then, as bits (Limit).
  kExited = 7,
  // No descendant of the supervisor is left: the devices are free. Always
  // the last record.
  kGroupEmpty = 8,
  // Something else failed: operation and error_number. The supervisor goes on.
  kError = 9,
};

// What failed, for kStartFailed and kError. Values are stored.
enum class Operation : uint32_t {
  kNone = 0,
  kOpenLog = 1,
  kFork = 2,
  kExecute = 3,
  kSignal = 4,
  kReadProgress = 5,
  kWait = 6,
  // To make the cgroup, set the limits or become the user of the trainer.
  kConfine = 7,
};

// What a trainer has met of the limits of its cgroup. Values are stored.
enum Limit : uint32_t {
  // One of its processes was killed for memory.
  kMemoryLimit = 1,
  // A process or thread could not be started.
  kProcessLimit = 2,
};

struct JournalRecord {
  // kJournalMagic in a filled slot.
  uint32_t magic;
  // Index of the slot, from 0.
  uint32_t index;
  uint32_t phase;
  uint32_t operation;
  // When it happened: WallClockNs().
  int64_t time_ns;
  int32_t pid;
  int32_t group;
  // Start of process `pid`, clock ticks since boot (/proc/<pid>/stat, 22).
  uint64_t start_ticks;
  int32_t exit_code;
  int32_t signal;
  int32_t error_number;
  uint32_t detail;
  uint32_t reserved;
  // CRC32C of the bytes before it.
  uint32_t checksum;
};
static_assert(sizeof(JournalRecord) == 64, "the format is fixed");

inline constexpr uint32_t kJournalMagic = 0x314a524f;  // "ORJ1"
inline constexpr size_t kJournalSlots = 64;
inline constexpr size_t kJournalBytes = kJournalSlots * sizeof(JournalRecord);
// kError records take no slots beyond this, so that each phase finds one.
inline constexpr size_t kMaxErrorSlots = 48;

// Nanoseconds since 1970.
int64_t WallClockNs();

// CRC32C (Castagnoli polynomial, RFC 3720 section B.4).
uint32_t JournalChecksum(const void* data, size_t num_bytes);

// The records at the front of a journal's bytes, up to the first slot that is
// empty, torn or damaged. A slot being written may look torn: read again when
// the file changes.
std::vector<JournalRecord> ParseJournal(const void* data, size_t num_bytes);

// Writes a journal. Not thread-safe.
class JournalWriter {
 public:
  JournalWriter() = default;
  ~JournalWriter();
  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;

  // Creates the file, or takes one that is empty, with these records at its
  // front, in one write; EEXIST when it holds something, since a task is
  // supervised once. 0 or an errno.
  int Create(const std::string& path,
             const std::vector<JournalRecord>& records = {});

  // Fills the next slots from `records` (magic, index, checksum and, if it is
  // 0, the time are set here), in one write: each wakes who follows the file.
  // From then on a worker can read them, whatever happens to this process. 0 or
  // an errno; ENOSPC when there are not as many slots.
  int Append(std::vector<JournalRecord> records);
  int Append(const JournalRecord& record) {
    return Append(std::vector<JournalRecord>{record});
  }

  // Makes it durable, so that it outlives the machine's crash too: one
  // fdatasync. 0 or an errno.
  int Sync();

 private:
  // Sets what tells a filled slot, from the next on.
  void Seal(std::vector<JournalRecord>* records) const;

  int file_ = -1;
  size_t num_records_ = 0;
};

}  // namespace ordo::worker::supervisor

#endif  // ORDO_WORKER_SUPERVISOR_JOURNAL_H_
