#include "services/checkpoints/folder_check.h"

#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/testing/model_folders.h"

namespace ordo::services::checkpoints {
namespace {

using base::testing::StatusIs;
using services::testing::Folder;
using ::testing::HasSubstr;

class FolderCheckTest : public ::testing::Test {
 protected:
  absl::StatusOr<FolderContents> Check(const Folder& folder) {
    services::testing::WriteTo(files_, folder_.path(), folder);
    return CheckFolder(files_, folder_.path(),
                       services::testing::ListOf(folder));
  }

  base::testing::TemporaryFolder folder_;
  base::PosixFilesystem files_;
};

TEST_F(FolderCheckTest, SaysWhatTheModelIs) {
  for (const Folder& folder :
       {services::testing::TinyLlama(), services::testing::ShardedLlama()}) {
    const auto contents = Check(folder);
    ORDO_ASSERT_OK(contents);
    EXPECT_EQ(contents->model_type, "llama");
    EXPECT_EQ(contents->model.width(), 16);
    EXPECT_EQ(contents->model.vocabulary_size(), 19);
    EXPECT_EQ(contents->encoding.name(), "rope");
    EXPECT_EQ(contents->data.task(), "");
    EXPECT_EQ(contents->step, 0);
  }
}

TEST_F(FolderCheckTest, StateOfACheckpointSaysItsStep) {
  Folder folder = services::testing::TinyLlama();
  folder["state.json"] = R"({"step": 40, "state_digest": "ab"})";
  folder["optimizer.safetensors"] = folder["model.safetensors"];
  const auto contents = Check(folder);
  ORDO_ASSERT_OK(contents);
  EXPECT_EQ(contents->step, 40);
  EXPECT_EQ(contents->state_digest, "ab");
}

TEST_F(FolderCheckTest, WhatIsNotRightIsNamed) {
  const Folder whole = services::testing::TinyLlama();
  const Folder sharded = services::testing::ShardedLlama();
  const auto with = [](Folder folder, const std::string& name,
                       const std::string& content) {
    folder[name] = content;
    return folder;
  };
  const std::string weights = whole.at("model.safetensors");
  const std::string first = "model-00001-of-00002.safetensors";
  const std::string deep = "{\"model_type\": " + std::string(1 << 20, '[') +
                           std::string(1 << 20, ']') + "}";
  const struct {
    Folder folder;
    const char* message;
  } cases[] = {
      {with(whole, "config.json", "{"), "config.json: it is not a JSON object"},
      // What prints or copies it would call itself as often.
      {with(whole, "config.json", deep), "config.json: it is nested too deep"},
      {with(whole, "config.json", R"({"model_type": "t5"})"),
       "rebuild the model of config.json: model_type: 't5' is not one of"},
      // As the papers' own programs write it.
      {with(whole, "config.json",
            whole.at("config.json").substr(0, 1) + "\"rpe_type\": \"fire\"," +
                whole.at("config.json").substr(1)),
       "convert the folder first and take OWN: ordo-trainer convert "
       "--checkpoint DIR --encoding ENCODING --out OWN"},
      {with(whole, "model.safetensors", weights.substr(0, 100)),
       "read safetensors file model.safetensors: the header's length"},
      {with(whole, "model.safetensors", weights + "x"),
       "read safetensors file model.safetensors: the header describes"},
      {with(whole, "state.json", R"({"step": -1})"), "state.json: step: "},
      {with(sharded, "model.safetensors.index.json", "{}"),
       "model.safetensors.index.json: it has no object 'weight_map'"},
      {with(sharded, "model.safetensors.index.json",
            R"({"weight_map": {"lm_head.weight": "../x.safetensors"}})"),
       "\"../x.safetensors\", is not one of the upload"},
      {with(sharded, "model.safetensors.index.json",
            R"({"weight_map": {"a": "model-00001-of-00002.safetensors"}})"),
       "model-00001-of-00002.safetensors: tensor 'a' is missing"},
      {with(sharded, "extra.safetensors", weights),
       "extra.safetensors: tensor 'lm_head.weight' is not in "},
  };
  for (const auto& [folder, message] : cases) {
    EXPECT_THAT(Check(folder), StatusIs(absl::StatusCode::kInvalidArgument,
                                        HasSubstr(message)));
  }
}

TEST_F(FolderCheckTest, HeadersTogetherHaveALimit) {
  const Folder folder = services::testing::ShardedLlama();
  services::testing::WriteTo(files_, folder_.path(), folder);
  const auto check = [&](uint64_t limit) {
    return CheckFolder(files_, folder_.path(),
                       services::testing::ListOf(folder), limit)
        .status();
  };
  // Room for that of either file, not of both.
  uint64_t bytes = 0;
  for (const auto& [name, content] : folder) {
    if (name.find(".safetensors") == name.size() - 12) {
      bytes += content.find("}}") + 2;
    }
  }
  ORDO_EXPECT_OK(check(bytes + 16));
  EXPECT_THAT(check(bytes - 100),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("model-00002-of-00002.safetensors: with it "
                                 "the headers of the folder's safetensors")));
}

}  // namespace
}  // namespace ordo::services::checkpoints
