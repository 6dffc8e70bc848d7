#include "kernels/common/testing/cuda_emulator.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/common/cuda_element.h"

namespace ordo::kernels::testing {
namespace {

using ::testing::HasSubstr;

std::string RunSeeded(const Grid& grid, const std::function<void()>& thread) {
  SetSchedule(1);
  const char* const error = RunGrid(grid, thread);
  return error == nullptr ? "" : error;
}

// The fragments' layouts as written in the PTX ISA, element by element: a
// product with small whole numbers is exact.
template <typename Element>
class CudaEmulatorProductTest : public ::testing::Test {};
using Elements = ::testing::Types<Bfloat16, Float16>;
TYPED_TEST_SUITE(CudaEmulatorProductTest, Elements);

TYPED_TEST(CudaEmulatorProductTest, OfFragmentsIsThatOfTheirMatrices) {
  const auto a = [](int row, int k) { return static_cast<float>(row - k); };
  const auto b = [](int k, int n) { return static_cast<float>(2 * k - n); };
  std::vector<float> found(16 * 8);
  EXPECT_EQ(RunSeeded({1, 1, 1, 32, 0},
                      [&] {
                        const int g = ThreadId() / 4, t = ThreadId() % 4;
                        uint32_t left[4], right[2];
                        for (int i = 0; i < 4; ++i) {
                          const int row = i % 2 == 0 ? g : g + 8;
                          const int k = 2 * t + (i < 2 ? 0 : 8);
                          left[i] = TypeParam::Pack(a(row, k), a(row, k + 1));
                        }
                        for (int i = 0; i < 2; ++i) {
                          const int k = 2 * t + 8 * i;
                          right[i] = TypeParam::Pack(b(k, g), b(k + 1, g));
                        }
                        float sums[4] = {100, 100, 100, 100};
                        TypeParam::MultiplyAdd(left, right, sums);
                        for (int i = 0; i < 4; ++i) {
                          const int row = i < 2 ? g : g + 8;
                          found[row * 8 + 2 * t + i % 2] = sums[i];
                        }
                      }),
            "");
  for (int row = 0; row < 16; ++row) {
    for (int n = 0; n < 8; ++n) {
      float right = 100;
      for (int k = 0; k < 16; ++k) right += a(row, k) * b(k, n);
      EXPECT_EQ(found[row * 8 + n], right) << row << ", " << n;
    }
  }
}

TEST(CudaEmulatorTest, MatricesAreLoadedByRowsAndTurned) {
  EXPECT_EQ(RunSeeded({1, 1, 1, 32, 512},
                      [&] {
                        auto* const tile =
                            reinterpret_cast<uint16_t*>(SharedMemory());
                        const int lane = ThreadId();
                        for (int i = lane; i < 256; i += 32) {
                          tile[i] = static_cast<uint16_t>(i);
                        }
                        SyncThreads();
                        uint32_t rows[4], columns[4];
                        LoadMatrices(tile + lane * 8, rows);
                        LoadTransposed(tile + lane * 8, columns);
                        const uint32_t g = lane / 4, t = lane % 4;
                        for (uint32_t i = 0; i < 4; ++i) {
                          const uint32_t first = i * 64 + g * 8 + 2 * t;
                          EXPECT_EQ(rows[i], first | (first + 1) << 16);
                          const uint32_t turned = i * 64 + 2 * t * 8 + g;
                          EXPECT_EQ(columns[i], turned | (turned + 8) << 16);
                        }
                      }),
            "");
}

TEST(CudaEmulatorTest, ACopyIsThereOnlyWhenItWasWaitedFor) {
  alignas(16) static const uint8_t kSource[16] = {1, 2, 3};
  EXPECT_EQ(RunSeeded({1, 1, 1, 32, 1024},
                      [&] {
                        char* const mine = SharedMemory() + ThreadId() * 16;
                        CopyAsync(mine, kSource, true);
                        CommitCopies();
                        CopyAsync(mine + 512, nullptr, false);
                        CommitCopies();
                        EXPECT_NE(memcmp(mine, kSource, 16), 0);
                        WaitForCopies<1>();
                        EXPECT_EQ(memcmp(mine, kSource, 16), 0);
                        EXPECT_EQ(mine[512], static_cast<char>(0xFF));
                        WaitForCopies<0>();
                        EXPECT_EQ(mine[512], 0);
                      }),
            "");
}

TEST(CudaEmulatorTest, ShufflesReachAcrossLanes) {
  EXPECT_EQ(RunSeeded({1, 1, 1, 64, 0},
                      [] {
                        const float value = static_cast<float>(ThreadId());
                        EXPECT_EQ(ShuffleXor(value, 5), ThreadId() ^ 5);
                      }),
            "");
}

// Some order of warps shows what another warp has not written yet.
TEST(CudaEmulatorTest, AMissingBarrierIsSeen) {
  const auto count_stale = [](bool synchronised) {
    int stale = 0;
    EXPECT_EQ(RunSeeded({8, 1, 1, 128, 512},
                        [&] {
                          auto* const shared =
                              reinterpret_cast<uint32_t*>(SharedMemory());
                          shared[ThreadId()] = 1;
                          if (synchronised) SyncThreads();
                          if (shared[127 - ThreadId()] != 1) ++stale;
                        }),
              "");
    return stale;
  };
  EXPECT_EQ(count_stale(true), 0);
  EXPECT_GT(count_stale(false), 0);
}

TEST(CudaEmulatorTest, SharedMemoryIsPoisonInEachBlock) {
  EXPECT_EQ(RunSeeded({3, 1, 1, 32, 128},
                      [] {
                        EXPECT_EQ(SharedMemory()[ThreadId()],
                                  static_cast<char>(0xFF));
                        SyncThreads();
                        SharedMemory()[ThreadId()] = 0;
                      }),
            "");
}

TEST(CudaEmulatorTest, MistakesAreSaid) {
  const std::vector<std::pair<std::string, std::function<void()>>> mistakes = {
      {"lanes of warp 0 have parted",
       [] {
         if (ThreadId() == 3) return;
         ShuffleXor(0, 1);
       }},
      {"others wait at a barrier",
       [] {
         if (ThreadId() < 32) SyncThreads();
       }},
      {"a row of a matrix outside of shared memory",
       [] {
         uint32_t matrices[4];
         LoadMatrices(SharedMemory() + 128, matrices);
       }},
      {"a copy at no multiple of 16 bytes",
       [] { CopyAsync(SharedMemory() + 8, nullptr, false); }},
      {"a copy from no multiple of 16 bytes",
       [] { CopyAsync(SharedMemory(), reinterpret_cast<void*>(8), true); }},
  };
  for (const auto& [what, thread] : mistakes) {
    EXPECT_THAT(RunSeeded({1, 1, 1, 64, 128}, thread), HasSubstr(what));
  }
  EXPECT_THAT(RunSeeded({1, 1, 1, 32, 228 * 1024}, [] {}), HasSubstr("227 KB"));
  EXPECT_THAT(RunSeeded({1, 1, 1, 40, 0}, [] {}), HasSubstr("whole warps"));
}

}  // namespace
}  // namespace ordo::kernels::testing
