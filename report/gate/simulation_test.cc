// Gates of two tasks, with an anchor and with sets that grow, on simulated
// items: what is decided together must err no more often than one comparison
// may, and pass as often as the account says.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random/random.h"
#include "gtest/gtest.h"
#include "report/gate/decision.h"
#include "report/gate/power.h"
#include "report/stats/power.h"
#include "report/stats/sequential.h"

namespace ordo::report::gate {
namespace {

constexpr int kGates = 1000;
constexpr int kItems = 1000;
constexpr double kMargin = 0.05;
constexpr double kAllowed = 0.025;

using stats::Verdict;

// Four standard deviations of a share of `num_gates`, and two gates.
double Noise(double share, int num_gates) {
  return 4 * std::sqrt(share * (1 - share) / num_gates) + 2.0 / num_gates;
}

// Where the candidate stands on one task.
struct Truth {
  double discordance = 0;
  double difference = 0;
  Reference reference = Reference::kBaseline;
};

Item Draw(const Truth& truth, size_t index, base::RandomSequence* random) {
  const double draw = random->Double();
  const double better = (truth.discordance + truth.difference) / 2;
  const bool is_better = draw < better;
  const bool is_worse = !is_better && draw < truth.discordance;
  return {std::to_string(index), "", is_better ? 0.0 : 1.0,
          is_worse ? 0.0 : 1.0};
}

void Grow(const Truth& truth, size_t num_items, base::RandomSequence* random,
          Comparison* comparison) {
  while (comparison->items.size() < num_items) {
    comparison->items.push_back(Draw(truth, comparison->items.size(), random));
  }
}

Options GateOptions() {
  Options options;
  options.margin = kMargin;
  return options;
}

// Comparisons of the truths, each baseline on a task of its own, an anchor on
// that of the truth before it.
std::vector<Comparison> Comparisons(const std::vector<Truth>& truths) {
  std::vector<Comparison> comparisons;
  for (const Truth& truth : truths) {
    Comparison comparison;
    comparison.task = truth.reference == Reference::kAnchor
                          ? comparisons.back().task
                          : "task" + std::to_string(comparisons.size());
    comparison.reference = truth.reference;
    comparisons.push_back(comparison);
  }
  return comparisons;
}

stats::VerdictRates Simulate(const std::vector<Truth>& truths) {
  base::RandomSequence random(2028, "gates");
  stats::VerdictRates rates;
  for (int gate = 0; gate < kGates; ++gate) {
    std::vector<Comparison> comparisons = Comparisons(truths);
    for (size_t i = 0; i < truths.size(); ++i) {
      Grow(truths[i], kItems, &random, &comparisons[i]);
    }
    const Verdict verdict = Decide(GateOptions(), comparisons)->verdict;
    rates.pass += verdict == Verdict::kPass ? 1.0 / kGates : 0;
    rates.fail += verdict == Verdict::kFail ? 1.0 / kGates : 0;
    rates.inconclusive += verdict == Verdict::kInconclusive ? 1.0 / kGates : 0;
  }
  return rates;
}

TEST(GateSimulation, AnEqualCandidateHardlyEverFailsOnSeveralTasks) {
  // Without correction about one in seven would.
  const stats::VerdictRates rates = Simulate(std::vector<Truth>(8, {0.3, 0}));
  EXPECT_LE(rates.fail, kAllowed + Noise(kAllowed, kGates));
}

TEST(GateSimulation, ALossOfTheMarginOnOneTaskHardlyEverPasses) {
  const stats::VerdictRates rates =
      Simulate({{0.02, 0}, {0.1, -kMargin}, {0.02, 0}});
  EXPECT_LE(rates.pass, kAllowed + Noise(kAllowed, kGates));
  EXPECT_GE(rates.fail, 0.9);
}

TEST(GateSimulation, LossesThatAddedUpAreStoppedByTheAnchor) {
  const Truth step = {0.05, -0.01};
  const Truth since_anchor = {0.1, -kMargin, Reference::kAnchor};
  EXPECT_GE(Simulate({step}).pass, 0.9);
  EXPECT_LE(Simulate({step, since_anchor}).pass,
            kAllowed + Noise(kAllowed, kGates));
}

TEST(GateSimulation, AnEqualCandidatePassesAsOftenAsItsPowerSays) {
  const std::vector<Truth> truths = {{0.1, 0}, {0.2, 0}};
  std::vector<Power> powers;
  for (const Truth& truth : truths) {
    Result result;
    result.options = OptionsOf(GateOptions(), Reference::kBaseline, 1, 2);
    result.gate.discordance = truth.discordance;
    result.gate.estimate.num_items = kItems;
    result.gate.estimate.num_units = kItems;
    powers.push_back(StatePower(result));
  }
  const double least = JointPower(powers).value();
  // Independent tasks: the product.
  const double product = *powers[0].equal_passes * *powers[1].equal_passes;
  const double pass = Simulate(truths).pass;
  EXPECT_GE(pass, least - Noise(least, kGates));
  EXPECT_NEAR(pass, product, Noise(product, kGates));
  EXPECT_GT(least, 0.7);
}

// Adds items as `next_look` asks for them; both comparisons of a task have the
// same number of them.
Verdict RunToTheEnd(const std::vector<Truth>& truths, int64_t budget,
                    base::RandomSequence* random) {
  std::vector<Comparison> comparisons = Comparisons(truths);
  int64_t look = stats::NextLook(0, budget);
  while (true) {
    for (size_t i = 0; i < truths.size(); ++i) {
      comparisons[i].budget = budget;
      Grow(truths[i], static_cast<size_t>(look), random, &comparisons[i]);
    }
    const Decision decision = Decide(GateOptions(), comparisons).value();
    look = 0;
    for (const Result& result : decision.results) {
      look = std::max(look, result.next_look);
    }
    if (look == 0) return decision.verdict;
  }
}

class GrowingGateSimulation : public ::testing::TestWithParam<double> {};

TEST_P(GrowingGateSimulation, SetsThatGrowTogetherKeepTheErrorsAndDecide) {
  constexpr int64_t kBudget = 3000;
  base::RandomSequence random(2029, "gates");
  const Truth equal = {GetParam(), 0};
  const Truth anchor = {GetParam() + kMargin, 0, Reference::kAnchor};
  const Truth worse = {GetParam() + kMargin, -kMargin, Reference::kAnchor};
  double failed = 0;
  double passed = 0;
  double let_through = 0;
  for (int gate = 0; gate < kGates; ++gate) {
    const Verdict of_equal = RunToTheEnd({equal, anchor}, kBudget, &random);
    failed += of_equal == Verdict::kFail ? 1.0 / kGates : 0;
    passed += of_equal == Verdict::kPass ? 1.0 / kGates : 0;
    let_through +=
        RunToTheEnd({equal, worse}, kBudget, &random) == Verdict::kPass
            ? 1.0 / kGates
            : 0;
  }
  EXPECT_LE(failed, kAllowed + Noise(kAllowed, kGates));
  EXPECT_GE(passed, 0.9);
  EXPECT_LE(let_through, kAllowed + Noise(kAllowed, kGates));
}

INSTANTIATE_TEST_SUITE_P(Discordances, GrowingGateSimulation,
                         ::testing::Values(0.04, 0.1, 0.2));

}  // namespace
}  // namespace ordo::report::gate
