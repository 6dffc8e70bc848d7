#include "kernels/common/testing/cuda_emulator.h"

#include <cmath>
#include <cstring>
#include <numeric>
#include <setjmp.h>
#include <string>
#include <sys/mman.h>
#include <ucontext.h>
#include <utility>
#include <vector>

#include "kernels/common/float16.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_UNPOISON_MEMORY_REGION(begin, bytes) static_cast<void>(begin)
#endif

namespace ordo::kernels::testing {
namespace {

constexpr int kWarp = 32;
constexpr int kMaxThreads = 1024;
constexpr int64_t kPage = 4096;
constexpr int64_t kMaxShared = SharedBytesOfBlock();
constexpr int64_t kStack = 32 * kPage;
// Of a stack, from its end on: as deep as kernels go.
constexpr int64_t kPoisonedStack = 4 * kPage;
constexpr int kPoison = 0xFF;

using Graph = std::vector<std::function<const char*()>>;
// What is captured; its address is the stream.
Graph* capturing = nullptr;

enum class State { kReady, kAtWarp, kAtBlock, kAtPhase, kEnded };

struct Lane;
// Does for 32 lanes what each of them has come to.
using Collective = void (*)(Lane* warp);

// 16 bytes that are on their way to shared memory.
struct Copy {
  void* to;
  const void* from;
  bool real;
};

struct Lane {
  ucontext_t start;
  jmp_buf context;
  bool started;
  State state;
  Collective collective;
  // Of the collective; they lie in the lane's stack.
  const void* row;
  const uint32_t* a;
  const uint32_t* b;
  uint32_t* words;
  float* floats;
  float (*from)(uint16_t);
  int mask;
  // Of DoTogether and of WaitForChange.
  void (*work)(void* const* arguments);
  void* argument;
  const uint32_t* phase;
  uint32_t parity;
  std::vector<Copy> open;
  std::vector<std::vector<Copy>> groups;
};

// The one launch there is.
struct Machine {
  std::vector<Lane> lanes{kMaxThreads};
  char* stacks = nullptr;
  // The end of shared memory, where a page begins that is nobody's.
  char* shared_end = nullptr;
  jmp_buf scheduler;
  Grid grid;
  int64_t block[3] = {};
  Lane* lane = nullptr;
  const std::function<void()>* thread = nullptr;
  uint64_t random = 0;
  std::string error;
  Unit unit = {[] {}, [] { return false; }};
};

char* Pages(int64_t bytes) {
  return static_cast<char*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                                 -1, 0));
}

Machine& TheMachine() {
  static auto* const machine = [] {
    auto* made = new Machine;
    made->stacks = Pages(kMaxThreads * kStack);
    for (int i = 0; i < kMaxThreads; ++i) {
      mprotect(made->stacks + i * kStack, kPage, PROT_NONE);
    }
    const int64_t bytes = (kMaxShared + kPage - 1) / kPage * kPage;
    made->shared_end = Pages(bytes + kPage) + bytes;
    mprotect(made->shared_end, kPage, PROT_NONE);
    return made;
  }();
  return *machine;
}

// The first error counts: what comes after may be its consequence.
void Fail(const std::string& what) {
  Machine& machine = TheMachine();
  if (!machine.error.empty()) return;
  machine.error = "emulated device, block (" +
                  std::to_string(machine.block[0]) + ", " +
                  std::to_string(machine.block[1]) + ", " +
                  std::to_string(machine.block[2]) + "): " + what;
}

// Back to the scheduler, until it resumes this lane.
void Wait(State state) {
  Machine& machine = TheMachine();
  machine.lane->state = state;
  if (_setjmp(machine.lane->context) == 0) _longjmp(machine.scheduler, 1);
}

void WaitForWarp(Collective collective) {
  TheMachine().lane->collective = collective;
  Wait(State::kAtWarp);
}

void RunThread() {
  Machine& machine = TheMachine();
  (*machine.thread)();
  machine.lane->state = State::kEnded;
  _longjmp(machine.scheduler, 1);
}

void Resume(Lane* lane) {
  Machine& machine = TheMachine();
  machine.lane = lane;
  if (_setjmp(machine.scheduler) != 0) return;
  if (lane->started) _longjmp(lane->context, 1);
  lane->started = true;
  setcontext(&lane->start);
}

void StartLanes() {
  Machine& machine = TheMachine();
  for (int i = 0; i < machine.grid.threads; ++i) {
    Lane& lane = machine.lanes[i];
    char* const stack = machine.stacks + i * kStack;
    // The address sanitizer knows of frames that nobody returned from.
    ASAN_UNPOISON_MEMORY_REGION(stack + kPage, kStack - kPage);
    memset(stack + kStack - kPoisonedStack, kPoison, kPoisonedStack);
    getcontext(&lane.start);
    lane.start.uc_stack.ss_sp = stack + kPage;
    lane.start.uc_stack.ss_size = kStack - kPage;
    lane.start.uc_link = nullptr;
    makecontext(&lane.start, RunThread, 0);
    lane.started = false;
    lane.state = State::kReady;
    lane.open.clear();
    lane.groups.clear();
  }
}

// Whether the lane can go on; one that waited for what has come to pass is
// ready.
bool CanGoOn(Lane* lane) {
  if (lane->state == State::kAtPhase && (*lane->phase & 1) != lane->parity) {
    lane->state = State::kReady;
  }
  return lane->state == State::kReady;
}

// Runs each ready lane of the warp to where it waits, then does what all wait
// for.
void RunWarp(int warp) {
  Lane* const lanes = &TheMachine().lanes[warp * kWarp];
  int waiting = 0, together = 0, behind = 0;
  for (int i = 0; i < kWarp; ++i) {
    if (CanGoOn(&lanes[i])) Resume(&lanes[i]);
    if (lanes[i].state == State::kAtPhase) ++behind;
    if (lanes[i].state != State::kAtWarp) continue;
    ++waiting;
    if (lanes[i].collective == lanes[0].collective) ++together;
  }
  if (waiting == 0 || behind > 0) return;
  if (together != kWarp) {
    return Fail("the lanes of warp " + std::to_string(warp) +
                " have parted before something they do together");
  }
  lanes[0].collective(lanes);
  for (int i = 0; i < kWarp; ++i) lanes[i].state = State::kReady;
}

int Count(State state) {
  Machine& machine = TheMachine();
  int count = 0;
  for (int i = 0; i < machine.grid.threads; ++i) {
    if (machine.lanes[i].state == state) ++count;
  }
  return count;
}

// A warp goes on for a while, so that it runs ahead of the others if nothing
// holds it back; -1 if none is ready.
int NextWarp(int last) {
  Machine& machine = TheMachine();
  std::vector<int> ready;
  for (int warp = 0; warp < machine.grid.threads / kWarp; ++warp) {
    bool any = false;
    for (int i = 0; i < kWarp; ++i) {
      any |= CanGoOn(&machine.lanes[warp * kWarp + i]);
    }
    if (!any) continue;
    if (warp == last && Draw(32) != 0) return warp;
    ready.push_back(warp);
  }
  return ready.empty() ? -1 : ready[Draw(ready.size())];
}

void RunBlock() {
  Machine& machine = TheMachine();
  const int threads = machine.grid.threads;
  memset(SharedMemory(), kPoison, machine.shared_end - SharedMemory());
  StartLanes();
  machine.unit.begin_block();
  int warp = -1;
  while (machine.error.empty() && Count(State::kEnded) < threads) {
    if (Draw(8) == 0) machine.unit.go_on();
    warp = NextWarp(warp);
    if (warp >= 0) {
      RunWarp(warp);
    } else if (machine.unit.go_on()) {
      continue;
    } else if (Count(State::kAtBlock) == threads) {
      for (int i = 0; i < threads; ++i) {
        machine.lanes[i].state = State::kReady;
      }
    } else {
      Fail("some threads have ended and others wait at a barrier");
    }
  }
}

// Whether `bytes` of shared memory are there, at a multiple of 16.
bool IsShared(const void* pointer, const char* what) {
  const char* const at = static_cast<const char*>(pointer);
  if (at < SharedMemory() || at + 16 > TheMachine().shared_end) {
    Fail(std::string(what) + " outside of shared memory");
    return false;
  }
  if (reinterpret_cast<uintptr_t>(at) % 16 != 0) {
    Fail(std::string(what) + " at no multiple of 16 bytes");
    return false;
  }
  return true;
}

void ShuffleLanes(Lane* warp) {
  float values[kWarp];
  for (int i = 0; i < kWarp; ++i) {
    values[i] = *warp[(i ^ warp[i].mask) % kWarp].floats;
  }
  for (int i = 0; i < kWarp; ++i) *warp[i].floats = values[i];
}

// mask: 1 to transpose.
void LoadLanes(Lane* warp) {
  for (int matrix = 0; matrix < 4; ++matrix) {
    uint16_t elements[8][8];
    for (int row = 0; row < 8; ++row) {
      const void* const from = warp[matrix * 8 + row].row;
      if (!IsShared(from, "a row of a matrix")) return;
      memcpy(elements[row], from, 16);
    }
    for (int i = 0; i < kWarp; ++i) {
      const int g = i / 4, t = i % 4;
      const bool turned = warp[i].mask == 1;
      const uint32_t low = turned ? elements[2 * t][g] : elements[g][2 * t];
      const uint32_t high =
          turned ? elements[2 * t + 1][g] : elements[g][2 * t + 1];
      warp[i].words[matrix] = low | high << 16;
    }
  }
}

void MultiplyLanes(Lane* warp) {
  float a[16][16], b[16][8], c[16][8];
  for (int i = 0; i < kWarp; ++i) {
    const auto from = warp[i].from;
    const auto low = [from](uint32_t pair) { return from(pair & 0xFFFF); };
    const auto high = [from](uint32_t pair) { return from(pair >> 16); };
    const int g = i / 4, t = i % 4;
    for (int part = 0; part < 4; ++part) {
      const int row = g + part % 2 * 8, column = 2 * t + part / 2 * 8;
      a[row][column] = low(warp[i].a[part]);
      a[row][column + 1] = high(warp[i].a[part]);
    }
    for (int part = 0; part < 2; ++part) {
      b[2 * t + part * 8][g] = low(warp[i].b[part]);
      b[2 * t + part * 8 + 1][g] = high(warp[i].b[part]);
      c[g + part * 8][2 * t] = warp[i].floats[2 * part];
      c[g + part * 8][2 * t + 1] = warp[i].floats[2 * part + 1];
    }
  }
  for (int row = 0; row < 16; ++row) {
    for (int k = 0; k < 16; ++k) {
      for (int n = 0; n < 8; ++n) c[row][n] += a[row][k] * b[k][n];
    }
  }
  for (int i = 0; i < kWarp; ++i) {
    const int g = i / 4, t = i % 4;
    for (int part = 0; part < 2; ++part) {
      warp[i].floats[2 * part] = c[g + part * 8][2 * t];
      warp[i].floats[2 * part + 1] = c[g + part * 8][2 * t + 1];
    }
  }
}

void WorkLanes(Lane* warp) {
  void* arguments[kWarp];
  for (int i = 0; i < kWarp; ++i) {
    if (warp[i].work != warp[0].work) {
      return Fail("the lanes of a warp do different things together");
    }
    arguments[i] = warp[i].argument;
  }
  warp[0].work(arguments);
}

// Operands of MultiplyLanes.
struct Operands {
  const uint32_t* a;
  const uint32_t* b;
  float (*from)(uint16_t);
};

void MultiplyWith(const Operands& operands, float c[4]) {
  Lane* const lane = TheMachine().lane;
  lane->a = operands.a;
  lane->b = operands.b;
  lane->from = operands.from;
  lane->floats = c;
  WaitForWarp(MultiplyLanes);
}

void LoadRows(const void* row, uint32_t matrices[4], int mask) {
  Lane* const lane = TheMachine().lane;
  lane->row = row;
  lane->words = matrices;
  lane->mask = mask;
  WaitForWarp(LoadLanes);
}

}  // namespace

void FailRun(const std::string& what) { Fail(what); }

void SetUnit(const Unit& unit) { TheMachine().unit = unit; }

void DoTogether(void (*work)(void* const* arguments), void* argument) {
  Lane* const lane = TheMachine().lane;
  lane->work = work;
  lane->argument = argument;
  WaitForWarp(WorkLanes);
}

void WaitForChange(const uint32_t* phase, uint32_t parity) {
  if ((*phase & 1) != parity) return;
  Lane* const lane = TheMachine().lane;
  lane->phase = phase;
  lane->parity = parity;
  Wait(State::kAtPhase);
}

uint64_t Draw(uint64_t limit) {
  uint64_t& x = TheMachine().random;
  x = x * 6364136223846793005U + 1442695040888963407U;
  return (x >> 33) % limit;
}

int64_t SharedBytes() { return TheMachine().shared_end - SharedMemory(); }

void SetSchedule(uint64_t seed) { TheMachine().random = seed; }

const char* RunGrid(const Grid& grid, const std::function<void()>& thread) {
  Machine& machine = TheMachine();
  machine.error.clear();
  machine.grid = grid;
  machine.thread = &thread;
  if (grid.threads < 1 || grid.threads > kMaxThreads ||
      grid.threads % kWarp != 0) {
    return "emulated device: threads must be whole warps, at most 1024";
  }
  if (grid.shared_bytes > kMaxShared) {
    return "emulated device: more than 227 KB of shared memory";
  }
  if (grid.x < 1 || grid.y < 1 || grid.z < 1 || grid.y > 65535 ||
      grid.z > 65535) {
    return "emulated device: a grid of no, or of too many blocks";
  }
  std::vector<int64_t> order(grid.x * grid.y * grid.z);
  std::iota(order.begin(), order.end(), 0);
  for (size_t left = order.size(); left > 1; --left) {
    std::swap(order[left - 1], order[Draw(left)]);
  }
  for (const int64_t number : order) {
    machine.block[0] = number % grid.x;
    machine.block[1] = number / grid.x % grid.y;
    machine.block[2] = number / grid.x / grid.y;
    RunBlock();
    if (!machine.error.empty()) return machine.error.c_str();
  }
  return nullptr;
}

const char* DoOrKeep(void* stream, std::function<const char*()> work) {
  if (capturing == nullptr) return work();
  if (stream != capturing) {
    return "emulated device: work on another stream than is captured";
  }
  capturing->push_back(std::move(work));
  return nullptr;
}

const DeviceGraphs& EmulatedGraphs() {
  static const DeviceGraphs kGraphs = {
      [](void (*queue)(void* of, void* stream), void* of,
         void** graph) -> const char* {
        capturing = new Graph;
        *graph = capturing;
        queue(of, capturing);
        capturing = nullptr;
        return nullptr;
      },
      [](void* graph) -> const char* {
        for (const auto& work : *static_cast<Graph*>(graph)) {
          const char* const error = work();
          if (error != nullptr) return error;
        }
        return nullptr;
      },
      [](void* graph) { delete static_cast<Graph*>(graph); }};
  return kGraphs;
}

int ThreadId() {
  Machine& machine = TheMachine();
  return static_cast<int>(machine.lane - machine.lanes.data());
}
int64_t BlockX() { return TheMachine().block[0]; }
int64_t BlockY() { return TheMachine().block[1]; }
int64_t BlockZ() { return TheMachine().block[2]; }
int64_t GridX() { return TheMachine().grid.x; }

char* SharedMemory() {
  Machine& machine = TheMachine();
  return machine.shared_end - (machine.grid.shared_bytes + 127) / 128 * 128;
}

void SyncThreads() { Wait(State::kAtBlock); }

float ShuffleXor(float value, int mask) {
  Lane* const lane = TheMachine().lane;
  lane->floats = &value;
  lane->mask = mask;
  WaitForWarp(ShuffleLanes);
  return value;
}

uint32_t PackBfloat16(float low, float high) {
  const auto round = [](float x) -> uint32_t {
    const uint32_t bits = AsWord(x);
    if (std::isnan(x)) return 0x7FFF;
    return (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  };
  return round(low) | round(high) << 16;
}

float FromBfloat16(uint16_t x) { return AsFloat(uint32_t{x} << 16); }

uint32_t PackFloat16(float low, float high) {
  return ToFloat16(low) | static_cast<uint32_t>(ToFloat16(high)) << 16;
}

float FromFloat16(uint16_t x) { return kernels::FromFloat16(x); }

float AsFloat(uint32_t word) {
  float x = 0;
  memcpy(&x, &word, sizeof x);
  return x;
}

uint32_t AsWord(float x) {
  uint32_t word = 0;
  memcpy(&word, &x, sizeof word);
  return word;
}

bool IsAligned(const void* at, int bytes) {
  if (reinterpret_cast<uintptr_t>(at) % bytes == 0) return true;
  Fail("words at no multiple of " + std::to_string(bytes) + " bytes");
  return false;
}

void LoadMatrices(const void* row, uint32_t matrices[4]) {
  LoadRows(row, matrices, 0);
}

void LoadTransposed(const void* row, uint32_t matrices[4]) {
  LoadRows(row, matrices, 1);
}

void MultiplyAdd(const uint32_t a[4], const uint32_t b[2], float c[4]) {
  MultiplyWith({a, b, FromBfloat16}, c);
}

void MultiplyAddFloat16(const uint32_t a[4], const uint32_t b[2], float c[4]) {
  MultiplyWith({a, b, FromFloat16}, c);
}

void CopyAsync(void* shared, const void* global, bool real) {
  if (!IsShared(shared, "a copy")) return;
  if (real && reinterpret_cast<uintptr_t>(global) % 16 != 0) {
    return Fail("a copy from no multiple of 16 bytes");
  }
  memset(shared, kPoison, 16);
  TheMachine().lane->open.push_back({shared, global, real});
}

void CommitCopies() {
  Lane* const lane = TheMachine().lane;
  lane->groups.push_back(std::move(lane->open));
  lane->open.clear();
}

void WaitForCopiesBut(int pending) {
  std::vector<std::vector<Copy>>& groups = TheMachine().lane->groups;
  while (groups.size() > static_cast<size_t>(pending)) {
    for (const Copy& copy : groups.front()) {
      memset(copy.to, 0, 16);
      if (copy.real) memcpy(copy.to, copy.from, 16);
    }
    groups.erase(groups.begin());
  }
}

}  // namespace ordo::kernels::testing
