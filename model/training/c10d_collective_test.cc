// What ranks on GPUs do when a backend, as NCCL, notices nothing. Sums and
// notes are in c10d_test.cc.

#include "model/training/c10d_collective.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <c10/util/Exception.h>

#include "base/clock/clock.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/training/c10d.h"
#include "model/training/nccl/library.h"

namespace ordo::model::training {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::HasSubstr;

// Whether a DeafBackend has something to wait for.
std::atomic<bool> begun = false;
// Whether somebody ended what the backends of this file wait for.
std::atomic<bool> aborted = false;
// Whether a StuckBackend may end that.
std::atomic<bool> let_abort = false;
// What LibTorch says where one fails.
std::string failure;

// On its way until then, whatever becomes of the others.
class EndlessWork : public c10d::Work {
 public:
  bool isCompleted() override { return aborted; }
  bool wait(std::chrono::milliseconds) override {
    ADD_FAILURE() << "waits for what does not come";
    return true;
  }
};

class DeafBackend : public c10d::Backend {
 public:
  explicit DeafBackend(const nccl::Group& group)
      : c10d::Backend(group.rank, group.ranks) {}
  c10::intrusive_ptr<c10d::Work> broadcast(
      std::vector<at::Tensor>&, const c10d::BroadcastOptions&) override {
    begun = true;
    return c10::make_intrusive<EndlessWork>();
  }
  void abort() override { aborted = true; }
};

class BrokenBackend : public DeafBackend {
 public:
  using DeafBackend::DeafBackend;
  c10::intrusive_ptr<c10d::Work> broadcast(
      std::vector<at::Tensor>&, const c10d::BroadcastOptions&) override {
    C10_THROW_ERROR(Error, failure);
  }
};

// Cannot end what it waits for before it is let.
class StuckBackend : public BrokenBackend {
 public:
  using BrokenBackend::BrokenBackend;
  void abort() override {
    while (!let_abort) std::this_thread::yield();
    aborted = true;
  }
};

template <typename Backend>
c10::intrusive_ptr<c10d::Backend> JoinAs(const nccl::Group& group) {
  return c10::make_intrusive<Backend>(group);
}
constexpr nccl::Library kDeaf = {nccl::kBuild, JoinAs<DeafBackend>};
constexpr nccl::Library kBroken = {nccl::kBuild, JoinAs<BrokenBackend>};
constexpr nccl::Library kStuck = {nccl::kBuild, JoinAs<StuckBackend>};

class WatchedTest : public ::testing::Test {
 protected:
  WatchedTest() { begun = aborted = false; }

  // Rank 0 of two, and what the other does before it ends.
  void WithAnother(const nccl::Library& nccl,
                   const std::function<void(Collective&)>& body,
                   const std::function<void(Collective&)>& other) {
    std::thread peer([&] { other(*Rank(1, nccl)); });
    const auto collective = Rank(0, nccl);
    body(*collective);
    peer.join();
  }

  // What rank 0 gets where the backend fails and the other rank lives on.
  absl::Status BroadcastFailsWith(const std::string& text) {
    return FailsOn(kBroken, text);
  }
  absl::Status FailsOn(const nccl::Library& nccl, const std::string& text) {
    failure = text;
    aborted = false;
    absl::Status status;
    std::atomic<bool> done = false;
    WithAnother(
        nccl,
        [&](Collective& collective) {
          status = collective.Broadcast({at::ones({10})});
          done = true;
        },
        [&](Collective&) {
          while (!done) std::this_thread::yield();
        });
    return status;
  }

  std::unique_ptr<Collective> Rank(int rank, const nccl::Library& nccl) {
    MeetOptions options;
    options.rank = rank;
    options.ranks = 2;
    options.address_file = folder_.Path("rendezvous");
    options.nccl = &nccl;
    options.patience = patience_;
    options.on_stuck = on_stuck_;
    return Meet(files_, clock_, options).value();
  }

  absl::Duration patience_ = absl::Minutes(1);
  std::function<void(const absl::Status&)> on_stuck_ = [](const absl::Status&) {
    ADD_FAILURE() << "nothing is stuck";
  };
  base::PosixFilesystem files_;
  base::RealClock clock_;
  base::testing::TemporaryFolder folder_;
};

TEST_F(WatchedTest, TheEndOfARankEndsWhatABackendWaitsForForever) {
  WithAnother(
      kDeaf,
      [](Collective& collective) {
        const absl::Status status = collective.Broadcast({at::ones({10})});
        EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable));
        EXPECT_EQ(base::GetErrorInfo(status)->reason, kPeerLostReason);
        EXPECT_TRUE(aborted);
      },
      // Nothing would be begun after it has gone.
      [](Collective&) {
        while (!begun) std::this_thread::yield();
      });
}

TEST_F(WatchedTest, AfterALossNothingIsBegun) {
  WithAnother(
      kDeaf,
      [](Collective& collective) {
        EXPECT_FALSE(collective.Broadcast({at::ones({10})}).ok());
        aborted = false;
        const absl::Status status = collective.Broadcast({at::ones({10})});
        EXPECT_EQ(base::GetErrorInfo(status)->reason, kPeerLostReason);
        EXPECT_FALSE(aborted);
      },
      [](Collective&) {});
}

TEST_F(WatchedTest, AFailureOfTheBackendIsNoLossOfARankAndNoDevices) {
  for (const char* text : {"NCCL error: unhandled cuda error",
                           "NCCL error: CUDA error: no peer access"}) {
    const absl::Status status = BroadcastFailsWith(text);
    EXPECT_THAT(status,
                StatusIs(absl::StatusCode::kUnavailable, HasSubstr(text)));
    EXPECT_EQ(base::GetErrorInfo(status)->reason, kNcclErrorReason);
    EXPECT_TRUE(aborted);
  }
}

TEST_F(WatchedTest, ARankThatFailsIsLostForTheOthersWhileItLives) {
  failure = "NCCL error: unhandled system error";
  std::atomic<bool> done = false;
  WithAnother(
      kBroken,
      [&](Collective& collective) {
        EXPECT_FALSE(collective.Broadcast({at::ones({10})}).ok());
        while (!done) std::this_thread::yield();
      },
      [&](Collective& collective) {
        // Its own fails for the other's reason.
        while (!aborted) std::this_thread::yield();
        const absl::Status status = collective.Broadcast({at::ones({10})});
        EXPECT_EQ(base::GetErrorInfo(status)->reason, kPeerLostReason);
        done = true;
      });
}

TEST_F(WatchedTest, ARankThatCannotEndItsWaitLeavesWithItsOwnFailure) {
  for (const auto& [text, reason] :
       std::vector<std::pair<std::string, std::string>>{
           {"NCCL error: unhandled cuda error", kNcclErrorReason},
           {"CUDA error: an illegal memory access", ""}}) {
    absl::Status left_for;
    let_abort = false;
    patience_ = absl::Milliseconds(1);
    on_stuck_ = [&](const absl::Status& why) {
      left_for = why;
      let_abort = true;
    };
    const absl::Status status = FailsOn(kStuck, text);
    EXPECT_THAT(left_for,
                StatusIs(absl::StatusCode::kUnavailable, HasSubstr(text)));
    EXPECT_EQ(base::GetErrorInfo(left_for).value_or(base::ErrorInfo()).reason,
              reason);
    EXPECT_EQ(left_for, status);
  }
}

// Of what was asked of it before; it counts as one of the device.
TEST_F(WatchedTest, AFailureOfTheGpuIsNoneOfTheBackend) {
  const absl::Status status =
      BroadcastFailsWith("CUDA error: an illegal memory access");
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable,
                               HasSubstr("illegal memory access")));
  EXPECT_FALSE(base::GetErrorInfo(status).has_value());
  EXPECT_TRUE(aborted);
}

}  // namespace
}  // namespace ordo::model::training
