#include "base/files/file_util.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/cli_test_base.h"
#include "services/testing/loopback.h"
#include "services/testing/model_folders.h"

namespace ordo::services::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class PushTest : public testing::CliTest {
 protected:
  PushTest() { path_ = folder_.Path("Tiny_Llama.v2"); }

  // Pushes to services that take uploads.
  int Push(const std::vector<std::string>& args) {
    std::vector<std::string> all = {"push", "checkpoint", "--server",
                                    loopback_.server().address()};
    all.insert(all.end(), args.begin(), args.end());
    return Run(all);
  }
  void Write() {
    ORDO_ASSERT_OK(files_.MakeFolders(path_));
    auto folder = services::testing::TinyLlama();
    folder["tokenizer.json"] = "{}";
    services::testing::WriteTo(files_, path_, folder);
  }

  services::testing::Loopback loopback_;
  std::string path_;
};

TEST_F(PushTest, PrintsTheCheckpointsNameAndWhatWasSent) {
  Write();
  EXPECT_EQ(Push({path_ + "/"}), 0) << err();
  EXPECT_EQ(out(), "jobs/tiny-llama-v2/checkpoints/0-0\n");
  EXPECT_THAT(err(), AllOf(HasSubstr("not sent, since a checkpoint has none of "
                                     "them: tokenizer.json\n"),
                           HasSubstr("ordo: config.json  "),
                           HasSubstr("ordo: model.safetensors  ")));
}

TEST_F(PushTest, ANameCanBeGivenAndARepeatIsHarmless) {
  Write();
  EXPECT_EQ(Push({path_, "--name", "llama", "-o", "json"}), 0) << err();
  EXPECT_THAT(out(), AllOf(HasSubstr(R"("name":"jobs/llama/checkpoints/0-0")"),
                           HasSubstr(R"("origin":"IMPORTED")")));
  const std::string first = out();
  EXPECT_EQ(Push({path_, "--name", "llama", "-o", "json"}), 0) << err();
  EXPECT_EQ(out(), first);
}

TEST_F(PushTest, WhatCannotBePushedIsNamed) {
  EXPECT_EQ(Run({"push", "dataset", path_}), 2);
  EXPECT_THAT(err(), HasSubstr("'dataset' cannot be pushed"));
  EXPECT_EQ(Push({path_}), 2);
  EXPECT_THAT(err(), HasSubstr(path_));
  EXPECT_EQ(Push({path_, "--name", "A b"}), 2);
  EXPECT_THAT(err(), HasSubstr("--name: 'A b' must be"));
  EXPECT_EQ(Push({folder_.Path("1")}), 2);
  EXPECT_THAT(err(), HasSubstr("give one with --name"));
}

}  // namespace
}  // namespace ordo::services::cli
