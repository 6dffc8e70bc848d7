#include "model/text/questions/arc.h"

#include "absl/status/status.h"
#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace ordo::model::text::questions {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

nlohmann::json ItemOf(int number, const std::string& key) {
  const std::string name = std::to_string(number);
  return {
      {"id", "Q" + name},
      {"question", "What is " + name + "?"},
      {"choices",
       {{"text", {"one " + name, "two", "three"}}, {"label", {"A", "B", "C"}}}},
      {"answerKey", key}};
}

std::string Twenty() {
  std::string text;
  for (int i = 0; i < 20; ++i) {
    text += ItemOf(i, i % 2 == 0 ? "A" : "C").dump() + "\n";
  }
  return text;
}

class ArcTest : public ::testing::Test {
 protected:
  absl::StatusOr<TextQuestions> Read(const std::string& test,
                                     const std::string& examples,
                                     int few_shot) {
    const ArcOptions options = {folder_.Path("test.jsonl"), few_shot,
                                folder_.Path("train.jsonl")};
    EXPECT_TRUE(base::ReplaceFile(files_, options.test_path, test).ok());
    EXPECT_TRUE(
        base::ReplaceFile(files_, options.examples_path, examples).ok());
    return ReadArc(files_, options);
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
};

TEST_F(ArcTest, QuestionsAreAskedAsTheHarnessAsksThem) {
  ORDO_ASSERT_OK_AND_ASSIGN(const TextQuestions read, Read(Twenty(), "", 0));
  EXPECT_EQ(read.metric, Metric::kAccuracyPerCharacter);
  ASSERT_EQ(read.items.size(), 20u);
  EXPECT_EQ(read.items[19].id, "Q19");
  EXPECT_EQ(read.items[19].prompt, "Question: What is 19?\nAnswer:");
  EXPECT_THAT(read.items[19].choices, ElementsAre("one 19", "two", "three"));
  EXPECT_EQ(read.items[19].right_choice, 2u);
  EXPECT_EQ(read.delimiter, " ");
}

TEST_F(ArcTest, LabelsMayBeNumbers) {
  nlohmann::json item = ItemOf(1, "2");
  item["choices"]["label"] = {"1", "2", "3"};
  EXPECT_EQ(Read(item.dump(), "", 0)->items[0].right_choice, 1u);
}

TEST_F(ArcTest, TextsAreAskedAsTheyStand) {
  nlohmann::json item = ItemOf(20, "C");
  item["choices"]["text"] = {"two", "", "two"};
  ORDO_ASSERT_OK_AND_ASSIGN(const TextQuestions read,
                            Read(Twenty() + item.dump(), "", 0));
  ASSERT_EQ(read.items.size(), 21u);
  EXPECT_THAT(read.items[20].choices, ElementsAre("two", "", "two"));
  EXPECT_EQ(read.items[20].right_choice, 2u);
}

TEST_F(ArcTest, ExamplesAreTheFirstLines) {
  ORDO_ASSERT_OK_AND_ASSIGN(const TextQuestions read,
                            Read(ItemOf(5, "A").dump(), Twenty(), 2));
  EXPECT_EQ(read.items[0].prompt,
            "Question: What is 0?\nAnswer: one 0\n\n"
            "Question: What is 1?\nAnswer: three\n\n"
            "Question: What is 5?\nAnswer:");
  EXPECT_THAT(
      Read(Twenty(), Twenty(), 21),
      StatusIs(kInvalid, HasSubstr("few_shot: 21 is more than the 20")));
}

TEST_F(ArcTest, BadLinesAreRefusedWithFieldAndFix) {
  EXPECT_THAT(Read(ItemOf(1, "D").dump(), "", 0),
              StatusIs(kInvalid, HasSubstr("line 1: answerKey: 'D' is none")));
  nlohmann::json item = ItemOf(1, "A");
  item["choices"]["label"].push_back("D");
  EXPECT_THAT(Read(item.dump(), "", 0),
              StatusIs(kInvalid, HasSubstr("line 1: choices: label: must")));
  item = ItemOf(1, "A");
  item["choices"]["text"] = nlohmann::json::array({"one"});
  item["choices"]["label"] = nlohmann::json::array({"A"});
  EXPECT_THAT(
      Read(item.dump(), "", 0),
      StatusIs(kInvalid,
               HasSubstr("line 1: choices: text: must be at least two")));
  item = ItemOf(1, "A");
  EXPECT_THAT(Read(item.dump() + "\n" + item.dump(), "", 0),
              StatusIs(kInvalid, HasSubstr("line 2: id: 'Q1'")));
  EXPECT_THAT(Read("", "", 0), StatusIs(kInvalid, HasSubstr("no lines")));
}

TEST_F(ArcTest, AMissingFileIsToldWithItsLayout) {
  const ArcOptions options = {folder_.Path("none.jsonl"), 0, ""};
  EXPECT_THAT(ReadArc(files_, options),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("answerKey")));
}

}  // namespace
}  // namespace ordo::model::text::questions
