#include "model/training/peer_watch.h"

#include <atomic>
#include <memory>
#include <optional>
#include <pthread.h>
#include <signal.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/sockets/connect.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::training {
namespace {

using ::ordo::base::testing::StatusIs;

constexpr absl::Duration kLong = absl::Minutes(1);
constexpr char kHost[] = "127.0.0.1";

class PeerWatchTest : public ::testing::Test {
 protected:
  PeerWatchTest() : listener_(base::ListenAt(kHost).value()) {}
  ~PeerWatchTest() override { close(listener_.fd); }

  // By rank; `options` are rank 0's.
  std::vector<std::unique_ptr<PeerWatch>> Ranks(
      int ranks, PeerWatch::Options options = {}) {
    std::vector<std::unique_ptr<PeerWatch>> watches(ranks);
    for (int rank = ranks - 1; rank > 0; --rank) {
      watches[rank] = PeerWatch::Join(kHost, listener_.port, rank, {}).value();
    }
    watches[0] = PeerWatch::Accept(
                     listener_, ranks, [] { return absl::OkStatus(); },
                     std::move(options))
                     .value();
    return watches;
  }

  const base::Listener listener_;
};

TEST_F(PeerWatchTest, NobodyIsLostWhileAllLive) {
  for (const int ranks : {1, 2, 5}) {
    for (const auto& watch : Ranks(ranks)) {
      EXPECT_FALSE(watch->AwaitLoss(absl::Milliseconds(1)));
      EXPECT_FALSE(watch->lost());
    }
  }
}

TEST_F(PeerWatchTest, TheEndOfAnyRankReachesAll) {
  constexpr int kRanks = 4;
  for (int ends = 0; ends < kRanks; ++ends) {
    auto watches = Ranks(kRanks);
    watches[ends].reset();
    for (const auto& watch : watches) {
      if (watch == nullptr) continue;
      EXPECT_TRUE(watch->AwaitLoss(kLong)) << "without rank " << ends;
      EXPECT_TRUE(watch->lost());
    }
  }
}

TEST_F(PeerWatchTest, ARankThatLeavesIsLostThoughItLives) {
  for (const int leaves : {0, 2}) {
    const auto watches = Ranks(3);
    watches[leaves]->Leave(absl::InternalError("broken"));
    for (const auto& watch : watches) EXPECT_TRUE(watch->AwaitLoss(kLong));
  }
}

TEST_F(PeerWatchTest, ASignalEndsNoWait) {
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = [](int) {};
  ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
  auto watches = Ranks(2);
  const pthread_t waits = pthread_self();
  std::thread other([&] {
    for (int i = 0; i < 10'000; ++i) {
      pthread_kill(waits, SIGUSR1);
      std::this_thread::yield();
    }
    watches[1].reset();
  });
  EXPECT_TRUE(watches[0]->AwaitLoss(kLong));
  other.join();
  sigaction(SIGUSR1, &before, nullptr);
}

TEST_F(PeerWatchTest, AStrangersConnectionIsNoRanks) {
  ORDO_ASSERT_OK_AND_ASSIGN(const int stranger,
                            base::ConnectTo(kHost, listener_.port));
  ASSERT_EQ(write(stranger, "GET / HTTP/1.1\r\n", 16), 16);
  const auto watches = Ranks(2);
  close(stranger);
  EXPECT_FALSE(watches[0]->AwaitLoss(absl::Milliseconds(1)));
}

TEST_F(PeerWatchTest, WaitsForRanksAsLongAsItIsToldTo) {
  int asked = 0;
  const auto watch = PeerWatch::Accept(
      listener_, 2,
      [&] {
        return ++asked < 3 ? absl::OkStatus()
                           : absl::CancelledError("no longer");
      },
      {});
  EXPECT_THAT(watch, StatusIs(absl::StatusCode::kCancelled));
}

TEST_F(PeerWatchTest, NobodyToJoinIsAnError) {
  const base::Listener gone = base::ListenAt(kHost).value();
  close(gone.fd);
  EXPECT_THAT(PeerWatch::Join(kHost, gone.port, 1, {}),
              StatusIs(absl::StatusCode::kUnavailable));
}

// Counts what it is told, from the watch's thread.
struct Stuck {
  PeerWatch::Options Options(absl::Duration patience) {
    return {patience, [this](const absl::Status& why) {
              failure = why;
              ++times;
            }};
  }
  // Readable once it was told.
  absl::Status failure;
  std::atomic<int> times = 0;
};

TEST_F(PeerWatchTest, ACallThatDoesNotEndAfterALossIsStuck) {
  Stuck stuck;
  auto watches = Ranks(2, stuck.Options(absl::Milliseconds(1)));
  const PeerWatch::Call call(watches[0].get());
  watches[1].reset();
  while (stuck.times == 0) std::this_thread::yield();
  EXPECT_TRUE(watches[0]->lost());
  ORDO_EXPECT_OK(stuck.failure);
}

TEST_F(PeerWatchTest, ARankThatIsStuckAfterItLeftSaysWhatItLeftFor) {
  Stuck stuck;
  const auto watches = Ranks(2, stuck.Options(absl::Milliseconds(1)));
  const PeerWatch::Call call(watches[0].get());
  watches[0]->Leave(absl::InternalError("broken"));
  while (stuck.times == 0) std::this_thread::yield();
  EXPECT_THAT(stuck.failure, StatusIs(absl::StatusCode::kInternal, "broken"));
}

TEST_F(PeerWatchTest, ACallThatEndsAfterALossIsNotStuck) {
  Stuck stuck;
  {
    auto watches = Ranks(2, stuck.Options(kLong));
    std::optional<PeerWatch::Call> call(std::in_place, watches[0].get());
    watches[1].reset();
    EXPECT_TRUE(watches[0]->AwaitLoss(kLong));
    call.reset();
  }
  EXPECT_EQ(stuck.times, 0);
}

TEST_F(PeerWatchTest, BetweenCallsNothingIsStuck) {
  Stuck stuck;
  auto watches = Ranks(2, stuck.Options(absl::ZeroDuration()));
  { const PeerWatch::Call call(watches[0].get()); }
  watches[1].reset();
  EXPECT_TRUE(watches[0]->AwaitLoss(kLong));
  // Its thread has ended then.
  watches[0].reset();
  EXPECT_EQ(stuck.times, 0);
}

}  // namespace
}  // namespace ordo::model::training
