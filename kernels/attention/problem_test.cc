#include "kernels/attention/problem.h"

#include <set>
#include <string>

#include "gtest/gtest.h"
#include "kernels/attention/check/problems.h"

namespace ordo::kernels::attention {
namespace {

TEST(ProblemTest, TensorsOfTermsThatAreNotThereAreEmpty) {
  const Problem plain = check::Plain(5, 8);
  for (int i = 0; i < kNumInputs; ++i) {
    const Shape shape = ShapeOf(plain, static_cast<Input>(i));
    EXPECT_EQ(shape.count() > 0, i <= kValue) << NameOf(static_cast<Input>(i));
    EXPECT_EQ(shape.batch > 0, shape.count() > 0);
  }
  for (int i = 0; i < kNumOutputs; ++i) {
    const auto output = static_cast<Output>(i);
    EXPECT_EQ(ShapeOf(plain, output).count() > 0, output == kMixed);
  }
}

// Every input and output belongs to some problem of the test of kernels.
TEST(ProblemTest, TheTestedProblemsHaveAllTensors) {
  std::set<std::string> seen, names;
  for (const check::Case& c : check::Problems()) {
    for (int i = 0; i < kNumInputs; ++i) {
      const auto input = static_cast<Input>(i);
      names.insert(NameOf(input));
      if (ShapeOf(c.problem, input).count() > 0) seen.insert(NameOf(input));
    }
    for (int i = 0; i < kNumOutputs; ++i) {
      const auto output = static_cast<Output>(i);
      names.insert(NameOf(output));
      if (ShapeOf(c.problem, output).count() > 0) seen.insert(NameOf(output));
    }
  }
  EXPECT_EQ(names.size(), size_t{kNumInputs + kNumOutputs});
  EXPECT_EQ(seen, names);
}

TEST(ProblemTest, TablesHaveAnElementForEachDistance) {
  Problem p = check::Plain(5, 8);
  p.biased = true;
  p.reach = 3;
  EXPECT_EQ(ShapeOf(p, kBias).width, 4);
  p.causal = false;
  EXPECT_EQ(ShapeOf(p, kBias).width, 7);
}

}  // namespace
}  // namespace ordo::kernels::attention
