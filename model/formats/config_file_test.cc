#include "model/formats/config_file.h"

#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::formats {
namespace {

using base::testing::StatusIs;
using ordo::training::v1::Component;
using ::testing::HasSubstr;

constexpr char kLlama[] = R"({
  "model_type": "llama", "num_hidden_layers": 2, "hidden_size": 8,
  "num_attention_heads": 2, "intermediate_size": 12, "vocab_size": 7,
  "rope_theta": 500.0, "max_position_embeddings": 16
})";

TEST(ConfigFileTest, AForeignFileSaysModelAndEncodingResolved) {
  const auto file = ParseConfigFile(kLlama, nullptr, "config.json");
  ORDO_ASSERT_OK(file);
  ASSERT_NE(file->family, nullptr);
  EXPECT_EQ(file->family->model_type, "llama");
  EXPECT_EQ(file->config.model.width(), 8);
  EXPECT_EQ(file->config.model.key_value_heads(), 2);
  EXPECT_EQ(file->config.encoding.name(), "rope");
  EXPECT_EQ(file->config.encoding.params().at("base").number_value(), 500);
  EXPECT_FALSE(file->config.lora.has_value());
}

TEST(ConfigFileTest, AGivenEncodingTakesThePlaceOfTheFiles) {
  Component given;
  given.set_name("yarn");
  (*given.mutable_params())["factor"].set_number_value(4);
  const auto file = ParseConfigFile(kLlama, &given, "config.json");
  ORDO_ASSERT_OK(file);
  EXPECT_EQ(file->config.encoding.name(), "yarn");
}

TEST(ConfigFileTest, OwnKeySaysWhatForeignKeysCannot) {
  const auto file = ParseConfigFile(
      R"({"model_type": "llama", "ordo": {
        "model": {"layers": 1, "width": 16, "heads": 2},
        "encoding": {"name": "none"},
        "data": {"task": "addition"}, "lora": {"rank": 2}}})",
      nullptr, "config.json");
  ORDO_ASSERT_OK(file);
  EXPECT_EQ(file->family, nullptr);
  EXPECT_EQ(file->config.encoding.name(), "none");
  EXPECT_EQ(file->config.data.task(), "addition");
  ASSERT_TRUE(file->config.lora.has_value());
  EXPECT_EQ(file->config.lora->rank(), 2);
}

TEST(ConfigFileTest, WhatCannotBeRebuiltIsNamed) {
  const struct {
    const char* text;
    absl::StatusCode code;
    const char* message;
  } cases[] = {
      {"{", absl::StatusCode::kDataLoss, "config.json is damaged: it is not"},
      {R"({"model_type": "t5"})", absl::StatusCode::kInvalidArgument,
       "model_type: 't5' is not one of llama"},
      {R"({"model_type": "llama", "hidden_size": 8, "num_hidden_layers": 1,
           "num_attention_heads": 2, "intermediate_size": 8, "vocab_size": 7,
           "mystery": 3})",
       absl::StatusCode::kInvalidArgument, "mystery: is not supported, is 3"},
      {R"({"ordo": {"model": 1}})", absl::StatusCode::kInvalidArgument,
       "config.json"},
  };
  for (const auto& [text, code, message] : cases) {
    EXPECT_THAT(ParseConfigFile(text, nullptr, "config.json"),
                StatusIs(code, HasSubstr(message)));
  }
}

TEST(ConfigFileTest, IsReadFromItsFolder) {
  base::testing::TemporaryFolder folder;
  base::PosixFilesystem files;
  ORDO_ASSERT_OK(base::AtomicWrite(files, folder.Path("config.json"), kLlama));
  const auto file = ReadConfigFile(files, folder.path(), nullptr);
  ORDO_ASSERT_OK(file);
  EXPECT_EQ(file->config.model.layers(), 2);
  EXPECT_THAT(ReadConfigFile(files, folder.Path("none"), nullptr),
              StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace ordo::model::formats
