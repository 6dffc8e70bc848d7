#include "model/training/c10d.h"

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <tuple>
#include <unistd.h>
#include <vector>

#include <ATen/ATen.h>

#include "absl/strings/str_cat.h"
#include "base/clock/testing/fake_clock.h"
#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/sockets/listener.h"
#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/training/testing/ranks.h"

namespace ordo::model::training {
namespace {

using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::base::testing::StatusIs;
using testing::ForEachRank;
using ::testing::HasSubstr;
using testing::kGlooAsNccl;
using testing::Leaving;

constexpr absl::Duration kLong = absl::Minutes(1);

class Ranks
    : public ::testing::TestWithParam<std::tuple<int, const nccl::Library*>> {
 protected:
  static int ranks() { return std::get<0>(GetParam()); }
  static void ForEach(const std::function<void(Collective&)>& body) {
    ForEachRank(ranks(), body, Leaving::kTogether, std::get<1>(GetParam()));
  }
};
INSTANTIATE_TEST_SUITE_P(Numbers, Ranks,
                         ::testing::Combine(::testing::Values(2, 3, 4),
                                            ::testing::Values(nullptr,
                                                              &kGlooAsNccl)),
                         [](const auto& info) {
                           return absl::StrCat(
                               std::get<0>(info.param),
                               std::get<1>(info.param) == nullptr ? "OverGloo"
                                                                  : "AsOnGpus");
                         });

TEST_P(Ranks, AddUpToTheSameBitsOnAllAndInReruns) {
  constexpr int64_t kCount = 100'003;
  std::vector<at::Tensor> sums(2 * ranks());
  for (int round = 0; round < 2; ++round) {
    ForEach([&](Collective& collective) {
      const int rank = collective.rank();
      // No sum of these is exact.
      const at::Tensor mine =
          at::arange(1, kCount + 1, at::kFloat).add(rank).reciprocal();
      const at::Tensor other = at::full({7}, rank, at::kFloat);
      ORDO_EXPECT_OK(collective.AllReduceSum({mine, other}));
      EXPECT_EQ(other[6].item<float>(), ranks() * (ranks() - 1) / 2);
      sums[round * ranks() + rank] = mine;
    });
  }
  at::Tensor expected = at::zeros({kCount}, at::kDouble);
  for (int rank = 0; rank < ranks(); ++rank) {
    expected += at::arange(1, kCount + 1, at::kFloat)
                    .add(rank)
                    .reciprocal()
                    .to(at::kDouble);
  }
  EXPECT_TRUE(at::allclose(sums[0].to(at::kDouble), expected, 1e-6, 0));
  for (const at::Tensor& sum : sums) EXPECT_TRUE(at::equal(sum, sums[0]));
}

TEST_P(Ranks, GetWhatRank0Broadcasts) {
  ForEach([&](Collective& collective) {
    const at::Tensor numbers = at::full({5}, collective.rank() + 7, at::kLong);
    const at::Tensor more = at::full({2, 2}, collective.rank(), at::kFloat);
    ORDO_EXPECT_OK(collective.Broadcast({numbers, more}));
    EXPECT_TRUE(at::equal(numbers, at::full({5}, 7, at::kLong)));
    EXPECT_TRUE(at::equal(more, at::zeros({2, 2})));
  });
}

TEST_P(Ranks, ReadEachOthersNotes) {
  const int last = ranks() - 1;
  ForEach([&](Collective& collective) {
    EXPECT_THAT(collective.Told("nothing", absl::Milliseconds(1)),
                IsOkAndHolds(std::nullopt));
    if (collective.rank() == last) {
      ORDO_EXPECT_OK(collective.Tell("last", std::string("a\0b", 3)));
    }
    EXPECT_THAT(collective.Told("last", kLong),
                IsOkAndHolds(std::optional<std::string>({"a\0b", 3})));
  });
}

// Whatever way numbers take between GPUs.
TEST(AsOnGpus, RanksAddUpInTheirOrder) {
  constexpr int kRanks = 4;
  // With and without a rest when shared among the ranks; fewer than these.
  for (const int64_t count : {10'000, 10'003, 1}) {
    const auto numbers = [&](int rank) {
      return at::arange(1, count + 1, at::kFloat).add(rank).reciprocal();
    };
    at::Tensor expected = numbers(0);
    for (int rank = 1; rank < kRanks; ++rank) expected += numbers(rank);
    ForEachRank(
        kRanks,
        [&](Collective& collective) {
          const at::Tensor mine = numbers(collective.rank());
          ORDO_EXPECT_OK(collective.AllReduceSum({mine}));
          EXPECT_TRUE(at::equal(mine, expected)) << count;
        },
        Leaving::kTogether, &kGlooAsNccl);
  }
}

// Beyond two it is the ends of processes that close connections
// (worker/trainer/ranks_test.cc).
TEST(C10d, ALostRankEndsWhatTheOtherWaitsFor) {
  for (const nccl::Library* through :
       {static_cast<const nccl::Library*>(nullptr), &kGlooAsNccl}) {
    ForEachRank(
        2,
        [&](Collective& collective) {
          if (collective.rank() == 1) return;
          const absl::Status status =
              collective.AllReduceSum({at::ones({1'000'000}), at::ones({10})});
          EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable));
          EXPECT_EQ(base::GetErrorInfo(status)->reason, kPeerLostReason);
        },
        Leaving::kAtOnce, through);
  }
}

TEST(C10d, WithoutRank0NotesCannotBeRead) {
  ForEachRank(
      2,
      [&](Collective& collective) {
        if (collective.rank() == 0) return;
        absl::Status status;
        while (status.ok()) {
          status = collective.Told("never", absl::Milliseconds(10)).status();
        }
        EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable));
        EXPECT_EQ(base::GetErrorInfo(status)->reason, kPeerLostReason);
      },
      Leaving::kAtOnce);
}

class MeetTest : public ::testing::Test {
 protected:
  MeetOptions Options(int rank, int ranks) {
    MeetOptions options;
    options.rank = rank;
    options.ranks = ranks;
    options.address_file = folder_.Path("attempts/1/rendezvous");
    return options;
  }

  absl::Status MeetAs(const MeetOptions& options) {
    return Meet(files_, clock_, options).status();
  }

  void WriteAddress(const std::string& text) {
    ORDO_ASSERT_OK(files_.MakeFolders(folder_.Path("attempts/1")));
    ORDO_ASSERT_OK(
        base::AtomicWrite(files_, folder_.Path("attempts/1/rendezvous"), text));
  }

  base::PosixFilesystem files_;
  base::RealClock clock_;
  base::testing::TemporaryFolder folder_;
};

TEST_F(MeetTest, TakesNoAddressOfAnEarlierRunForThisOnes) {
  // One that nobody listens at any more, and one where somebody else does.
  ORDO_ASSERT_OK_AND_ASSIGN(const auto listener, base::ListenAt("127.0.0.1"));
  close(listener.fd);
  for (const std::string& stale :
       {absl::StrCat("127.0.0.1 ", listener.port, " run-1 2\n"),
        std::string("garbage\n")}) {
    WriteAddress(stale);
    std::thread other([&] { ORDO_EXPECT_OK(MeetAs(Options(1, 2))); });
    ORDO_EXPECT_OK(MeetAs(Options(0, 2)));
    other.join();
    EXPECT_FALSE(base::Exists(files_, Options(0, 2).address_file));
  }
}

TEST_F(MeetTest, WaitsForTheOthersNoLongerThanItWasTold) {
  base::testing::FakeClock clock;
  MeetOptions options = Options(0, 2);
  options.stop_requested = [&] {
    clock.Advance(absl::Minutes(1));
    return false;
  };
  const absl::Status status = Meet(files_, clock, options).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable,
                               HasSubstr("waited 5m for rank 1")));
  EXPECT_EQ(base::GetErrorInfo(status)->reason, kPeerLostReason);
}

TEST_F(MeetTest, StopsWhenAskedTo) {
  for (const int rank : {0, 1}) {
    MeetOptions options = Options(rank, 2);
    options.stop_requested = [] { return true; };
    EXPECT_THAT(MeetAs(options), StatusIs(absl::StatusCode::kCancelled));
  }
}

TEST_F(MeetTest, RefusesAnotherNumberOfRanks) {
  std::atomic<bool> refused = false;
  std::thread other([&] {
    EXPECT_THAT(MeetAs(Options(1, 3)),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("resources.ranks: is 3, and 2 for")));
    refused = true;
  });
  MeetOptions options = Options(0, 2);
  options.stop_requested = [&] { return refused.load(); };
  EXPECT_THAT(MeetAs(options), StatusIs(absl::StatusCode::kCancelled));
  other.join();
}

TEST_F(MeetTest, RefusesASecondProcessOfARank) {
  std::atomic<int> num_refused = 0;
  std::vector<std::thread> twins;
  for (int i = 0; i < 2; ++i) {
    twins.emplace_back([&] {
      MeetOptions options = Options(1, 3);
      options.stop_requested = [&] { return num_refused > 0; };
      const absl::Status status = MeetAs(options);
      if (!absl::IsInvalidArgument(status)) return;
      EXPECT_THAT(std::string(status.message()),
                  HasSubstr("another process is rank 1"));
      ++num_refused;
    });
  }
  MeetOptions options = Options(0, 3);
  options.stop_requested = [&] { return num_refused > 0; };
  EXPECT_THAT(MeetAs(options), StatusIs(absl::StatusCode::kCancelled));
  for (std::thread& twin : twins) twin.join();
  EXPECT_EQ(num_refused, 1);
}

TEST_F(MeetTest, SaysWhichHostItCannotListenAt) {
  MeetOptions options = Options(0, 2);
  options.host = "192.0.2.1";
  EXPECT_THAT(MeetAs(options), StatusIs(absl::StatusCode::kUnavailable,
                                        HasSubstr("listen at 192.0.2.1")));
}

}  // namespace
}  // namespace ordo::model::training
