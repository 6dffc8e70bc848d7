#include "kernels/common/testing/cuda_hopper_emulator.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

namespace ordo::kernels::testing {
namespace {

constexpr int kWarp = 32;
constexpr int kMaxWarps = 32;
constexpr int kMaxColumns = 256;
constexpr int kInner = 16;
constexpr int kPiece = 16;
constexpr int kPoison = 0xFF;
constexpr uint32_t kPoisonWord = 0xFFFFFFFF;
// As far as descriptors reach.
constexpr int64_t kAddresses = 256 * 1024;

struct Barrier {
  int arrivals;
  int missing;
  int64_t bytes;
  uint32_t phase;
};

// A box on its way.
struct Box {
  BoxedTensor tensor;
  BoxPlace place;
  char* tile;
  uint64_t* barrier;
};

// Sums of a warp that products work on, 16 rows.
struct Sums {
  float* lanes[kWarp];
  int columns;
  int products;
  float rows[16][kMaxColumns];
};

using Pieces = std::vector<std::array<uint16_t, 8>>;

// What a warp has begun.
struct Started {
  Product product;
  const uint32_t* registers[kWarp];
  uint32_t left[kWarp][4];
  Pieces left_pieces;
  Pieces right_pieces;
  float* key;
};

struct Warp {
  bool begun;
  std::vector<Started> open;
  std::vector<std::vector<Started>> groups;
  // By the first lane's registers.
  std::map<float*, Sums> sums;
};

struct Some {
  int threads;
  uint32_t phase;
};

struct State {
  // What products see of shared memory.
  std::vector<char> seen;
  std::map<uint64_t*, Barrier> barriers;
  std::vector<Box> boxes;
  Warp warps[kMaxWarps];
  Some some[8];
};

State& TheState() {
  static auto* const state = new State;
  return *state;
}

// Addresses of shared memory end with it: tiles are not aligned by chance.
char* AddressZero() { return SharedMemory() + SharedBytes() - kAddresses; }

int64_t SwizzledAddress(int64_t address) {
  return address ^ ((address >> 7 & 7) << 4);
}

void CompletePhase(Barrier* barrier) {
  if (barrier->missing != 0 || barrier->bytes != 0) return;
  barrier->missing = barrier->arrivals;
  ++barrier->phase;
}

Barrier* FindBarrier(uint64_t* barrier) {
  std::map<uint64_t*, Barrier>& all = TheState().barriers;
  const auto found = all.find(barrier);
  if (found != all.end()) return &found->second;
  FailRun("a barrier that was not begun");
  return nullptr;
}

void ArriveAt(uint64_t* at, int64_t bytes) {
  Barrier* const barrier = FindBarrier(at);
  if (barrier == nullptr) return;
  if (barrier->missing == 0) {
    return FailRun("more have arrived at a barrier than it waits for");
  }
  --barrier->missing;
  barrier->bytes += bytes;
  CompletePhase(barrier);
}

// One row of a box: what lies in the tensor, and zeros.
std::array<uint16_t, kTileColumns> RowOfBox(const Box& box, int row) {
  std::array<uint16_t, kTileColumns> numbers = {};
  const BoxedTensor& tensor = box.tensor;
  const int64_t place[4] = {box.place.column, int64_t{box.place.row} + row,
                            box.place.head, box.place.batch};
  int64_t offset = 0;
  for (int i = 1; i < 4; ++i) {
    if (place[i] < 0 || place[i] >= tensor.sizes[i]) return numbers;
    offset += place[i] * tensor.strides[i - 1];
  }
  const auto* const data = static_cast<const uint16_t*>(tensor.data) + offset;
  for (int i = 0; i < kTileColumns; ++i) {
    const int64_t column = place[0] + i;
    if (column >= 0 && column < tensor.sizes[0]) numbers[i] = data[column];
  }
  return numbers;
}

// One of the boxes on their way arrives, if there is any.
bool LetOneArrive() {
  State& state = TheState();
  if (state.boxes.empty()) return false;
  const size_t chosen = Draw(state.boxes.size());
  const Box box = state.boxes[chosen];
  state.boxes.erase(state.boxes.begin() + static_cast<int64_t>(chosen));
  const int rows = box.tensor.rows;
  for (int row = 0; row < rows; ++row) {
    const auto numbers = RowOfBox(box, row);
    for (int piece = 0; piece < 8; ++piece) {
      const int64_t address = SwizzledAddress(
          SharedAddress(box.tile) + row * kTileRowBytes + piece * kPiece);
      char* const to = AddressZero() + address;
      memcpy(to, &numbers[static_cast<size_t>(piece) * 8], kPiece);
      memcpy(&state.seen[to - SharedMemory()], to, kPiece);
    }
  }
  Barrier* const barrier = FindBarrier(box.barrier);
  if (barrier == nullptr) return true;
  barrier->bytes -= rows * kTileRowBytes;
  CompletePhase(barrier);
  return true;
}

void BeginBlock() {
  State& state = TheState();
  state.seen.assign(SharedBytes(), static_cast<char>(kPoison));
  state.barriers.clear();
  state.boxes.clear();
  for (Warp& warp : state.warps) warp = Warp();
  for (Some& some : state.some) some = {0, 0};
}

bool IsInside(const char* from, int64_t bytes) {
  return from >= SharedMemory() && bytes >= 0 &&
         from + bytes <= SharedMemory() + SharedBytes();
}

// The pieces of `count` rows or columns of an operand, two for each.
Pieces ReadOperand(uint64_t descriptor, bool turned, int count) {
  const int64_t begin = static_cast<int64_t>(descriptor & 0x3FFF) << 4;
  const int64_t leading = static_cast<int64_t>(descriptor >> 16 & 0x3FFF) << 4;
  const int64_t stride = static_cast<int64_t>(descriptor >> 32 & 0x3FFF) << 4;
  Pieces pieces(2 * static_cast<size_t>(count));
  if (descriptor >> 62 != 1 || (descriptor >> 49 & 7) != 0 ||
      (begin >> 7 & 7) != 0) {
    FailRun("an operand that does not begin where its pattern does");
    return pieces;
  }
  if (turned && begin % kTileRowBytes != 0) {
    FailRun("a turned operand that does not begin with its row");
    return pieces;
  }
  for (size_t i = 0; i < pieces.size(); ++i) {
    const int64_t at = static_cast<int64_t>(i);
    // Not turned: row at / 2, of 32 bytes. Turned: 16 rows of each tile.
    const int64_t row = turned ? at / 8 % kInner : at / 2;
    const int64_t within = turned ? at % 8 : at % 2;
    const int64_t tile = turned ? at / 8 / kInner : 0;
    const int64_t address =
        SwizzledAddress(begin + tile * leading + row / 8 * stride +
                        row % 8 * kTileRowBytes + within * kPiece);
    const char* const from = AddressZero() + address;
    if (!IsInside(from, kPiece)) {
      FailRun("an operand outside of shared memory");
      return pieces;
    }
    memcpy(&pieces[i], &TheState().seen[from - SharedMemory()], kPiece);
  }
  return pieces;
}

// Element of the inner axis and of the other one.
uint16_t ElementOf(const Pieces& pieces, bool turned, int inner, int other) {
  const int piece = turned ? (other / kTileColumns * kInner + inner) * 8 +
                                 other % kTileColumns / 8
                           : other * 2 + inner / 8;
  return pieces[piece][(turned ? other : inner) % 8];
}

// Element i of the sums of a lane.
float& SumOf(Sums* sums, int lane, int i) {
  return sums->rows[lane / 4 + i % 4 / 2 * 8][i / 4 * 8 + lane % 4 * 2 + i % 2];
}

// The warp's sums, taken from its registers, which are poison from now on.
Sums* Take(Warp* warp, void* const* arguments, const Product& product) {
  Sums& sums = warp->sums[product.sums];
  if (sums.products++ > 0) {
    if (sums.columns != product.columns) FailRun("sums of another width");
    return &sums;
  }
  if (!warp->begun) FailRun("a product without BeginProducts");
  sums.columns = product.columns;
  for (int lane = 0; lane < kWarp; ++lane) {
    float* const from = static_cast<const Product*>(arguments[lane])->sums;
    sums.lanes[lane] = from;
    for (int i = 0; i < product.columns / 2; ++i) {
      SumOf(&sums, lane, i) = from[i];
      memcpy(&from[i], &kPoisonWord, sizeof kPoisonWord);
    }
  }
  return &sums;
}

int WarpOf(int thread) { return thread / kWarp; }

// The number of the warp that does something together: that of any lane that
// was last resumed.
Warp& ThisWarp() { return TheState().warps[WarpOf(ThreadId())]; }

void BeginLanes(void* const* arguments) {
  Warp& warp = ThisWarp();
  const Product& first = *static_cast<const Product*>(arguments[0]);
  Started started = {};
  started.product = first;
  started.key = first.sums;
  for (int lane = 0; lane < kWarp; ++lane) {
    const Product& product = *static_cast<const Product*>(arguments[lane]);
    if (product.left != first.left || product.right != first.right ||
        product.adds != first.adds) {
      return FailRun("the lanes of a warp have different operands");
    }
    started.registers[lane] = product.registers;
    if (product.registers == nullptr) continue;
    memcpy(started.left[lane], product.registers, sizeof started.left[lane]);
  }
  if (first.registers == nullptr) {
    started.left_pieces = ReadOperand(first.left, first.turn_left, 64);
  }
  started.right_pieces =
      ReadOperand(first.right, first.turn_right, first.columns);
  Take(&warp, arguments, first);
  warp.open.push_back(std::move(started));
}

// The left operand, 16 rows of the warp.
void FillLeft(const Started& started, int warp, float (&left)[16][kInner]) {
  const Product& product = started.product;
  for (int row = 0; row < 16 && product.registers == nullptr; ++row) {
    for (int k = 0; k < kInner; ++k) {
      left[row][k] = product.from(ElementOf(
          started.left_pieces, product.turn_left, k, warp % 4 * 16 + row));
    }
  }
  for (int lane = 0; lane < kWarp && product.registers != nullptr; ++lane) {
    for (int part = 0; part < 4; ++part) {
      const int row = lane / 4 + part % 2 * 8;
      const int k = lane % 4 * 2 + part / 2 * 8;
      const uint32_t pair = started.left[lane][part];
      left[row][k] = product.from(pair & 0xFFFF);
      left[row][k + 1] = product.from(pair >> 16);
    }
  }
}

// Whether nobody touched what a product had yet to read.
bool IsUntouched(const Started& started) {
  const Product& product = started.product;
  for (int lane = 0; lane < kWarp && product.registers != nullptr; ++lane) {
    if (memcmp(started.left[lane], started.registers[lane],
               sizeof started.left[lane]) != 0) {
      FailRun("registers were written while a product read them");
      return false;
    }
  }
  if ((product.registers == nullptr &&
       started.left_pieces !=
           ReadOperand(product.left, product.turn_left, 64)) ||
      started.right_pieces !=
          ReadOperand(product.right, product.turn_right, product.columns)) {
    FailRun("a tile was written while a product read it");
    return false;
  }
  return true;
}

void Multiply(const Started& started, int warp, Sums* sums) {
  const Product& product = started.product;
  float left[16][kInner];
  FillLeft(started, warp, left);
  static float right[kInner][kMaxColumns];
  for (int k = 0; k < kInner; ++k) {
    for (int n = 0; n < product.columns; ++n) {
      right[k][n] = product.from(
          ElementOf(started.right_pieces, product.turn_right, k, n));
    }
  }
  for (int row = 0; row < 16; ++row) {
    float* const to = sums->rows[row];
    if (!product.adds) std::fill_n(to, product.columns, 0.0F);
    for (int k = 0; k < kInner; ++k) {
      const float factor = left[row][k];
      for (int n = 0; n < product.columns; ++n) to[n] += factor * right[k][n];
    }
  }
}

// Hands the sums back to the lanes.
void Return(Sums* sums) {
  for (int lane = 0; lane < kWarp; ++lane) {
    for (int i = 0; i < sums->columns / 2; ++i) {
      float* const to = &sums->lanes[lane][i];
      if (memcmp(to, &kPoisonWord, sizeof kPoisonWord) != 0) {
        return FailRun("sums were written while a product worked on them");
      }
      *to = SumOf(sums, lane, i);
    }
  }
}

void WaitLanes(void* const* arguments) {
  Warp& warp = ThisWarp();
  const auto pending = static_cast<size_t>(*static_cast<int*>(arguments[0]));
  while (warp.groups.size() > pending) {
    for (const Started& started : warp.groups.front()) {
      Sums& sums = warp.sums[started.key];
      if (!IsUntouched(started)) return;
      Multiply(started, WarpOf(ThreadId()), &sums);
      if (--sums.products > 0) continue;
      Return(&sums);
      warp.sums.erase(started.key);
    }
    warp.groups.erase(warp.groups.begin());
  }
  warp.begun = false;
}

}  // namespace

const char* MakeTensorMap(const BoxedTensor& tensor, TensorMap* map) {
  // Here and not at the start: programs without it need none.
  SetUnit({BeginBlock, LetOneArrive});
  if (reinterpret_cast<uintptr_t>(tensor.data) % 16 != 0) {
    return "emulated device: a tensor map of data at no multiple of 16 bytes";
  }
  for (int i = 0; i < 3; ++i) {
    if (tensor.sizes[i + 1] != 1 && tensor.strides[i] % 8 != 0) {
      return "emulated device: a tensor map with a stride that is no multiple "
             "of 16 bytes";
    }
  }
  if (tensor.rows < 1 || tensor.rows > 256 || tensor.sizes[0] < 1 ||
      tensor.sizes[1] < 1 || tensor.sizes[2] < 1 || tensor.sizes[3] < 1) {
    return "emulated device: a tensor map of no, or of too many elements";
  }
  map->tensor = tensor;
  return nullptr;
}

int GroupId() { return ThreadId() / kGroupThreads; }

void SyncWarp() {
  DoTogether([](void* const*) {}, nullptr);
}

void SyncSome(int barrier, int threads) {
  if (barrier < 0 || barrier >= 8) {
    return FailRun("a barrier of some threads that is not one of eight");
  }
  Some& some = TheState().some[barrier];
  const uint32_t parity = some.phase & 1;
  if (++some.threads == threads) {
    some.threads = 0;
    ++some.phase;
    return;
  }
  WaitForChange(&some.phase, parity);
}

void PublishToProducts() {
  DoTogether(
      [](void* const*) {
        memcpy(TheState().seen.data(), SharedMemory(), SharedBytes());
      },
      nullptr);
}

void BeginBarrier(uint64_t* barrier, int arrivals) {
  if (!IsInside(reinterpret_cast<char*>(barrier), 8) ||
      reinterpret_cast<uintptr_t>(barrier) % 8 != 0) {
    return FailRun("a barrier at no multiple of 8 bytes of shared memory");
  }
  TheState().barriers[barrier] = {arrivals, arrivals, 0, 0};
}

void Arrive(uint64_t* barrier) { ArriveAt(barrier, 0); }

void ArriveExpecting(uint64_t* barrier, int64_t bytes) {
  ArriveAt(barrier, bytes);
}

void WaitForPhase(uint64_t* barrier, int parity) {
  Barrier* const found = FindBarrier(barrier);
  if (found == nullptr) return;
  WaitForChange(&found->phase, static_cast<uint32_t>(parity));
}

void CopyBox(const TensorMap& map, const BoxPlace& place, void* tile,
             uint64_t* barrier) {
  const int64_t bytes = map.tensor.rows * kTileRowBytes;
  char* const to = static_cast<char*>(tile);
  if (SharedAddress(tile) % kTileAlignment != 0 || !IsInside(to, bytes)) {
    return FailRun("a box to no tile of shared memory");
  }
  memset(to, kPoison, bytes);
  memset(&TheState().seen[to - SharedMemory()], kPoison, bytes);
  TheState().boxes.push_back({map.tensor, place, to, barrier});
}

const char* Clear(void* memory, int64_t bytes, void* stream) {
  return DoOrKeep(stream, [memory, bytes]() -> const char* {
    memset(memory, 0, bytes);
    return nullptr;
  });
}

void AddPair(float* pair, float x, float y) {
  if (reinterpret_cast<uintptr_t>(pair) % 8 != 0) {
    return FailRun("a pair at no multiple of 8 bytes");
  }
  pair[0] += x;
  pair[1] += y;
}

int TakeTicket(int* tickets) { return (*tickets)++; }

void WaitForTurn(const int* turns, int turn) {
  if (*turns != turn) FailRun("a turn that nobody before has ended");
}

void EndTurn(int* turns) { ++*turns; }

uint32_t SharedAddress(const void* pointer) {
  return static_cast<uint32_t>(static_cast<const char*>(pointer) -
                               AddressZero());
}

void BeginProducts() {
  DoTogether([](void* const*) { ThisWarp().begun = true; }, nullptr);
}

void CommitProducts() {
  DoTogether(
      [](void* const*) {
        Warp& warp = ThisWarp();
        warp.groups.push_back(std::move(warp.open));
        warp.open.clear();
      },
      nullptr);
}

void WaitForProductsBut(int pending) { DoTogether(WaitLanes, &pending); }

void Begin(Product product) { DoTogether(BeginLanes, &product); }

}  // namespace ordo::kernels::testing
