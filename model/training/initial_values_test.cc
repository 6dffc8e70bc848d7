#include "model/training/initial_values.h"

#include <memory>
#include <set>
#include <string>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/encodings/testing/examples.h"
#include "model/testing/models.h"

namespace ordo::model::training {
namespace {

using ::testing::SizeIs;
using transformer::Transformer;

std::unique_ptr<Transformer> Model(const std::string& encoding,
                                   uint64_t seed = 1) {
  parameters::ParameterOptions options;
  options.seed = seed;
  return model::testing::MakeTransformer(model::testing::SmallModel(),
                                         model::testing::Encoding(encoding),
                                         options);
}

// Multiplies what `model` has under this name by two.
void Change(const Transformer& model, const std::string& name) {
  const at::NoGradGuard no_grad;
  for (const auto& named : model.Parameters()) {
    if (named.name == name) at::Tensor(named.tensor).mul_(2);
  }
}

TEST(InitialValues, AreThoseOfEveryOtherEncodingWithTheSameSeed) {
  const std::string wanted = CombinedDigest(DigestValues(*Model("rope")));
  int with_parameters = 0;
  for (const auto& example : encodings::testing::Examples()) {
    const auto model = model::testing::MakeTransformer(
        model::testing::SmallModel(), example.encoding);
    const InitialValues values = DigestValues(*model);
    EXPECT_EQ(CombinedDigest(values), wanted) << example.label;
    if (values.size() < model->Parameters().size()) ++with_parameters;
  }
  // Tape, cope and others have parameters of their own.
  EXPECT_GT(with_parameters, 5);
}

TEST(InitialValues, AreOthersWithAnotherSeed) {
  const InitialValues one = DigestValues(*Model("rope"));
  const InitialValues two = DigestValues(*Model("rope", 2));
  EXPECT_NE(CombinedDigest(one), CombinedDigest(two));
  // Norms begin with ones whatever the seed.
  EXPECT_EQ(one.at("model.norm.weight").sha256,
            two.at("model.norm.weight").sha256);
  EXPECT_NE(one.at("model.embed_tokens.weight").sha256,
            two.at("model.embed_tokens.weight").sha256);
}

TEST(InitialValues, TellWhichParameterDiffers) {
  const auto model = Model("rope");
  const InitialValues before = DigestValues(*model);
  Change(*model, "model.layers.1.mlp.up_proj.weight");
  const InitialValues after = DigestValues(*model);
  EXPECT_NE(CombinedDigest(before), CombinedDigest(after));
  std::set<std::string> changed;
  for (const auto& [name, value] : before) {
    if (after.at(name).sha256 != value.sha256) changed.insert(name);
  }
  EXPECT_THAT(changed,
              ::testing::ElementsAre("model.layers.1.mlp.up_proj.weight"));
}

TEST(InitialValues, LeaveOutWhatIsTheEncodings) {
  const auto model = Model("tape");
  const InitialValues before = DigestValues(*model);
  int num_changed = 0;
  for (const auto& named : model->Parameters()) {
    if (before.count(named.name) != 0) continue;
    Change(*model, named.name);
    ++num_changed;
  }
  EXPECT_GT(num_changed, 0);
  EXPECT_EQ(CombinedDigest(DigestValues(*model)), CombinedDigest(before));
}

TEST(InitialValues, ThatAreNotKnownHaveNoDigest) {
  EXPECT_EQ(CombinedDigest({}), "");
}

TEST(InitialValues, ComeBackFromJson) {
  const InitialValues values = DigestValues(*Model("none"));
  const auto json = ToJson(values);
  EXPECT_EQ(json["digest"], CombinedDigest(values));
  EXPECT_THAT(json["parameters"]["model.embed_tokens.weight"]["shape"],
              SizeIs(2));
  const InitialValues read = InitialValuesOf(json);
  EXPECT_THAT(read, SizeIs(values.size()));
  EXPECT_EQ(CombinedDigest(read), CombinedDigest(values));
}

}  // namespace
}  // namespace ordo::model::training
