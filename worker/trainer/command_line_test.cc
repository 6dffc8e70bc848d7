#include "worker/trainer/command_line.h"

#include <map>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::worker::trainer {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::HasSubstr;

void ExpectBad(const std::vector<std::string>& arguments,
               const std::string& message) {
  EXPECT_THAT(ParseCommandLine(arguments),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
}

TEST(ParseCommandLine, ReadsTrain) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const CommandLine line,
      ParseCommandLine({"train", "task.json", "--out", "/o",
                        "--storage-root=/r", "--deployment", "/d",
                        "--resume"}));
  EXPECT_EQ(line.command, "train");
  EXPECT_EQ(line.spec, "task.json");
  EXPECT_EQ(line.flags,
            (std::map<std::string, std::string>{{"--out", "/o"},
                                                {"--storage-root", "/r"},
                                                {"--deployment", "/d"},
                                                {"--resume", "true"}}));
  EXPECT_EQ(line.Flag("--out"), "/o");
}

TEST(ParseCommandLine, KnowsEveryCommandOfTheUsage) {
  ORDO_EXPECT_OK(ParseCommandLine({"evaluate", "--out", "/o", "e.yaml"}));
  ORDO_EXPECT_OK(ParseCommandLine({"generate", "--checkpoint", "c", "--prompt",
                                   "1+1=", "--max-tokens", "4"}));
  ORDO_EXPECT_OK(ParseCommandLine(
      {"logits", "--checkpoint", "c", "--tokens", "t", "--out", "l"}));
  ORDO_EXPECT_OK(
      ParseCommandLine({"merge", "--checkpoint", "c", "--out", "m"}));
  ORDO_EXPECT_OK(ParseCommandLine({"cost", "t.json", "--tokens", "8", "-o",
                                   "json", "--convention", "model"}));
  ORDO_EXPECT_OK(
      ParseCommandLine({"train-tokenizer", "--data", "/a:b", "--out", "w.model",
                        "--vocabulary-size", "4096", "--type", "unigram",
                        "--format", "json_lines", "--field", "text"}));
  ORDO_EXPECT_OK(
      ParseCommandLine({"gate", "g.json", "--out", "/o", "--storage-root", "/r",
                        "--data-roots", "/d"}));
  for (const char* command : {"train", "evaluate", "gate", "generate", "logits",
                              "merge", "cost", "train-tokenizer"}) {
    EXPECT_THAT(Usage(), HasSubstr(command));
  }
}

TEST(ParseCommandLine, HelpIsAskedForAnywhere) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"help"},
        {"--help"},
        {"train", "--help"},
        {"cost", "t.json", "-h"}}) {
    ORDO_ASSERT_OK_AND_ASSIGN(const CommandLine line,
                              ParseCommandLine(arguments));
    EXPECT_EQ(line.command, "help");
  }
  EXPECT_THAT(Usage(), HasSubstr("TASK is a file"));
}

TEST(ParseCommandLine, VersionIsAskedForInEitherWay) {
  for (const char* argument : {"version", "--version"}) {
    ORDO_ASSERT_OK_AND_ASSIGN(const CommandLine line,
                              ParseCommandLine({argument}));
    EXPECT_EQ(line.command, "version");
  }
}

TEST(ParseCommandLine, LogitsAndConvertTakeAnEncoding) {
  const std::string encoding = "{name: tape, params: {reading: released}}";
  for (std::vector<std::string> arguments :
       {std::vector<std::string>{"convert", "--checkpoint", "c", "--out", "o"},
        {"logits", "--checkpoint", "c", "--tokens", "t", "--out", "l"}}) {
    arguments.insert(arguments.end(), {"--encoding", encoding});
    ORDO_ASSERT_OK_AND_ASSIGN(const CommandLine line,
                              ParseCommandLine(arguments));
    EXPECT_EQ(line.Flag("--encoding"), encoding);
  }
  EXPECT_THAT(Usage(), HasSubstr("convert"));
}

TEST(ParseCommandLine, SaysWhatIsWrongAndWhatWasMeant) {
  ExpectBad({}, "no command");
  ExpectBad({"trian"}, "did you mean 'train'");
  ExpectBad({"train", "--out", "/o"}, "needs a file");
  ExpectBad({"train", "t.json"}, "train needs --out");
  ExpectBad({"train", "t.json", "--ot", "/o"}, "did you mean '--out'");
  ExpectBad({"train", "t.json", "--out"}, "--out needs a value");
  ExpectBad({"train", "t.json", "--out", "a", "--out", "b"}, "given twice");
  ExpectBad({"train", "t.json", "u.json", "--out", "a"}, "what is 'u.json'");
  ExpectBad({"train", "t.json", "--out", "a", "--resume=1"}, "takes no value");
  ExpectBad({"generate", "--checkpoint", "c"}, "needs --prompt");
  ExpectBad({"cost", "t.json", "-p", "json"}, "cost has no flag -p");
}

}  // namespace
}  // namespace ordo::worker::trainer
