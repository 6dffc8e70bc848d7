// A trainer that says it has started and finished, and does nothing else: what
// starting a task costs is then that of the platform. Static, since the loader
// of shared libraries would be most of its life. Example:
//   noop_trainer train jobs/a/attempts/1/task.json --out jobs/a
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <unistd.h>

#include "worker/supervisor/journal.h"

namespace {

using ordo::worker::supervisor::JournalChecksum;
using ordo::worker::supervisor::WallClockNs;

constexpr char kProbe[] =
    "{\"kind\": \"cpu\", \"passed\": [\"attention/none\"]}\n";
constexpr int kBadSpec = 2;
constexpr int kStorageError = 1;

// Numbers of ordo.training.v1.ProgressRecord.
enum Field : char { kTime = 1, kStarted = 2, kFinished = 8 };
constexpr char kMessage = 2;

void AddNumber(std::string* bytes, uint64_t number) {
  for (; number >= 0x80; number >>= 7) {
    bytes->push_back(static_cast<char>(number | 0x80));
  }
  bytes->push_back(static_cast<char>(number));
}

void AddMessage(std::string* bytes, char field, const std::string& message) {
  bytes->push_back(static_cast<char>(field << 3 | kMessage));
  AddNumber(bytes, message.size());
  *bytes += message;
}

// A record that says one thing, as base/records lays it out; the event has no
// field of its own: of TrainerFinished that is FINISHED.
std::string Record(Field event) {
  const auto now = static_cast<uint64_t>(WallClockNs());
  std::string time;
  time.push_back(1 << 3);
  AddNumber(&time, now / 1'000'000'000);
  time.push_back(2 << 3);
  AddNumber(&time, now % 1'000'000'000);
  std::string payload;
  AddMessage(&payload, kTime, time);
  AddMessage(&payload, event, "");
  uint32_t header[3] = {static_cast<uint32_t>(payload.size()),
                        JournalChecksum(payload.data(), payload.size()), 0};
  header[2] = JournalChecksum(header, 2 * sizeof(header[0]));
  std::string record(sizeof(header), '\0');
  std::memcpy(record.data(), header, sizeof(header));
  return record + payload;
}

bool Write(int file, const std::string& text) {
  return write(file, text.data(), text.size()) ==
         static_cast<ssize_t>(text.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return kBadSpec;
  if (std::string(argv[1]) == "probe") {
    return Write(STDOUT_FILENO, kProbe) ? 0 : kStorageError;
  }
  // The task lies in the attempt's folder.
  const std::string task = argv[2];
  const std::string progress =
      task.substr(0, task.rfind('/') + 1) + "progress.records";
  const int file =
      open(progress.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0 || !Write(file, Record(kStarted) + Record(kFinished))) {
    return kStorageError;
  }
  return 0;
}
