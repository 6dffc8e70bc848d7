// Gates on simulated items: what comes out must be what was promised, for the
// rates of RatesOfGate and for the errors that the level allows.

#include <cmath>
#include <string>
#include <vector>

#include "base/random/random.h"
#include "gtest/gtest.h"
#include "report/stats/gate.h"
#include "report/stats/paired.h"
#include "report/stats/power.h"
#include "report/stats/sequential.h"

namespace ordo::report::stats {
namespace {

constexpr int kGates = 1000;

struct Population {
  int num_items = 0;
  // Items in a document, which all change together or not at all.
  int unit_size = 1;
  double discordance = 0;
  double difference = 0;
  double margin = 0;
};

// Right answers stand for all that do not differ.
void DrawItems(const Population& population, base::RandomSequence* random,
               std::vector<PairedItem>* items) {
  const double better = (population.discordance + population.difference) / 2;
  double draw = 0;
  for (size_t i = 0; i < items->size(); ++i) {
    if (i % static_cast<size_t>(population.unit_size) == 0) {
      draw = random->Double();
    }
    PairedItem& item = (*items)[i];
    item.baseline = draw < better ? 0 : 1;
    item.candidate = draw >= better && draw < population.discordance ? 0 : 1;
  }
}

VerdictRates Simulate(const Population& population) {
  base::RandomSequence random(2026, "gates");
  std::vector<PairedItem> items(static_cast<size_t>(population.num_items));
  if (population.unit_size > 1) {
    for (size_t i = 0; i < items.size(); ++i) {
      items[i].unit =
          std::to_string(i / static_cast<size_t>(population.unit_size));
    }
  }
  GateOptions options;
  options.margin = population.margin;
  VerdictRates rates;
  for (int gate = 0; gate < kGates; ++gate) {
    DrawItems(population, &random, &items);
    switch (DecideGate(MakePairedSample(items).value(), options)->verdict) {
      case Verdict::kPass:
        rates.pass += 1.0 / kGates;
        break;
      case Verdict::kFail:
        rates.fail += 1.0 / kGates;
        break;
      case Verdict::kInconclusive:
        rates.inconclusive += 1.0 / kGates;
        break;
    }
  }
  return rates;
}

GatePlan PlanOf(const Population& population) {
  GatePlan plan;
  plan.gate.margin = population.margin;
  plan.discordance = population.discordance;
  plan.difference = population.difference;
  return plan;
}

// Four standard deviations of a share of kGates, and two gates for shares that
// are nearly zero.
double Noise(double share) {
  return 4 * std::sqrt(share * (1 - share) / kGates) + 2.0 / kGates;
}

VerdictRates ExpectAsStated(const Population& population) {
  const VerdictRates seen = Simulate(population);
  const VerdictRates stated =
      RatesOfGate(PlanOf(population), population.num_items).value();
  EXPECT_NEAR(seen.pass, stated.pass, Noise(stated.pass));
  EXPECT_NEAR(seen.fail, stated.fail, Noise(stated.fail));
  EXPECT_NEAR(seen.inconclusive, stated.inconclusive,
              Noise(stated.inconclusive));
  return seen;
}

class GateSimulation : public testing::TestWithParam<double> {};

TEST_P(GateSimulation, TwoPointsWorseOfTwoThousandItemsIsCaught) {
  const Population worse = {2000, 1, GetParam(), -0.02, 0.01};
  const VerdictRates rates = ExpectAsStated(worse);
  // A miss: let through although it is worse by more than the margin.
  EXPECT_LE(rates.pass, 0.025);
  EXPECT_GE(rates.fail, GetParam() < 0.05   ? 0.97
                        : GetParam() < 0.15 ? 0.7
                                            : 0.4);
}

TEST_P(GateSimulation, AnEqualCheckpointPassesAtAMarginWithPower) {
  Population equal = {2000, 1, GetParam(), 0, 0.01};
  equal.margin = MarginForPower(PlanOf(equal), 0.9, 2000).value();
  const VerdictRates rates = ExpectAsStated(equal);
  EXPECT_GE(rates.pass, 0.9 - Noise(0.9));
  // A false alarm.
  EXPECT_LE(rates.fail, 0.025 + Noise(0.025));
}

// The worst that a miss can be: a candidate just as bad as the margin allows.
TEST_P(GateSimulation, ALossOfJustTheMarginHardlyPasses) {
  const VerdictRates rates = ExpectAsStated({2000, 1, GetParam(), -0.02, 0.02});
  EXPECT_LE(rates.pass, 0.025 + Noise(0.025));
}

TEST_P(GateSimulation, FiftyItemsAreInconclusive) {
  for (const double difference : {0.0, -0.02}) {
    const VerdictRates rates =
        ExpectAsStated({50, 1, GetParam(), difference, 0.02});
    EXPECT_GE(rates.inconclusive, 0.95);
    EXPECT_LE(rates.pass, 0.025);
  }
}

TEST_P(GateSimulation, DocumentsThatChangeAsAWholeKeepTheErrors) {
  const Population equal = {2000, 5, GetParam(), 0, 0.02};
  EXPECT_LE(Simulate(equal).fail, 0.025 + Noise(0.025));
  const Population worse = {2000, 5, GetParam(), -0.02, 0.02};
  EXPECT_LE(Simulate(worse).pass, 0.025 + Noise(0.025));
}

INSTANTIATE_TEST_SUITE_P(Discordances, GateSimulation,
                         testing::Values(0.04, 0.1, 0.2));

struct Course {
  int passed = 0;
  int failed = 0;
  int inconclusive = 0;
};

// Gates that add items by NextLook until they decide or the budget is spent.
Course SimulateSequentially(const Population& population, int num_gates) {
  base::RandomSequence random(2027, "gates");
  GateOptions options;
  options.margin = population.margin;
  Course course;
  for (int gate = 0; gate < num_gates; ++gate) {
    Verdict verdict = Verdict::kInconclusive;
    std::vector<PairedItem> items;
    while (verdict == Verdict::kInconclusive &&
           items.size() < static_cast<size_t>(population.num_items)) {
      std::vector<PairedItem> more(
          static_cast<size_t>(NextLook(static_cast<int64_t>(items.size()),
                                       population.num_items)) -
          items.size());
      DrawItems(population, &random, &more);
      items.insert(items.end(), more.begin(), more.end());
      verdict =
          DecideSequentially(MakePairedSample(items).value(), options)->verdict;
    }
    course.passed += verdict == Verdict::kPass;
    course.failed += verdict == Verdict::kFail;
    course.inconclusive += verdict == Verdict::kInconclusive;
  }
  return course;
}

class SequentialGateSimulation : public testing::TestWithParam<double> {};

TEST_P(SequentialGateSimulation, KeepsItsErrorsAndDecidesWithinTheBudget) {
  // 2.5 % of kGates, and four standard deviations.
  constexpr int kAllowed = 44;
  // It takes about as many items as the discordance is large.
  const int budget = static_cast<int>(std::lround(40'000 * GetParam()));
  const Course equal =
      SimulateSequentially({budget, 1, GetParam(), 0, 0.03}, kGates);
  EXPECT_GE(equal.passed, kGates * 0.95);
  EXPECT_LE(equal.failed, kAllowed);
  const Course worse =
      SimulateSequentially({budget, 1, GetParam(), -0.03, 0.03}, kGates);
  EXPECT_LE(worse.passed, kAllowed);
  EXPECT_GE(worse.failed, kGates * 0.95);
  const Course short_of_items =
      SimulateSequentially({100, 1, GetParam(), 0, 0.03}, kGates);
  EXPECT_GE(short_of_items.inconclusive, kGates * 0.95);
}

INSTANTIATE_TEST_SUITE_P(Discordances, SequentialGateSimulation,
                         testing::Values(0.04, 0.1, 0.2));

}  // namespace
}  // namespace ordo::report::stats
