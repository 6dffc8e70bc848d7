#include "model/text/questions/mmlu.h"

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

nlohmann::json ItemOf(const std::string& subject, const std::string& question,
                      int answer) {
  return {{"question", question},
          {"subject", subject},
          {"choices", {"w", "x", "y", "z"}},
          {"answer", answer}};
}

// Twenty questions of two subjects.
std::string Twenty() {
  std::string text;
  for (int i = 0; i < 20; ++i) {
    text += ItemOf(i < 12 ? "world_religions" : "virology",
                   " Test " + std::to_string(i) + "?\n", i % 4)
                .dump() +
            "\n";
  }
  return text;
}

class MmluTest : public ::testing::Test {
 protected:
  absl::StatusOr<TextQuestions> Read(const std::string& test,
                                     const std::string& dev, int few_shot) {
    const MmluOptions options = {folder_.Path("test.jsonl"), few_shot,
                                 folder_.Path("dev.jsonl")};
    EXPECT_TRUE(base::ReplaceFile(files_, options.test_path, test).ok());
    EXPECT_TRUE(base::ReplaceFile(files_, options.dev_path, dev).ok());
    return ReadMmlu(files_, options);
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
};

TEST_F(MmluTest, CategoriesHaveAllSubjects) {
  std::map<std::string, int> sizes;
  for (const auto& [subject, category] : MmluCategories()) ++sizes[category];
  EXPECT_EQ(MmluCategories().size(), 57u);
  EXPECT_EQ(sizes["humanities"], 13);
  EXPECT_EQ(sizes["social_sciences"], 12);
  EXPECT_EQ(sizes["stem"], 19);
  EXPECT_EQ(sizes["other"], 13);
}

TEST_F(MmluTest, QuestionsAreAskedAsTheHarnessAsksThem) {
  ORDO_ASSERT_OK_AND_ASSIGN(const TextQuestions read, Read(Twenty(), "", 0));
  ASSERT_EQ(read.items.size(), 20u);
  const TextQuestion& question = read.items[11];
  EXPECT_EQ(question.prompt,
            "The following are multiple choice questions (with answers) about "
            "world religions.\n\n"
            "Test 11?\nA. w\nB. x\nC. y\nD. z\nAnswer:");
  EXPECT_EQ(question.id, "world_religions-11");
  EXPECT_EQ(question.group, "world_religions");
  EXPECT_THAT(question.choices, ElementsAre("A", "B", "C", "D"));
  EXPECT_EQ(question.right_choice, 3u);
  EXPECT_EQ(read.delimiter, " ");
  EXPECT_EQ(read.items[12].id, "virology-0");
}

TEST_F(MmluTest, ExamplesAreTheFirstOfTheSubject) {
  const std::string dev = ItemOf("virology", "Dev v0?", 1).dump() + "\n" +
                          ItemOf("world_religions", "Dev w0?", 2).dump() +
                          "\n" + ItemOf("virology", "Dev v1?", 0).dump();
  ORDO_ASSERT_OK_AND_ASSIGN(const TextQuestions read, Read(Twenty(), dev, 1));
  EXPECT_EQ(read.items[12].prompt,
            "The following are multiple choice questions (with answers) about "
            "virology.\n\n"
            "Dev v0?\nA. w\nB. x\nC. y\nD. z\nAnswer: B\n\n"
            "Test 12?\nA. w\nB. x\nC. y\nD. z\nAnswer:");
  EXPECT_THAT(Read(Twenty(), dev, 2),
              StatusIs(kInvalid, HasSubstr("few_shot: 2 is more than the 1 "
                                           "examples of world_religions")));
}

TEST_F(MmluTest, TheVersionIsOfFilesAndExamples) {
  const std::string version = Read(Twenty(), Twenty(), 0)->version;
  EXPECT_NE(Read(Twenty(), Twenty(), 1)->version, version);
  EXPECT_NE(Read(Twenty() + Twenty(), Twenty(), 0)->version, version);
  EXPECT_EQ(Read(Twenty(), "", 0)->version, version);
}

TEST_F(MmluTest, BadLinesAreRefusedWithFieldAndFix) {
  nlohmann::json item = ItemOf("virolgy", "x", 0);
  EXPECT_THAT(Read(item.dump(), "", 0),
              StatusIs(kInvalid, HasSubstr("line 1: subject: 'virolgy' is none "
                                           "of MMLU; did you mean "
                                           "'virology'?")));
  item = ItemOf("virology", "x", 4);
  EXPECT_THAT(Read(item.dump(), "", 0),
              StatusIs(kInvalid, HasSubstr("answer: must be the number")));
  item["choices"].push_back("v");
  EXPECT_THAT(Read(item.dump(), "", 0),
              StatusIs(kInvalid, HasSubstr("must be four, and there are 5")));
  EXPECT_THAT(Read("", "", 0), StatusIs(kInvalid, HasSubstr("no lines")));
}

}  // namespace
}  // namespace ordo::model::text::questions
