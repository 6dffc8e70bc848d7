#include "model/text/questions/scrolls.h"

#include <string>
#include <vector>

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
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

std::string LineOf(const std::string& id, const std::string& input,
                   const std::string& output) {
  return nlohmann::json{{"id", id}, {"input", input}, {"output", output}}
             .dump() +
         "\n";
}

// Twenty lines: ten questions on five documents, each answered twice.
std::string Validation() {
  std::string text;
  for (int i = 0; i < 20; ++i) {
    const std::string number = std::to_string(i / 2);
    text += LineOf("q" + number,
                   "Question " + number + "?\n\n" +
                       std::string(2000, static_cast<char>('a' + i / 4)),
                   "answer " + std::to_string(i));
  }
  return text;
}

class ScrollsTest : public ::testing::Test {
 protected:
  absl::StatusOr<TextQuestions> Read(const char* name,
                                     const std::string& text) {
    const std::string path = folder_.Path("validation.jsonl");
    EXPECT_TRUE(base::ReplaceFile(files_, path, text).ok());
    return ReadScrolls(files_, path, *FindScrollsSet(name));
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
};

TEST_F(ScrollsTest, LinesWithOneIdAreOneQuestion) {
  ORDO_ASSERT_OK_AND_ASSIGN(const TextQuestions read,
                            Read("qasper", Validation()));
  EXPECT_EQ(read.metric, Metric::kF1);
  ASSERT_EQ(read.items.size(), 10u);
  EXPECT_EQ(read.items[9].id, "q9");
  EXPECT_THAT(read.items[9].references, ElementsAre("answer 18", "answer 19"));
  EXPECT_EQ(read.limits.head_tokens, 7991u);
  EXPECT_EQ(read.limits.answer_tokens, 200u);
}

TEST_F(ScrollsTest, EachLineIsGivenWithItsPlace) {
  ORDO_ASSERT_OK_AND_ASSIGN(const TextQuestions read,
                            Read("qasper", Validation()));
  std::vector<std::string> outputs;
  const auto take = [&](const ScrollsLine& line) {
    outputs.push_back(line.output);
    return outputs.size() < 21 ? absl::OkStatus()
                               : absl::CancelledError(line.where);
  };
  const std::string path = folder_.Path("validation.jsonl");
  const ScrollsSet set = *FindScrollsSet("qasper");
  ORDO_ASSERT_OK_AND_ASSIGN(const std::string version,
                            ReadScrollsLines(files_, path, set, take));
  EXPECT_EQ(version, read.version);
  ASSERT_EQ(outputs.size(), 20u);
  EXPECT_EQ(outputs[19], "answer 19");
  // The next is one too many.
  EXPECT_THAT(ReadScrollsLines(files_, path, set, take),
              StatusIs(absl::StatusCode::kCancelled, HasSubstr(", line 1")));
}

TEST_F(ScrollsTest, QuestionsOnOneDocumentAreOneUnit) {
  ORDO_ASSERT_OK_AND_ASSIGN(const TextQuestions read,
                            Read("qasper", Validation()));
  EXPECT_EQ(read.items[0].unit, read.items[1].unit);
  EXPECT_NE(read.items[1].unit, read.items[2].unit);
}

TEST_F(ScrollsTest, SummariesHaveAnInstructionThatCuttingKeeps) {
  ORDO_ASSERT_OK_AND_ASSIGN(const TextQuestions read,
                            Read("gov_report", LineOf("1", "Text.", "Sum.")));
  EXPECT_EQ(read.items[0].prompt,
            "Context:\nText.\n Please summarize this report:");
  EXPECT_EQ(read.limits.head_tokens, 7184u);
  EXPECT_EQ(read.limits.tail_tokens, 7u);
  EXPECT_EQ(read.limits.answer_tokens, 1000u);
  EXPECT_FALSE(read.lines_are_sentences);
}

TEST_F(ScrollsTest, QuestionsKeepTheirFirstWords) {
  const ScrollsSet set = *FindScrollsSet("quality");
  std::string words = "w0";
  for (int i = 1; i < 15000; ++i) words += " w" + std::to_string(i);
  EXPECT_EQ(ScrollsPrompt(set, words), words);
  EXPECT_EQ(ScrollsPrompt(set, words + " more"), words);
}

TEST_F(ScrollsTest, TheVersionIsOfTheSetAndTheFile) {
  const std::string version = Read("qasper", Validation())->version;
  EXPECT_EQ(version.size(), 64u);
  EXPECT_NE(Read("narrative_qa", Validation())->version, version);
  EXPECT_NE(Read("qasper", Validation() + LineOf("x", "y", "z"))->version,
            version);
}

TEST_F(ScrollsTest, BadLinesAreRefusedWithFieldAndFix) {
  EXPECT_THAT(Read("qasper", R"({"id": "1", "input": "x", "output": null})"),
              StatusIs(kInvalid, AllOf(HasSubstr("line 1: output: is null"),
                                       HasSubstr("validation split"))));
  EXPECT_THAT(Read("qasper", R"({"id": "1", "inptu": "x", "output": "y"})"),
              StatusIs(kInvalid, HasSubstr("did you mean 'inptu'?")));
  EXPECT_THAT(
      Read("qasper", LineOf("1", "x", "y") + LineOf("1", "z", "y")),
      StatusIs(kInvalid, HasSubstr("line 2: input: differs from that")));
  EXPECT_THAT(Read("qasper", ""), StatusIs(kInvalid, HasSubstr("no lines")));
}

TEST_F(ScrollsTest, AMissingFileIsToldWithItsLayout) {
  EXPECT_THAT(
      ReadScrolls(files_, folder_.Path("none.jsonl"), *FindScrollsSet("qmsum")),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("\"input\"")));
}

TEST_F(ScrollsTest, UnknownSetsAreRefusedWithTheNearest) {
  EXPECT_THAT(FindScrollsSet("quallity"),
              StatusIs(kInvalid, HasSubstr("did you mean 'quality'?")));
}

}  // namespace
}  // namespace ordo::model::text::questions
