#include "model/catalog/fine_tuning.h"

#include <string>
#include <vector>

#include "base/status/details.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::catalog {
namespace {

using ::ordo::training::v1::Model;
using ::ordo::training::v1::Training;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Field and what is wrong, in one line each.
std::vector<std::string> Wrong(Training training) {
  Violations violations;
  ResolveFineTuning("training", &training, &violations);
  std::vector<std::string> lines;
  for (const auto& violation : violations) {
    lines.push_back(violation.field + ": " + violation.description);
  }
  return lines;
}

std::vector<std::string> DoesNotFit(const Training& training,
                                    const Model& model) {
  Violations violations;
  CheckFineTuning("training", training, model, &violations);
  std::vector<std::string> lines;
  for (const auto& violation : violations) {
    lines.push_back(violation.field + ": " + violation.description);
  }
  return lines;
}

Model Llama() {
  Model model;
  model.set_heads(4);
  model.set_mlp("swiglu");
  model.set_causal(true);
  return model;
}

TEST(FineTuningTest, WithoutItNothingIsFilledIn) {
  Training training;
  Violations violations;
  ResolveFineTuning("training", &training, &violations);
  EXPECT_THAT(violations, IsEmpty());
  EXPECT_EQ(training.ByteSizeLong(), 0u);
}

TEST(FineTuningTest, LoraHasDefaults) {
  Training training;
  training.mutable_lora();
  Violations violations;
  ResolveFineTuning("training", &training, &violations);
  EXPECT_THAT(violations, IsEmpty());
  EXPECT_EQ(training.lora().rank(), 8);
  EXPECT_EQ(training.lora().alpha(), 16.0);
  EXPECT_THAT(training.lora().targets(),
              ElementsAre("q_proj", "k_proj", "v_proj", "o_proj"));
}

TEST(FineTuningTest, WhatIsWrongIsNamedWithTheNearestName) {
  Training training;
  training.mutable_lora()->set_rank(0);
  training.mutable_lora()->set_alpha(0);
  training.mutable_lora()->add_targets("q_porj");
  training.add_trainable("norms");
  training.add_trainable("norms");
  training.add_trainable("embedding");
  training.mutable_shifted_sparse()->set_group(7);
  EXPECT_THAT(
      Wrong(training),
      ElementsAre(HasSubstr("training.lora.rank: "),
                  HasSubstr("training.lora.alpha: "),
                  ::testing::AllOf(HasSubstr("training.lora.targets[0]: "),
                                   HasSubstr("'q_proj'")),
                  HasSubstr("training.trainable[1]: 'norms' is there twice"),
                  ::testing::AllOf(HasSubstr("training.trainable[2]: "),
                                   HasSubstr("'embeddings'")),
                  HasSubstr("training.shifted_sparse.group: must be even")));
}

TEST(FineTuningTest, AGroupIsRequired) {
  Training training;
  training.mutable_shifted_sparse();
  EXPECT_THAT(Wrong(training),
              ElementsAre(HasSubstr("training.shifted_sparse.group")));
}

TEST(FineTuningTest, WhatTheModelDoesNotHaveIsRefused) {
  Training training;
  training.mutable_lora()->add_targets("up_proj");
  training.mutable_lora()->add_targets("gate_proj");
  training.add_trainable("head");
  training.mutable_shifted_sparse()->set_group(8);
  EXPECT_THAT(DoesNotFit(training, Llama()), IsEmpty());
  Model other = Llama();
  other.set_mlp("gelu");
  other.set_tie_embeddings(true);
  other.set_heads(3);
  other.set_causal(false);
  EXPECT_THAT(
      DoesNotFit(training, other),
      ElementsAre(HasSubstr("training.lora.targets[1]: gate_proj is not"),
                  HasSubstr("training.trainable[0]: the head is"),
                  HasSubstr("training.shifted_sparse: is for causal"),
                  HasSubstr("training.shifted_sparse: needs an even number")));
  other = Llama();
  other.set_mlp("geglu");
  other.set_tie_embeddings(true);
  other.set_output_projection(true);
  EXPECT_THAT(DoesNotFit(training, other), IsEmpty());
}

}  // namespace
}  // namespace ordo::model::catalog
