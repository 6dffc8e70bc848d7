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
using ::testing::Not;

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
  int PushData(const std::vector<std::string>& args) {
    std::vector<std::string> all = {"push", "data", "--server",
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

TEST_F(PushTest, AFolderBecomesDataThatJobsName) {
  ORDO_ASSERT_OK(files_.MakeFolders(folder_.Path("My_Books/deep")));
  WriteFile("My_Books/a.txt", "one");
  WriteFile("My_Books/deep/b.txt", "two");
  WriteFile("My_Books/.hidden", "x");
  WriteFile("My_Books/empty.txt", "");
  EXPECT_EQ(PushData({folder_.Path("My_Books")}), 0) << err();
  const std::string version = out();
  EXPECT_THAT(version, ::testing::ContainsRegex("^my-books@[0-9a-f]+\n$"));
  EXPECT_THAT(err(),
              AllOf(HasSubstr("not sent, since they are empty or begin with a "
                              "dot: .hidden, empty.txt\n"),
                    HasSubstr("ordo: deep/b.txt  3 B"),
                    HasSubstr("ordo: jobs name it my-books\n")));
  // Again, nothing is sent.
  EXPECT_EQ(PushData({folder_.Path("My_Books")}), 0) << err();
  EXPECT_EQ(out(), version);
  EXPECT_THAT(err(), Not(HasSubstr("deep/b.txt")));
}

TEST_F(PushTest, AFileIsCalledByWhatStandsBeforeItsFirstDot) {
  const std::string path = WriteFile("questions.jsonl", "{}\n");
  EXPECT_EQ(PushData({path, "-o", "json"}), 0) << err();
  EXPECT_THAT(out(), AllOf(HasSubstr("\"name\":\"data/questions@"),
                           HasSubstr("\"current\":true")));
  EXPECT_EQ(PushData({path, "--name", "asked"}), 0) << err();
  EXPECT_THAT(err(), HasSubstr("jobs name it asked, and its file "
                               "asked/questions.jsonl\n"));
}

TEST_F(PushTest, SaysWhatAPushedNameStoodForUntilNow) {
  EXPECT_EQ(PushData({WriteFile("mine.jsonl", "{}\n")}), 0) << err();
  const std::string first = out().substr(0, out().find('\n'));
  EXPECT_THAT(err(), Not(HasSubstr("until now")));
  EXPECT_EQ(PushData({WriteFile("mine.txt", "one")}), 0) << err();
  EXPECT_THAT(err(), HasSubstr("ordo: until now mine stood for " + first +
                               ", which is still there by that name"));
  // The same again changes nothing.
  EXPECT_EQ(PushData({WriteFile("mine.txt", "one")}), 0) << err();
  EXPECT_THAT(err(), Not(HasSubstr("until now")));
}

TEST_F(PushTest, DataThatCannotBeIsRefusedBeforeAnythingIsSent) {
  EXPECT_EQ(PushData({WriteFile("text.gz", "plain")}), 2);
  EXPECT_THAT(err(), HasSubstr("text.gz: is no gzip file"));
  EXPECT_EQ(PushData({WriteFile("x.bin", "aabb")}), 2);
  EXPECT_THAT(err(), HasSubstr("'x.bin.json' is missing"));
  EXPECT_EQ(PushData({WriteFile("empty.txt", "")}), 2);
  EXPECT_THAT(err(), HasSubstr("has no file with anything in it"));
  EXPECT_EQ(PushData({folder_.Path("none.txt")}), 2);
  EXPECT_THAT(err(), HasSubstr("none.txt"));
  EXPECT_FALSE(base::Exists(files_, loopback_.Path("uploads")));
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
