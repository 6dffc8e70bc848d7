#include "kernels/common/testing/cuda_hopper_emulator.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/common/cuda_hopper_products.h"

namespace ordo::kernels::testing {
namespace {

using ::testing::HasSubstr;

constexpr int kRows = 64;
constexpr int64_t kTileBytes = kRows * kTileRowBytes;

template <typename Element>
uint16_t Bits(float x) {
  return static_cast<uint16_t>(Element::Pack(x, 0) & 0xFFFF);
}

// Small whole numbers: products of them are exact.
float Number(int64_t row, int64_t column) {
  return static_cast<float>((row * 7 + column * 3) % 11 - 5);
}

// [1, 2, kRows + 6, kColumns] with gaps, head 1 is Number().
template <typename Element>
struct SourceOf {
  explicit SourceOf(int columns) : numbers(2 * (kRows + 6) * (columns + 8)) {
    tensor = {numbers.data(),
              {columns, kRows + 6, 2, 1},
              {columns + 8, (kRows + 6) * (columns + 8), 1},
              kRows};
    for (int64_t row = 0; row < kRows + 6; ++row) {
      for (int64_t column = 0; column < columns; ++column) {
        numbers[tensor.strides[1] + row * tensor.strides[0] + column] =
            Bits<Element>(Number(row, column));
      }
    }
    EXPECT_EQ(MakeTensorMap(tensor, &map), nullptr);
  }
  std::vector<uint16_t> numbers;
  BoxedTensor tensor;
  TensorMap map;
};

using Source = SourceOf<Bfloat16>;

char* Tile(int i) {
  const uint32_t beyond = SharedAddress(SharedMemory()) % kTileAlignment;
  return SharedMemory() + (kTileAlignment - beyond) % kTileAlignment +
         i * kTileBytes;
}

uint64_t* BarrierAt(int i) { return reinterpret_cast<uint64_t*>(Tile(4)) + i; }

// Boxes from `row` on of head 1 in the first tiles, one for each 64 columns.
template <typename Element>
void Load(const SourceOf<Element>& source, int row) {
  const int64_t tiles = (source.tensor.sizes[0] + 63) / 64;
  if (ThreadId() == 0) {
    BeginBarrier(BarrierAt(0), 1);
    ArriveExpecting(BarrierAt(0), tiles * kTileBytes);
    for (int i = 0; i < tiles; ++i) {
      CopyBox(source.map, {64 * i, row, 1, 0}, Tile(i), BarrierAt(0));
    }
  }
  SyncThreads();
  WaitForPhase(BarrierAt(0), 0);
}

std::string RunBlock(const std::function<void()>& thread) {
  SetSchedule(1);
  const char* const error =
      RunGrid({1, 1, 1, kGroupThreads, 6 * kTileBytes}, thread);
  return error == nullptr ? "" : error;
}

// A lane's element i of a fragment.
int RowOf(int i) {
  return ThreadId() / 32 * 16 + ThreadId() % 32 / 4 + i % 4 / 2 * 8;
}
int ColumnOf(int i) { return i / 4 * 8 + ThreadId() % 4 * 2 + i % 2; }

template <typename Element>
class CudaHopperProductTest : public ::testing::Test {};
using Elements = ::testing::Types<Bfloat16, Float16>;
TYPED_TEST_SUITE(CudaHopperProductTest, Elements);

TYPED_TEST(CudaHopperProductTest, RowsTimesRowsIsTheirProduct) {
  const SourceOf<TypeParam> source(64);
  int count = 0;
  EXPECT_EQ(RunBlock([&] {
              Load(source, 0);
              float sums[8][4] = {};
              BeginProducts();
              for (int k = 0; k < 64; k += 16) {
                MultiplyTiles<TypeParam, 64, false, false>(
                    AlongRows(Tile(0), k), AlongRows(Tile(0), k), k != 0, sums);
              }
              CommitProducts();
              WaitForProducts<0>();
              for (int i = 0; i < 32; ++i) {
                float right = 0;
                for (int k = 0; k < 64; ++k) {
                  right += Number(RowOf(i), k) * Number(ColumnOf(i), k);
                }
                EXPECT_EQ(sums[i / 4][i % 4], right) << i;
                ++count;
              }
            }),
            "");
  EXPECT_EQ(count, 64 * 64);
}

// Both operands turned, the right one over two tiles: sums over rows.
TYPED_TEST(CudaHopperProductTest, ColumnsTimesColumnsIsTheirProduct) {
  const SourceOf<TypeParam> source(128);
  EXPECT_EQ(RunBlock([&] {
              Load(source, 0);
              float sums[16][4];
              BeginProducts();
              for (int k = 0; k < kRows; k += 16) {
                MultiplyTiles<TypeParam, 128, true, true>(
                    AlongColumns(Tile(1) + k * kTileRowBytes, kTileBytes),
                    AlongColumns(Tile(0) + k * kTileRowBytes, kTileBytes),
                    k != 0, sums);
              }
              CommitProducts();
              WaitForProducts<0>();
              for (int i = 0; i < 64; ++i) {
                float right = 0;
                for (int k = 0; k < kRows; ++k) {
                  right += Number(k, 64 + RowOf(i)) * Number(k, ColumnOf(i));
                }
                EXPECT_EQ(sums[i / 4][i % 4], right) << i;
              }
            }),
            "");
}

TYPED_TEST(CudaHopperProductTest, RegistersTimesColumnsAddsToSums) {
  const SourceOf<TypeParam> source(64);
  EXPECT_EQ(RunBlock([&] {
              Load(source, 0);
              uint32_t left[4];
              for (int part = 0; part < 4; ++part) {
                const int row = RowOf(part % 2 * 2);
                const int k = ThreadId() % 4 * 2 + part / 2 * 8;
                left[part] =
                    TypeParam::Pack(Number(row, k + 9), Number(row, k + 10));
              }
              float sums[8][4];
              for (int i = 0; i < 32; ++i) sums[i / 4][i % 4] = 100;
              BeginProducts();
              MultiplyRegisters<TypeParam, 64, true>(
                  left, AlongColumns(Tile(0), kTileBytes), true, sums);
              CommitProducts();
              WaitForProducts<0>();
              for (int i = 0; i < 32; ++i) {
                float right = 100;
                for (int k = 0; k < 16; ++k) {
                  right += Number(RowOf(i), k + 9) * Number(k, ColumnOf(i));
                }
                EXPECT_EQ(sums[i / 4][i % 4], right) << i;
              }
            }),
            "");
}

// Piece i of row r at i ^ (r % 8), as cuda_box.h has it.
TEST(CudaHopperEmulatorTest, ABoxLiesExchangedWithZerosBeyondItsTensor) {
  const Source source(40);
  EXPECT_EQ(
      RunBlock([&] {
        Load(source, 9);
        if (ThreadId() != 0) return;
        for (int row = 0; row < kRows; ++row) {
          for (int column = 0; column < 64; ++column) {
            const auto* const tile = reinterpret_cast<const uint16_t*>(Tile(0));
            const int piece = column / 8 ^ row % 8;
            const bool inside = row + 9 < kRows + 6 && column < 40;
            EXPECT_EQ(tile[row * 64 + piece * 8 + column % 8],
                      inside ? Bits<Bfloat16>(Number(row + 9, column)) : 0)
                << row << ", " << column;
          }
        }
      }),
      "");
}

TEST(CudaHopperEmulatorTest, ABoxIsPoisonUntilItsBarrierSaysSo) {
  const Source source(64);
  EXPECT_EQ(RunBlock([&] {
              if (ThreadId() != 0) return;
              BeginBarrier(BarrierAt(0), 1);
              ArriveExpecting(BarrierAt(0), kTileBytes);
              CopyBox(source.map, {0, 0, 1, 0}, Tile(0), BarrierAt(0));
              EXPECT_EQ(*reinterpret_cast<uint16_t*>(Tile(0)), 0xFFFF);
              WaitForPhase(BarrierAt(0), 0);
              EXPECT_EQ(*reinterpret_cast<uint16_t*>(Tile(0)),
                        Bits<Bfloat16>(Number(0, 0)));
            }),
            "");
}

TEST(CudaHopperEmulatorTest, SomeThreadsWaitForEachOther) {
  EXPECT_EQ(RunBlock([&] {
              auto* const shared = reinterpret_cast<int*>(SharedMemory());
              if (ThreadId() < 64) {
                shared[ThreadId()] = ThreadId();
                SyncSome(1, 64);
                EXPECT_EQ(shared[63 - ThreadId()], 63 - ThreadId());
              } else if (ThreadId() < 96) {
                EXPECT_EQ(GroupId(), 0);
              }
            }),
            "");
}

TEST(CudaHopperEmulatorTest, SomeThreadsHaveEightBarriers) {
  EXPECT_THAT(RunBlock([&] {
                if (ThreadId() < 64) SyncSome(8, 64);
              }),
              HasSubstr("a barrier of some threads that is not one of eight"));
}

// What threads wrote, and did not publish, products do not see.
TEST(CudaHopperEmulatorTest, ProductsSeeWhatWasPublished) {
  const Source source(64);
  const auto first_sum = [&](bool published) {
    float first = 0;
    EXPECT_EQ(RunBlock([&] {
                Load(source, 0);
                auto* const tile = reinterpret_cast<uint32_t*>(Tile(0));
                for (int i = ThreadId(); i < kTileBytes / 4;
                     i += kGroupThreads) {
                  tile[i] = 0;
                }
                if (published) PublishToProducts();
                SyncThreads();
                float sums[8][4];
                BeginProducts();
                MultiplyTiles<Bfloat16, 64, false, false>(
                    AlongRows(Tile(0), 0), AlongRows(Tile(0), 0), false, sums);
                CommitProducts();
                WaitForProducts<0>();
                if (ThreadId() == 0) first = sums[0][0];
              }),
              "");
    return first;
  };
  EXPECT_EQ(first_sum(true), 0);
  EXPECT_NE(first_sum(false), 0);
}

// A product of tile 0 with itself, with a mistake at its begin, while it runs,
// or after it.
struct Mistake {
  std::string what;
  std::function<void(float (*sums)[4])> mistake;
};

TEST(CudaHopperEmulatorTest, MistakesAreSaid) {
  const Source source(64);
  const auto multiply = [](const void* tile, float(*sums)[4]) {
    Begin({FromBfloat16, nullptr, AlongRows(tile, 0), AlongRows(Tile(0), 0),
           false, false, false, 64, sums[0]});
    CommitProducts();
  };
  const std::vector<Mistake> mistakes = {
      {"without BeginProducts",
       [&](float(*sums)[4]) { multiply(Tile(0), sums); }},
      {"does not begin where its pattern does",
       [&](float(*sums)[4]) { multiply(Tile(0) + kTileRowBytes, sums); }},
      {"an operand outside of shared memory",
       [&](float(*sums)[4]) { multiply(Tile(6), sums); }},
      {"sums were written",
       [&](float(*sums)[4]) {
         BeginProducts();
         multiply(Tile(0), sums);
         sums[0][0] = 1;
         WaitForProducts<0>();
       }},
      {"a tile was written",
       [&](float(*sums)[4]) {
         BeginProducts();
         multiply(Tile(0), sums);
         if (ThreadId() == 0) {
           CopyBox(source.map, {0, 0, 1, 0}, Tile(0), BarrierAt(0));
         }
         WaitForProducts<0>();
       }},
      {"registers were written",
       [&](float(*sums)[4]) {
         uint32_t left[4] = {};
         BeginProducts();
         Begin({FromBfloat16, left, 0, AlongColumns(Tile(0), 0), false, true,
                false, 64, sums[0]});
         CommitProducts();
         left[0] = 1;
         WaitForProducts<0>();
       }},
      {"a barrier that was not begun",
       [&](float(*)[4]) { WaitForPhase(BarrierAt(1), 0); }},
      {"more have arrived",
       [&](float(*)[4]) {
         ArriveExpecting(BarrierAt(0), 16);
         Arrive(BarrierAt(0));
       }},
      {"wait at a barrier",
       [&](float(*)[4]) { WaitForPhase(BarrierAt(0), 1); }},
      {"a box to no tile",
       [&](float(*)[4]) {
         CopyBox(source.map, {0, 0, 0, 0}, Tile(0) + 128, BarrierAt(0));
       }},
  };
  for (const Mistake& mistake : mistakes) {
    EXPECT_THAT(RunBlock([&] {
                  Load(source, 0);
                  float sums[8][4] = {};
                  mistake.mistake(sums);
                }),
                HasSubstr(mistake.what));
  }
}

TEST(CudaHopperEmulatorTest, ATensorWithoutBoxesHasNoMap) {
  Source source(64);
  TensorMap map;
  const auto made = [&](const std::function<void(BoxedTensor*)>& change) {
    BoxedTensor tensor = source.tensor;
    change(&tensor);
    const char* const error = MakeTensorMap(tensor, &map);
    return std::string(error == nullptr ? "" : error);
  };
  EXPECT_THAT(made([](BoxedTensor* t) { t->strides[0] += 1; }),
              HasSubstr("stride"));
  EXPECT_THAT(made([](BoxedTensor* t) {
                t->data = static_cast<const char*>(t->data) + 2;
              }),
              HasSubstr("data at no multiple of 16"));
  EXPECT_THAT(made([](BoxedTensor* t) { t->rows = 257; }),
              HasSubstr("too many"));
  // Nobody goes along an axis of one.
  EXPECT_EQ(made([](BoxedTensor* t) { t->strides[2] = 3; }), "");
}

}  // namespace
}  // namespace ordo::kernels::testing
