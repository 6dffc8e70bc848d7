// A trainer that says it has started and finished, and does nothing else: what
// starting a task costs is then that of the platform. It has no library, not
// even C's, since the start of that would be most of its life: in a virtual
// machine each of its many CPUIDs leaves it. Example:
//   noop_trainer train jobs/a/attempts/1/task.json --out jobs/a
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// What a compiler may call without being asked to.
extern "C" void* memcpy(void* to, const void* from, size_t num_bytes) {
  auto* bytes = static_cast<volatile char*>(to);
  for (size_t i = 0; i < num_bytes; ++i) {
    bytes[i] = static_cast<const char*>(from)[i];
  }
  return to;
}
extern "C" void* memset(void* to, int value, size_t num_bytes) {
  auto* bytes = static_cast<volatile char*>(to);
  for (size_t i = 0; i < num_bytes; ++i) bytes[i] = static_cast<char>(value);
  return to;
}

namespace {

constexpr char kProbe[] =
    "{\"kind\": \"cpu\", \"passed\": [\"attention/none\"]}\n";
constexpr int kBadSpec = 2;
constexpr int kStorageError = 1;

// Numbers of ordo.training.v1.ProgressRecord.
enum Field : uint8_t { kTime = 1, kStarted = 2, kFinished = 8 };
constexpr uint8_t kMessage = 2;

int64_t Call(int64_t number, int64_t a, int64_t b, int64_t c) {
  int64_t result = number;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(a), "S"(b), "d"(c)
               : "rcx", "r11", "memory");
  return result;
}

int64_t Address(const void* pointer) {
  return reinterpret_cast<int64_t>(pointer);
}

// What is written in one go.
struct Bytes {
  uint8_t data[256];
  size_t size = 0;

  void Add(uint8_t byte) { data[size++] = byte; }
  void AddNumber(uint64_t number) {
    for (; number >= 0x80; number >>= 7) {
      Add(static_cast<uint8_t>(number | 0x80));
    }
    Add(static_cast<uint8_t>(number));
  }
  void AddFixed(uint32_t number) {
    for (int i = 0; i < 4; ++i) Add(static_cast<uint8_t>(number >> (8 * i)));
  }
};

// CRC32C, bit by bit.
uint32_t Checksum(const uint8_t* data, size_t num_bytes) {
  uint32_t value = 0xffffffffu;
  for (size_t i = 0; i < num_bytes; ++i) {
    value ^= data[i];
    for (int bit = 0; bit < 8; ++bit) {
      value = (value >> 1) ^ ((value & 1) != 0 ? 0x82f63b78u : 0u);
    }
  }
  return ~value;
}

// A record that says one thing, as base/records lays it out; the event has no
// field of its own: of TrainerFinished that is FINISHED.
void AddRecord(Field event, Bytes* out) {
  timespec now{};
  Call(SYS_clock_gettime, CLOCK_REALTIME, Address(&now), 0);
  Bytes time;
  time.Add(1 << 3);
  time.AddNumber(static_cast<uint64_t>(now.tv_sec));
  time.Add(2 << 3);
  time.AddNumber(static_cast<uint64_t>(now.tv_nsec));
  Bytes payload;
  payload.Add(kTime << 3 | kMessage);
  payload.AddNumber(time.size);
  for (size_t i = 0; i < time.size; ++i) payload.Add(time.data[i]);
  payload.Add(static_cast<uint8_t>(event << 3 | kMessage));
  payload.AddNumber(0);

  const size_t begin = out->size;
  out->AddFixed(static_cast<uint32_t>(payload.size));
  out->AddFixed(Checksum(payload.data, payload.size));
  out->AddFixed(Checksum(out->data + begin, 8));
  for (size_t i = 0; i < payload.size; ++i) out->Add(payload.data[i]);
}

bool Write(int64_t file, const void* data, size_t num_bytes) {
  return Call(SYS_write, file, Address(data),
              static_cast<int64_t>(num_bytes)) ==
         static_cast<int64_t>(num_bytes);
}

// Of an argument, as the command line has it.
bool IsProbe(const char* text) {
  constexpr char kWord[] = "probe";
  for (size_t i = 0; i < sizeof(kWord); ++i) {
    if (text[i] != kWord[i]) return false;
  }
  return true;
}

int Main(int64_t num_arguments, char** arguments) {
  if (num_arguments < 3) return kBadSpec;
  if (IsProbe(arguments[1])) {
    return Write(STDOUT_FILENO, kProbe, sizeof(kProbe) - 1) ? 0 : kStorageError;
  }
  // The task lies in the attempt's folder, as does the progress file.
  char path[4096];
  size_t length = 0;
  size_t folder = 0;
  for (const char* next = arguments[2]; *next != '\0'; ++next) {
    if (length + 32 > sizeof(path)) return kBadSpec;
    path[length++] = *next;
    if (*next == '/') folder = length;
  }
  for (const char* next = "progress.records";; ++next) {
    path[folder++] = *next;
    if (*next == '\0') break;
  }
  Bytes records;
  AddRecord(kStarted, &records);
  AddRecord(kFinished, &records);
  const int64_t file = Call(SYS_open, Address(path),
                            O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0644);
  return file >= 0 && Write(file, records.data, records.size) ? 0
                                                              : kStorageError;
}

}  // namespace

extern "C" [[noreturn]] void Begin(int64_t* stack) {
  const int code = Main(stack[0], reinterpret_cast<char**>(stack + 1));
  while (true) Call(SYS_exit_group, code, 0, 0);
}

// The stack as the kernel leaves it: the number of arguments, then they.
asm(".globl _start\n"
    "_start:\n"
    "  xor %ebp, %ebp\n"
    "  mov %rsp, %rdi\n"
    "  and $-16, %rsp\n"
    "  call Begin\n");
