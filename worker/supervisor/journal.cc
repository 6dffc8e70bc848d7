#include "worker/supervisor/journal.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

namespace ordo::worker::supervisor {
namespace {

// Table of the reflected Castagnoli polynomial, one entry per byte.
constexpr std::array<uint32_t, 256> MakeTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) {
      value = (value >> 1) ^ ((value & 1) != 0 ? 0x82f63b78u : 0u);
    }
    table[byte] = value;
  }
  return table;
}

constexpr std::array<uint32_t, 256> kTable = MakeTable();

int WriteAll(int file, const void* data, size_t num_bytes, off_t offset) {
  const char* next = static_cast<const char*>(data);
  while (num_bytes > 0) {
    const ssize_t written = pwrite(file, next, num_bytes, offset);
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    next += written;
    num_bytes -= static_cast<size_t>(written);
    offset += written;
  }
  return 0;
}

}  // namespace

int64_t WallClockNs() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

uint32_t JournalChecksum(const void* data, size_t num_bytes) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  uint32_t value = 0xffffffffu;
  for (size_t i = 0; i < num_bytes; ++i) {
    value = (value >> 8) ^ kTable[(value ^ bytes[i]) & 0xff];
  }
  return ~value;
}

std::vector<JournalRecord> ParseJournal(const void* data, size_t num_bytes) {
  std::vector<JournalRecord> records;
  const auto* bytes = static_cast<const char*>(data);
  const size_t num_slots = num_bytes / sizeof(JournalRecord);
  for (size_t i = 0; i < num_slots && i < kJournalSlots; ++i) {
    JournalRecord record;
    std::memcpy(&record, bytes + i * sizeof(record), sizeof(record));
    if (record.magic != kJournalMagic || record.index != i ||
        record.checksum !=
            JournalChecksum(&record, offsetof(JournalRecord, checksum))) {
      break;
    }
    records.push_back(record);
  }
  return records;
}

JournalWriter::~JournalWriter() {
  if (file_ >= 0) close(file_);
}

void JournalWriter::Seal(std::vector<JournalRecord>* records) const {
  size_t index = num_records_;
  for (JournalRecord& record : *records) {
    record.magic = kJournalMagic;
    record.index = static_cast<uint32_t>(index++);
    if (record.time_ns == 0) record.time_ns = WallClockNs();
    record.checksum =
        JournalChecksum(&record, offsetof(JournalRecord, checksum));
  }
}

int JournalWriter::Create(const std::string& path,
                          const std::vector<JournalRecord>& records) {
  file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  struct stat status {};
  if (file_ < 0 || fstat(file_, &status) != 0) return errno;
  if (status.st_size > 0) return EEXIST;
  if (records.size() > kJournalSlots) return ENOSPC;
  std::vector<JournalRecord> slots = records;
  Seal(&slots);
  slots.resize(kJournalSlots);
  const int error = WriteAll(file_, slots.data(), kJournalBytes, 0);
  if (error == 0) num_records_ = records.size();
  return error;
}

int JournalWriter::Append(std::vector<JournalRecord> records) {
  if (num_records_ + records.size() > kJournalSlots) return ENOSPC;
  Seal(&records);
  const off_t offset = static_cast<off_t>(num_records_ * sizeof(JournalRecord));
  const int error = WriteAll(file_, records.data(),
                             records.size() * sizeof(JournalRecord), offset);
  if (error == 0) num_records_ += records.size();
  return error;
}

int JournalWriter::Sync() { return fdatasync(file_) == 0 ? 0 : errno; }

}  // namespace ordo::worker::supervisor
