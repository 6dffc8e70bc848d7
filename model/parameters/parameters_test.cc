#include "model/parameters/parameters.h"

#include <vector>

#include "base/random/random.h"
#include "gtest/gtest.h"
#include "model/testing/tensors.h"

namespace ordo::model::parameters {
namespace {

using testing::MaxDifference;
using testing::SameBits;

TEST(ParametersTest, ValuesComeFromTheStreamOfTheName) {
  ParameterOptions options;
  options.seed = 7;
  options.dtype = at::kDouble;
  ParameterSet set(options);
  const at::Tensor a = set.Add("a.weight", {2, 3}, {0.5, 1.0});
  std::vector<double> normals(6);
  base::RandomStream(7, "init/a.weight").FillNormals(0, normals.data(), 6);
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(a.data_ptr<double>()[i], 1.0 + 0.5 * normals[i]);
  }
}

TEST(ParametersTest, UniformValuesComeFromTheStreamOfTheName) {
  ParameterOptions options;
  options.seed = 7;
  options.dtype = at::kDouble;
  ParameterSet set(options);
  const at::Tensor a = set.Add("a", {1000}, {0.0, 1.0, 2.0});
  const base::RandomStream stream(7, "init/a");
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(a.data_ptr<double>()[i], 1.0 + 2.0 * stream.Double(i));
  }
  EXPECT_GE(a.min().item<double>(), 1.0);
  EXPECT_LT(a.max().item<double>(), 3.0);
}

TEST(ParametersTest, GivenValuesAreCopied) {
  ParameterSet set({});
  at::Tensor values = testing::Doubles({2}, {0.25, 3});
  const at::Tensor a = set.Add("a", values);
  values.fill_(9);
  EXPECT_TRUE(SameBits(a, testing::Doubles({2}, {0.25, 3}).to(at::kFloat)));
  EXPECT_TRUE(a.requires_grad());
}

TEST(ParametersTest, FurtherParametersChangeNoOther) {
  ParameterSet few({});
  const at::Tensor alone = few.Add("b", {4}, {1.0});
  ParameterSet many({});
  many.Add("a", {100}, {1.0});
  EXPECT_TRUE(SameBits(many.Add("b", {4}, {1.0}), alone));
}

TEST(ParametersTest, DtypesDifferByRoundingOnly) {
  ParameterSet single({});
  ParameterOptions options;
  options.dtype = at::kDouble;
  ParameterSet twice(options);
  const at::Tensor a = single.Add("a", {64}, {1.0});
  const at::Tensor b = twice.Add("a", {64}, {1.0});
  EXPECT_TRUE(SameBits(a, b.to(at::kFloat)));
}

TEST(ParametersTest, WithoutDeviationTheMeanIsTheValue) {
  ParameterSet set({});
  EXPECT_EQ(MaxDifference(set.Add("norm", {3}, {0.0, 1.0}),
                          testing::Doubles({3}, {1, 1, 1})),
            0.0);
}

TEST(ParametersTest, TheMetaDeviceCountsWithoutValues) {
  ParameterOptions options;
  options.device = at::Device(at::kMeta);
  ParameterSet set(options);
  EXPECT_TRUE(set.Add("huge", {1 << 20, 1 << 20}, {1.0}).is_meta());
  EXPECT_EQ(set.NumValues(), int64_t{1} << 40);
}

TEST(ParametersTest, FindKnowsOnlyWhatWasAdded) {
  ParameterSet set({});
  const at::Tensor a = set.Add("a", {1}, {});
  EXPECT_TRUE(set.Find("a").is_same(a));
  EXPECT_TRUE(a.requires_grad());
  EXPECT_FALSE(set.Find("b").defined());
}

}  // namespace
}  // namespace ordo::model::parameters
