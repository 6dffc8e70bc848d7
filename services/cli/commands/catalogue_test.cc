#include "services/cli/commands/catalogue.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/cli_test_base.h"

namespace ordo::services::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using CatalogueTest = testing::CliTest;

TEST_F(CatalogueTest, EncodingsNeedNoScheduler) {
  scheduler_.Leave();
  EXPECT_EQ(Run({"list", "encodings"}), 0);
  EXPECT_THAT(out(), HasSubstr("rope  "));
  EXPECT_THAT(out(), HasSubstr("position_size"));
  EXPECT_THAT(out(), HasSubstr("s_ij = q_i . k_j / sqrt(d)"));
  EXPECT_THAT(out(), HasSubstr("decoding with a cache: every row"));
  EXPECT_THAT(out(), HasSubstr("learned: max_length C; at first: normal"));
  EXPECT_EQ(Run({"list", "tasks"}), 0);
  EXPECT_THAT(out(), HasSubstr("training tasks"));
  EXPECT_THAT(out(), HasSubstr("addition_grid"));
  EXPECT_THAT(out(), HasSubstr("questions  "));
  EXPECT_THAT(out(), HasSubstr("items score: right or wrong, 1 or 0"));
  EXPECT_THAT(out(), HasSubstr("max_questions"));
  EXPECT_THAT(out(), HasSubstr("in questions and answers numbers have their "
                               "least significant digit first\n"));
}

TEST_F(CatalogueTest, EvaluationTasksSayWhatTheyScore) {
  EXPECT_EQ(Run({"list", "tasks"}), 0);
  EXPECT_THAT(out(), HasSubstr("items score: ln p for each token, at most 0; "
                               "scores: perplexity, word_perplexity, "
                               "bits_per_byte, batch_mean_perplexity\n"));
  EXPECT_EQ(Run({"list", "tasks", "-o", "json"}), 0);
  EXPECT_THAT(out(), HasSubstr("\"scores\":[\"error\",\"wrong_rows\"]"));
}

TEST_F(CatalogueTest, ParametersHaveUnits) {
  EXPECT_EQ(Run({"list", "encodings"}), 0);
  EXPECT_THAT(out(), ContainsRegex("max_position +integer +1024 +1..1048576 "
                                   "+positions +Number L"));
  EXPECT_EQ(Run({"list", "encodings", "-o", "json"}), 0);
  EXPECT_THAT(out(), HasSubstr("\"unit\":\"radians per token\""));
}

TEST_F(CatalogueTest, EncodingsAreThereForPrograms) {
  EXPECT_EQ(Run({"list", "encodings", "-o", "json"}), 0);
  EXPECT_THAT(out(), HasSubstr("\"name\":\"tape\""));
  EXPECT_THAT(out(), HasSubstr("\"default\":"));
  EXPECT_THAT(out(), HasSubstr("\"formula\":"));
  EXPECT_THAT(out(), HasSubstr("\"initial\":"));
}

TEST_F(CatalogueTest, OneOfThemCanBeNamed) {
  EXPECT_EQ(Run({"list", "tasks", "flip_flop"}), 0) << err();
  EXPECT_THAT(out(), ::testing::StartsWith("training task\n\nflip_flop  "));
  EXPECT_THAT(out(), HasSubstr("\n\nevaluation task\n\nflip_flop  "));
  EXPECT_THAT(out(), Not(HasSubstr("addition")));
  EXPECT_EQ(Run({"list", "encodings", "rope"}), 0) << err();
  EXPECT_THAT(out(), ::testing::StartsWith("rope  "));
  EXPECT_THAT(out(), Not(HasSubstr("position_size")));
  EXPECT_EQ(Run({"list", "encodings", "rope", "-o", "json"}), 0) << err();
  EXPECT_THAT(out(), HasSubstr("\"name\":\"rope\""));
  EXPECT_THAT(out(), Not(HasSubstr("\"name\":\"tape\"")));
}

TEST_F(CatalogueTest, WhatIsNotThereNamesTheNearest) {
  EXPECT_EQ(Run({"list", "tasks", "flipflop"}), 2);
  EXPECT_THAT(err(), HasSubstr("'flipflop' is none of the tasks"));
  EXPECT_THAT(err(), HasSubstr("flip_flop"));
  EXPECT_EQ(Run({"list", "encodings", "flip_flop"}), 2);
}

}  // namespace
}  // namespace ordo::services::cli
