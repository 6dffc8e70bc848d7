#include "report/stats/sequential.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random/random.h"
#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::report::stats {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::HasSubstr;

constexpr double kAlpha = 0.025;

std::vector<DifferenceCount> Answers(double num_items, double num_better,
                                     double num_worse) {
  return {{1, num_better},
          {-1, num_worse},
          {0, num_items - num_better - num_worse}};
}

// The capital item by item, as the game is played.
double SlowCapital(const std::vector<double>& x, double m) {
  double sum = 0;
  double stake = 0.97;
  for (int k = 0; k < 14; ++k, stake /= 1.6) {
    double capital = stake * (1 + m) < 1 ? 1.0 / 14 : 0;
    for (const double value : x) capital *= 1 + stake * (value - m);
    sum += capital;
  }
  return sum;
}

TEST(AnytimeIntervalTest, BoundsAreWhereTheGameWinsOneOverAlpha) {
  std::vector<double> x(90, 0.0);
  std::vector<double> negated(90, 0.0);
  for (size_t i = 0; i < 30; ++i) {
    x[i] = i % 3 == 0 ? -1 : i % 3 == 1 ? 1 : 0.5;
    negated[i] = -x[i];
  }
  const Interval interval = AnytimeInterval(
      {{-1, 10}, {1, 10}, {0.5, 10}, {0, 60}}, 1, kAlpha, kAlpha);
  EXPECT_NEAR(SlowCapital(x, interval.low), 1 / kAlpha, 1e-8);
  EXPECT_NEAR(SlowCapital(negated, -interval.high), 1 / kAlpha, 1e-8);
  EXPECT_LT(interval.low, 5.0 / 90);
  EXPECT_GT(interval.high, 5.0 / 90);
}

TEST(AnytimeIntervalTest, ScalesWithTheRange) {
  const Interval one = AnytimeInterval(Answers(200, 30, 20), 1, kAlpha, kAlpha);
  const Interval ten =
      AnytimeInterval({{10, 30}, {-10, 20}, {0, 150}}, 10, kAlpha, kAlpha);
  EXPECT_NEAR(ten.low, 10 * one.low, 1e-12);
  EXPECT_NEAR(ten.high, 10 * one.high, 1e-12);
}

TEST(AnytimeIntervalTest, WithoutItemsNothingIsKnown) {
  const Interval interval = AnytimeInterval({}, 1, kAlpha, kAlpha);
  EXPECT_EQ(interval.low, -1);
  EXPECT_EQ(interval.high, 1);
}

TEST(AnytimeIntervalTest, NarrowsToTheMean) {
  const Interval interval =
      AnytimeInterval(Answers(1e6, 6e4, 4e4), 1, kAlpha, kAlpha);
  EXPECT_GT(interval.low, 0.0185);
  EXPECT_LT(interval.high, 0.0215);
}

struct Game {
  Verdict verdict = Verdict::kInconclusive;
  int num_items = 0;
};

struct Rules {
  double discordance = 0;
  double difference = 0;
  int budget = 0;
};

constexpr double kMargin = 0.05;

// A gate that looks after every item that tells the arms apart, after every
// tenth, and at the end.
Game Play(const Rules& rules, base::RandomSequence* random) {
  int better = 0;
  int worse = 0;
  for (int n = 1; n <= rules.budget; ++n) {
    const double draw = random->Double();
    if (draw < (rules.discordance + rules.difference) / 2) {
      ++better;
    } else if (draw < rules.discordance) {
      ++worse;
    } else if (n % 10 != 0 && n != rules.budget) {
      continue;
    }
    if (IsAboveAnytime(Answers(n, better, worse), 1, -kMargin, kAlpha)) {
      return {Verdict::kPass, n};
    }
    if (IsAboveAnytime(Answers(n, worse, better), 1, 0, kAlpha)) {
      return {Verdict::kFail, n};
    }
  }
  return {Verdict::kInconclusive, rules.budget};
}

int Count(const std::vector<Game>& games, Verdict verdict) {
  return static_cast<int>(
      std::count_if(games.begin(), games.end(),
                    [&](const Game& g) { return g.verdict == verdict; }));
}

std::vector<Game> PlayMany(int num_games, const Rules& rules) {
  base::RandomSequence random(13, "games");
  std::vector<Game> games;
  for (int i = 0; i < num_games; ++i) games.push_back(Play(rules, &random));
  return games;
}

// 2.5 % of 1000 are 25; four standard deviations more are 44.
constexpr int kGames = 1000;
constexpr int kAllowed = 44;

TEST(SequentialTest, ACandidateOnTheMarginHardlyEverPassesAtAnyLook) {
  for (const double discordance : {0.05, 0.1, 0.2, 0.3}) {
    EXPECT_LE(
        Count(PlayMany(kGames, {discordance, -kMargin, 1500}), Verdict::kPass),
        kAllowed)
        << discordance;
  }
}

TEST(SequentialTest, AnEqualCandidateHardlyEverFailsAtAnyLook) {
  for (const double discordance : {0.04, 0.1, 0.2, 0.3}) {
    EXPECT_LE(Count(PlayMany(kGames, {discordance, 0, 1500}), Verdict::kFail),
              kAllowed)
        << discordance;
  }
}

// How often an item of a cell is better and worse.
struct Cell {
  double better = 0;
  double worse = 0;
};

struct Cells {
  int number = 0;
  Cell cell;
};

// A grid of 40 cells: these, and such as do not tell the arms apart.
std::vector<Cell> GridOf(const std::vector<Cells>& parts) {
  std::vector<Cell> grid;
  for (const auto& [number, cell] : parts) {
    grid.insert(grid.end(), static_cast<size_t>(number), cell);
  }
  grid.resize(40);
  return grid;
}

// A gate on samples with an item of each cell that looks after each of them.
Game PlayGrid(const std::vector<Cell>& grid, base::RandomSequence* random) {
  constexpr int kSamples = 75;
  int num_items = 0;
  int better = 0;
  int worse = 0;
  for (int sample = 0; sample < kSamples; ++sample) {
    for (const Cell& cell : grid) {
      const double draw = random->Double();
      ++num_items;
      better += draw < cell.better;
      worse += draw >= cell.better && draw < cell.better + cell.worse;
    }
    if (IsAboveAnytime(Answers(num_items, better, worse), 1, -kMargin,
                       kAlpha)) {
      return {Verdict::kPass, num_items};
    }
    if (IsAboveAnytime(Answers(num_items, worse, better), 1, 0, kAlpha)) {
      return {Verdict::kFail, num_items};
    }
  }
  return {Verdict::kInconclusive, num_items};
}

std::vector<Game> PlayGrids(const std::vector<Cell>& grid) {
  base::RandomSequence random(14, "games");
  std::vector<Game> games;
  for (int i = 0; i < kGames; ++i) games.push_back(PlayGrid(grid, &random));
  return games;
}

// In each grid the mean over cells is a loss of the margin: by items of some
// cells alone, by cells that are lost nearly always beside others that are won
// nearly always, and by one half that is much harder than the other.
TEST(SequentialTest, AGridOfUnlikeCellsOnTheMarginHardlyEverPasses) {
  const std::vector<std::vector<Cells>> grids = {
      {{4, {0, 0.5}}},
      {{6, {0, 0.9}}, {4, {0.85, 0}}},
      {{20, {0.1, 0.2}}},
  };
  for (size_t i = 0; i < grids.size(); ++i) {
    const std::vector<Game> games = PlayGrids(GridOf(grids[i]));
    EXPECT_LE(Count(games, Verdict::kPass), kAllowed) << i;
    EXPECT_GE(Count(games, Verdict::kFail), kGames * 0.95) << i;
  }
}

// As many are won as are lost, in other cells.
TEST(SequentialTest, AnEqualCandidateHardlyEverFailsOnAGridOfUnlikeCells) {
  const std::vector<std::vector<Cells>> grids = {
      {{6, {0, 0.9}}, {6, {0.9, 0}}},
      {{4, {0, 0.6}}, {8, {0.3, 0}}},
  };
  for (size_t i = 0; i < grids.size(); ++i) {
    const std::vector<Game> games = PlayGrids(GridOf(grids[i]));
    EXPECT_LE(Count(games, Verdict::kFail), kAllowed) << i;
    EXPECT_GE(Count(games, Verdict::kPass), kGames * 0.95) << i;
  }
}

TEST(SequentialTest, AGateOfOneLookWouldLoseItsLevelOnSuchLooks) {
  // The bound that DecideGate would use, looked at as often.
  base::RandomSequence random(13, "games");
  int failed = 0;
  for (int game = 0; game < 200; ++game) {
    int difference = 0;
    int discordant = 0;
    bool fails = false;
    for (int n = 1; n <= 1500; ++n) {
      const double draw = random.Double();
      if (draw >= 0.1) continue;
      ++discordant;
      difference += draw < 0.05 ? 1 : -1;
      fails = fails || difference + 1 < -1.96 * std::sqrt(discordant);
    }
    failed += fails;
  }
  EXPECT_GT(failed, 20);
}

TEST(SequentialTest, EqualCandidatesPassAfterAboutTheTypicalNumberOfItems) {
  GatePlan plan;
  plan.gate.margin = kMargin;
  plan.discordance = 0.1;
  const int64_t typical = TypicalItems(plan, 100'000).value();
  std::vector<Game> games =
      PlayMany(100, {0.1, 0, 4 * static_cast<int>(typical)});
  EXPECT_GE(Count(games, Verdict::kPass), 95);
  std::sort(games.begin(), games.end(), [](const Game& a, const Game& b) {
    return a.num_items < b.num_items;
  });
  // Half of them somewhat before, since some are lucky early.
  EXPECT_NEAR(games[50].num_items / static_cast<double>(typical), 0.85, 0.15);
  // Tight enough: what it takes for 80 % is below twice what one look takes.
  const int64_t one_look = ItemsForPower(plan, 0.8, 100'000).value();
  EXPECT_LT(static_cast<double>(games[80].num_items),
            2.0 * static_cast<double>(one_look));
}

PairedSample Sample(int num_items, int num_better, int num_worse) {
  std::vector<PairedItem> items;
  for (int i = 0; i < num_items; ++i) {
    const bool better = i < num_better;
    const bool worse = !better && i < num_better + num_worse;
    items.push_back({better ? 0.0 : 1.0, worse ? 0.0 : 1.0, ""});
  }
  return MakePairedSample(items).value();
}

TEST(DecideSequentiallyTest, DecidesByTheIntervalOfItsItems) {
  GateOptions options;
  options.margin = 0.05;
  const GateResult result =
      DecideSequentially(Sample(1000, 20, 80), options).value();
  EXPECT_EQ(result.verdict, Verdict::kFail);
  EXPECT_EQ(result.method, IntervalMethod::kAnytime);
  const Interval interval =
      AnytimeInterval(Answers(1000, 20, 80), 1, kAlpha, kAlpha);
  EXPECT_DOUBLE_EQ(result.interval.low, interval.low);
  EXPECT_DOUBLE_EQ(result.interval.high, interval.high);
  EXPECT_EQ(DecideSequentially(Sample(1000, 20, 20), options)->verdict,
            Verdict::kPass);
  EXPECT_EQ(DecideSequentially(Sample(100, 2, 2), options)->verdict,
            Verdict::kInconclusive);
}

TEST(DecideSequentiallyTest, RefusesDependentItemsAndUnboundedScores) {
  GateOptions options;
  options.margin = 0.05;
  EXPECT_THAT(
      DecideSequentially(MakePairedSample({{0, 1, "a"}, {1, 1, "a"}}).value(),
                         options),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("units")));
  options.score_range = std::numeric_limits<double>::infinity();
  EXPECT_THAT(
      DecideSequentially(Sample(10, 1, 1), options),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("score_range")));
}

TEST(NextLookTest, GrowsByHalfUpToTheBudget) {
  EXPECT_EQ(NextLook(0, 10'000), 100);
  EXPECT_EQ(NextLook(100, 10'000), 200);
  EXPECT_EQ(NextLook(1000, 10'000), 1500);
  EXPECT_EQ(NextLook(9000, 10'000), 10'000);
  EXPECT_EQ(NextLook(10'000, 10'000), 10'000);
}

TEST(NextLookTest, IsAtTheEndOfASample) {
  EXPECT_EQ(NextLook(0, 4000, 40), 120);
  EXPECT_EQ(NextLook(120, 4000, 40), 240);
  EXPECT_EQ(NextLook(360, 4000, 40), 560);
  EXPECT_EQ(NextLook(3600, 4000, 40), 4000);
  EXPECT_EQ(NextLook(0, 4800, 1600), 1600);
}

TEST(TypicalItemsTest, ABudgetWithoutPowerIsToldSo) {
  GatePlan plan;
  plan.gate.margin = 0.01;
  plan.discordance = 0.1;
  const absl::StatusOr<int64_t> items = TypicalItems(plan, 2000);
  EXPECT_THAT(items, StatusIs(absl::StatusCode::kFailedPrecondition,
                              HasSubstr("allow more items")));
  EXPECT_EQ(base::GetErrorInfo(items.status())->reason, "NO_POWER");
  plan.difference = -0.01;
  EXPECT_THAT(TypicalItems(plan, kMaxPlannedItems),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace ordo::report::stats
