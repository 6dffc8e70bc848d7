#include "worker/trainer/follow.h"

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock/clock.h"
#include "base/files/testing/temporary_folder.h"
#include "base/records/records.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/training/share_state.h"
#include "model/training/testing/ranks.h"
#include "model/training/testing/tiny_spec.h"
#include "worker/trainer/exit_code.h"
#include "worker/trainer/notes.h"

namespace ordo::worker::trainer {
namespace {

using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::model::training::Collective;
using ::ordo::model::training::Run;
using ::ordo::model::training::Wishes;
using ::ordo::model::training::testing::ForEachRank;
using ::ordo::model::training::testing::Leaving;
using ::ordo::model::training::testing::TinySpec;
using ::ordo::training::v1::ExitCode;
using ::ordo::training::v1::ProgressRecord;
using ::testing::HasSubstr;

constexpr absl::Duration kLong = absl::Minutes(1);

// Rank 0, which says what the test wants.
class Rank0 {
 public:
  Rank0(Collective& collective, Run* run)
      : collective_(collective), run_(*run) {}

  void Say(const ProgressRecord& turn) {
    ORDO_ASSERT_OK(
        collective_.Tell(TurnNote(next_++), turn.SerializeAsString()));
  }
  void Start() { Start(ordo::model::training::StateDigest(run_.State())); }
  void Start(const std::string& digest) {
    ProgressRecord turn;
    turn.mutable_started()->set_state_digest(digest);
    Say(turn);
    ORDO_ASSERT_OK(ordo::model::training::ShareState(&collective_, &run_));
  }
  void GoOn() { Say({}); }
  Wishes Step(bool pause = false) {
    Wishes wishes;
    wishes.pause = pause;
    const auto result = run_.Step(wishes);
    ORDO_EXPECT_OK(result);
    return result->wishes;
  }
  void End(ExitCode code, const std::string& message = "") {
    ProgressRecord turn;
    turn.mutable_finished()->set_code(code);
    turn.mutable_finished()->set_message(message);
    Say(turn);
    ORDO_ASSERT_OK(collective_.Told(LeftNote(1), kLong).status());
  }
  bool IsTold(const std::string& key) {
    const auto note = collective_.Told(key, kLong);
    ORDO_EXPECT_OK(note);
    return note->has_value();
  }

 private:
  Collective& collective_;
  Run& run_;
  int next_ = 0;
};

class FollowTest : public ::testing::Test {
 protected:
  absl::StatusOr<ExitCode> FollowWhile(
      const std::function<void(Rank0&)>& rank_0) {
    auto spec = TinySpec("none");
    spec.mutable_training()->set_micro_batch_size(4);
    absl::StatusOr<ExitCode> code = absl::UnknownError("not run");
    ForEachRank(
        2,
        [&](Collective& collective) {
          const auto run =
              Run::Create(spec, c10::Device(c10::DeviceType::CPU), &collective);
          ORDO_ASSERT_OK(run);
          if (collective.rank() == 0) {
            Rank0 leader(collective, run->get());
            rank_0(leader);
            return;
          }
          TrainerContext context(files_, clock_);
          context.job_folder = folder_.path();
          context.build_digest = "mine";
          context.stop_requested = [this] { return stop_.load(); };
          const auto progress =
              Progress::Open(files_, clock_, AttemptFolder(context, 1), 1);
          ORDO_ASSERT_OK(progress);
          code =
              Follow(context, {&collective, run->get(), {}}, progress->get());
        },
        Leaving::kAtOnce);
    return code;
  }

  std::vector<ProgressRecord> Records() {
    base::RecordReader reader(files_,
                              folder_.Path("attempts/1/progress-1.records"));
    std::vector<ProgressRecord> records;
    while (true) {
      const auto payload = reader.Next();
      ORDO_EXPECT_OK(payload);
      if (!payload.ok() || !payload->has_value()) return records;
      EXPECT_TRUE(records.emplace_back().ParseFromString(**payload));
    }
  }

  base::PosixFilesystem files_;
  base::RealClock clock_;
  base::testing::TemporaryFolder folder_;
  std::atomic<bool> stop_ = false;
};

TEST_F(FollowTest, StepsWithRank0AndEndsAsItDoes) {
  EXPECT_THAT(FollowWhile([](Rank0& leader) {
                leader.Start();
                leader.GoOn();
                leader.Step();
                leader.Step(/*pause=*/true);
                leader.GoOn();
                leader.Step(/*pause=*/true);
                leader.End(ordo::training::v1::FINISHED);
              }),
              IsOkAndHolds(ordo::training::v1::FINISHED));
  const auto records = Records();
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(records[0].started().build_digest(), "mine");
  for (int step = 1; step <= 3; ++step) {
    EXPECT_EQ(records[step].step().step(), step);
  }
}

TEST_F(FollowTest, AsksForAStopWithTheNextStep) {
  EXPECT_THAT(FollowWhile([this](Rank0& leader) {
                leader.Start();
                leader.GoOn();
                EXPECT_FALSE(leader.Step().stop);
                stop_ = true;
                int more = 0;
                // It may have begun the next one already.
                while (!leader.Step().stop) ++more;
                EXPECT_LE(more, 1);
                leader.End(ordo::training::v1::STOPPED);
              }),
              IsOkAndHolds(ordo::training::v1::STOPPED));
}

TEST_F(FollowTest, TellsRank0OfAStopWhileItWaits) {
  EXPECT_THAT(FollowWhile([this](Rank0& leader) {
                leader.Start();
                stop_ = true;
                EXPECT_TRUE(leader.IsTold(kStopNote));
                leader.End(ordo::training::v1::STOPPED);
              }),
              IsOkAndHolds(ordo::training::v1::STOPPED));
}

TEST_F(FollowTest, WritesSignsOfLifeWhileItWaits) {
  ORDO_ASSERT_OK(FollowWhile([this](Rank0& leader) {
    leader.Start();
    // Until the first is there.
    while (Records().size() < 2) {
    }
    leader.End(ordo::training::v1::FINISHED);
  }));
  EXPECT_TRUE(Records()[1].has_waiting());
}

TEST_F(FollowTest, AnErrorOfRank0IsItsOwn) {
  const auto code = FollowWhile([](Rank0& leader) {
    leader.End(ordo::training::v1::STORAGE_ERROR, "the disk is full");
  });
  EXPECT_EQ(ExitCodeOf(code.status()), ordo::training::v1::STORAGE_ERROR);
  EXPECT_EQ(code.status().message(), "rank 0: the disk is full");
}

TEST_F(FollowTest, ALostRank0IsPeerLost) {
  const auto code = FollowWhile([](Rank0& leader) {
    leader.Start();
    leader.GoOn();
    leader.Step();
  });
  EXPECT_EQ(ExitCodeOf(code.status()), ordo::training::v1::PEER_LOST);
}

TEST_F(FollowTest, NoticesAStateThatIsNotWhatRank0Says) {
  const auto code = FollowWhile([](Rank0& leader) { leader.Start("another"); });
  EXPECT_EQ(ExitCodeOf(code.status()), ordo::training::v1::INTERNAL_ERROR);
  EXPECT_THAT(std::string(code.status().message()), HasSubstr("another"));
}

}  // namespace
}  // namespace ordo::worker::trainer
