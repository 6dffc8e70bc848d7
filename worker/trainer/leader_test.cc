#include "worker/trainer/leader.h"

#include <functional>
#include <memory>
#include <string>

#include "base/clock/testing/fake_clock.h"
#include "base/files/files.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/training/environment_json.h"
#include "model/training/share_state.h"
#include "model/training/testing/ranks.h"
#include "model/training/testing/tiny_spec.h"
#include "worker/trainer/exit_code.h"
#include "worker/trainer/notes.h"

namespace ordo::worker::trainer {
namespace {

using ::ordo::base::testing::StatusIs;
using ::ordo::model::training::Collective;
using ::ordo::model::training::Environment;
// Not Test::Run.
using TrainingRun = ::ordo::model::training::Run;
using ::ordo::model::training::Wishes;
using ::ordo::model::training::testing::ForEachRank;
using ::ordo::model::training::testing::TinySpec;
using ::ordo::training::v1::ProgressRecord;
using ::ordo::training::v1::TrainSpec;
using ::testing::HasSubstr;

constexpr absl::Duration kLong = absl::Minutes(1);
constexpr absl::Duration kShort = absl::Milliseconds(50);

TrainSpec Spec() {
  TrainSpec spec = TinySpec("none");
  spec.mutable_training()->set_micro_batch_size(4);
  return spec;
}

// An environment that differs from others by its build.
Environment Built(const std::string& build) {
  Environment environment;
  environment.build_digest = build;
  return environment;
}

class LeaderTest : public ::testing::Test {
 protected:
  LeaderTest() : context_(files_, clock_) {
    context_.stop_requested = [this] { return stop_; };
  }

  // Rank 0 leads, rank 1 does what the test says.
  void Play(const std::function<void(Collective&, Leader&)>& rank_0,
            const std::function<void(Collective&)>& rank_1) {
    ForEachRank(2, [&](Collective& collective) {
      if (collective.rank() == 0) {
        Leader leader(&collective, context_);
        rank_0(collective, leader);
      } else {
        rank_1(collective);
      }
    });
  }

  static std::unique_ptr<TrainingRun> MakeRun(Collective* collective) {
    auto run = TrainingRun::Create(Spec(), c10::Device(c10::DeviceType::CPU),
                                   collective);
    ORDO_EXPECT_OK(run);
    return *std::move(run);
  }

  static void Introduce(Collective& collective, const TrainSpec& spec,
                        const Environment& environment) {
    ORDO_ASSERT_OK(collective.Tell(TaskNote(1), spec.SerializeAsString()));
    ORDO_ASSERT_OK(collective.Tell(
        EnvironmentNote(1), ordo::model::training::ToJson(environment).dump()));
  }

  static ProgressRecord Turn(Collective& collective, int n) {
    ProgressRecord record;
    const auto note = collective.Told(TurnNote(n), kLong);
    ORDO_EXPECT_OK(note);
    EXPECT_TRUE(note->has_value());
    EXPECT_TRUE(record.ParseFromString(note->value_or("")));
    return record;
  }

  static bool IsTold(Collective& collective, int n) {
    const auto note = collective.Told(TurnNote(n), kShort);
    ORDO_EXPECT_OK(note);
    return note->has_value();
  }

  base::PosixFilesystem files_;
  base::testing::FakeClock clock_;
  TrainerContext context_;
  bool stop_ = false;
};

TEST_F(LeaderTest, SharesItsStateAndSaysWhichItIs) {
  Play(
      [](Collective& collective, Leader& leader) {
        const auto run = MakeRun(&collective);
        StartingPoint point;
        point.resumed_from = "5-1";
        ORDO_EXPECT_OK(leader.ShareStart(Built("build"), run.get(), &point));
        EXPECT_TRUE(point.exact);
        EXPECT_TRUE(point.warnings.empty());
      },
      [](Collective& collective) {
        const auto run = MakeRun(&collective);
        Introduce(collective, Spec(), Built("build"));
        const auto started = Turn(collective, 0).started();
        EXPECT_EQ(started.resumed_from(), "5-1");
        EXPECT_TRUE(started.exact());
        ORDO_EXPECT_OK(
            ordo::model::training::ShareState(&collective, run.get()));
        EXPECT_EQ(started.state_digest(),
                  ordo::model::training::StateDigest(run->State()));
      });
}

TEST_F(LeaderTest, RanksThatComputeUnlikeEachOtherAreNotExact) {
  Play(
      [](Collective& collective, Leader& leader) {
        const auto run = MakeRun(&collective);
        StartingPoint point;
        ORDO_EXPECT_OK(leader.ShareStart(Built("build"), run.get(), &point));
        EXPECT_FALSE(point.exact);
        EXPECT_FALSE(point.own_exact);
        EXPECT_THAT(point.warnings,
                    ::testing::ElementsAre(
                        HasSubstr("build was build and is other on rank 1")));
      },
      [](Collective& collective) {
        const auto run = MakeRun(&collective);
        Introduce(collective, Spec(), Built("other"));
        EXPECT_FALSE(Turn(collective, 0).started().exact());
        ORDO_EXPECT_OK(
            ordo::model::training::ShareState(&collective, run.get()));
      });
}

TEST_F(LeaderTest, RefusesARankOfAnotherRecipe) {
  Play(
      [](Collective& collective, Leader& leader) {
        const auto run = MakeRun(&collective);
        StartingPoint point;
        EXPECT_THAT(leader.ShareStart(Built("build"), run.get(), &point),
                    StatusIs(absl::StatusCode::kInvalidArgument,
                             HasSubstr("rank 1 has another task than rank 0: "
                                       "training.seed was 1 and is 2")));
      },
      [](Collective& collective) {
        TrainSpec other = Spec();
        other.mutable_training()->set_seed(2);
        Introduce(collective, other, Built("build"));
      });
}

TEST_F(LeaderTest, LetsTheOthersGoOnAfterAPauseAndNoSooner) {
  Play(
      [](Collective&, Leader& leader) {
        ORDO_EXPECT_OK(leader.BeginStep());
        leader.EndStep({});
        ORDO_EXPECT_OK(leader.BeginStep());
        Wishes pause;
        pause.pause = true;
        leader.EndStep(pause);
        ORDO_EXPECT_OK(leader.BeginStep());
      },
      [](Collective& collective) {
        for (const int n : {0, 1}) {
          const ProgressRecord turn = Turn(collective, n);
          EXPECT_EQ(turn.event_case(), ProgressRecord::EVENT_NOT_SET);
        }
        EXPECT_FALSE(IsTold(collective, 2));
      });
}

TEST_F(LeaderTest, HearsOfAStopWhileTheOthersWait) {
  Play(
      [this](Collective& collective, Leader& leader) {
        EXPECT_FALSE(leader.StopRequested());
        ORDO_ASSERT_OK(collective.Tell("go", ""));
        ORDO_ASSERT_OK(collective.Told("done", kLong).status());
        // It looks now and then.
        clock_.Advance(absl::Seconds(1));
        EXPECT_TRUE(leader.StopRequested());
        EXPECT_TRUE(leader.stop_agreed());
      },
      [](Collective& collective) {
        ORDO_ASSERT_OK(collective.Told("go", kLong).status());
        ORDO_ASSERT_OK(collective.Tell(kStopNote, ""));
        ORDO_ASSERT_OK(collective.Tell("done", ""));
      });
}

TEST_F(LeaderTest, AStopIsAgreedWithTheStep) {
  Play(
      [this](Collective&, Leader& leader) {
        stop_ = true;
        EXPECT_TRUE(leader.StopRequested());
        EXPECT_FALSE(leader.stop_agreed());
        Wishes stop;
        stop.stop = true;
        leader.EndStep(stop);
        EXPECT_TRUE(leader.stop_agreed());
      },
      [](Collective&) {});
}

TEST_F(LeaderTest, TellsThoseWhoWaitHowItEnds) {
  Play(
      [](Collective&, Leader& leader) {
        ordo::training::v1::TrainerFinished finished;
        finished.set_code(ordo::training::v1::STORAGE_ERROR);
        finished.set_message("the disk is full");
        leader.End(finished);
      },
      [](Collective& collective) {
        EXPECT_FALSE(IsTold(collective, 0));
        ORDO_EXPECT_OK(collective.Tell(HereNote(0, 1), ""));
        const auto finished = Turn(collective, 0).finished();
        EXPECT_EQ(finished.code(), ordo::training::v1::STORAGE_ERROR);
        EXPECT_EQ(finished.message(), "the disk is full");
        ORDO_EXPECT_OK(collective.Tell(LeftNote(1), ""));
      });
}

TEST_F(LeaderTest, SaysNothingToThoseWhoStepOrToALostRank) {
  Play(
      [](Collective& collective, Leader& leader) {
        ordo::training::v1::TrainerFinished finished;
        finished.set_code(ordo::training::v1::PEER_LOST);
        leader.End(finished);
        EXPECT_FALSE(IsTold(collective, 0));
        leader.EndStep({});
        finished.set_code(ordo::training::v1::NON_FINITE);
        leader.End(finished);
        EXPECT_FALSE(IsTold(collective, 0));
      },
      [](Collective&) {});
}

TEST_F(LeaderTest, AloneItDoesNothing) {
  Leader leader(nullptr, context_);
  StartingPoint point;
  ORDO_EXPECT_OK(leader.ShareStart({}, nullptr, &point));
  ORDO_EXPECT_OK(leader.BeginStep());
  leader.EndStep({});
  EXPECT_FALSE(leader.StopRequested());
  stop_ = true;
  EXPECT_TRUE(leader.StopRequested());
  EXPECT_FALSE(leader.stop_agreed());
  leader.End({});
}

}  // namespace
}  // namespace ordo::worker::trainer
