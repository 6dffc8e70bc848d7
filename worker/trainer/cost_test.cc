#include "worker/trainer/cost.h"

#include <string>

#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace ordo::worker::trainer {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

class CostTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::string> Text(const std::string& spec,
                                   CostOptions options = {}) {
    options.spec = folder_.Path("spec.yaml");
    ORDO_EXPECT_OK(base::AtomicWrite(files_, options.spec, spec));
    return CostText(files_, options);
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
};

constexpr char kPaper[] = "{model: {preset: small}, encoding: {name: rope}}";

TEST_F(CostTest, ATableOfBothConventions) {
  ORDO_ASSERT_OK_AND_ASSIGN(const std::string text, Text(kPaper));
  EXPECT_THAT(
      text,
      AllOf(HasSubstr("convention: model, one forward pass over 1024 tokens"),
            HasSubstr("convention: tape_table3"), HasSubstr("layer 11"),
            HasSubstr("154.89 Mi parameters, 160.457 G MACs, 321.103 G "
                      "FLOPs\n")));
}

TEST_F(CostTest, JsonHasTheSameNumbers) {
  CostOptions options;
  options.convention = "tape_table3";
  options.output = "json";
  ORDO_ASSERT_OK_AND_ASSIGN(const std::string text, Text(kPaper, options));
  const Json json = Json::parse(text);
  ASSERT_EQ(json["conventions"].size(), 1u);
  const Json& one = json["conventions"][0];
  EXPECT_EQ(json["tokens"], 1024);
  EXPECT_EQ(one["convention"], "tape_table3");
  EXPECT_EQ(one["whole"]["parameters"], 162417408);
  EXPECT_EQ(one["whole"]["macs"], 160457293824);
  EXPECT_EQ(one["whole"]["flops"], 321103331328);
  EXPECT_EQ(one["whole"]["state_bytes"], 12 * 2 * 1024 * 768 * 4);
  // Embedding, layers, head, encoding.
  EXPECT_EQ(one["parts"].size(), 12u + 3u);
}

TEST_F(CostTest, TokensAreThoseGivenElseTheData) {
  const std::string spec =
      "{encoding: {name: none}, data: {task: addition, params: {max_digits: "
      "2}}}";
  CostOptions options;
  options.convention = "model";
  ORDO_ASSERT_OK_AND_ASSIGN(const std::string of_data, Text(spec, options));
  EXPECT_THAT(of_data, Not(HasSubstr("1024 tokens")));
  options.tokens = 7;
  ORDO_ASSERT_OK_AND_ASSIGN(const std::string given, Text(spec, options));
  EXPECT_THAT(given, HasSubstr("over 7 tokens"));
}

TEST_F(CostTest, WhatIsWrongIsNamed) {
  CostOptions options;
  options.convention = "tape_tabel3";
  EXPECT_THAT(Text(kPaper, options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("--convention"),
                             HasSubstr("did you mean 'tape_table3'"))));
  options = {};
  options.output = "yaml";
  EXPECT_THAT(Text(kPaper, options),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("-o")));
  options = {};
  options.tokens = 2048;
  EXPECT_THAT(
      Text("{encoding: {name: learned, params: {max_length: 1024}}}", options),
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(HasSubstr("--tokens"), HasSubstr("room for 1024"))));
  EXPECT_THAT(
      Text("{encoding: {name: roep}}"),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("encoding.name")));
}

}  // namespace
}  // namespace ordo::worker::trainer
