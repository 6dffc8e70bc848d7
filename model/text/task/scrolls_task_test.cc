#include "model/text/task/scrolls_task.h"

#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace ordo::model::text::task {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

std::string LineOf(const std::string& id, const std::string& input,
                   const std::string& output) {
  return nlohmann::json{{"id", id}, {"input", input}, {"output", output}}
             .dump() +
         "\n";
}

// Twenty lines, of which two at a time have one id.
std::string Twenty() {
  std::string text;
  for (int i = 0; i < 20; ++i) {
    text += LineOf(absl::StrCat("q", i / 2), absl::StrCat("What? ", i / 2),
                   absl::StrCat("answer ", i));
  }
  return text;
}

class ScrollsTaskTest : public ::testing::Test {
 protected:
  ScrollsTaskTest() {
    access_.files = &files_;
    access_.data_folder = folder_.Path("data");
    ORDO_EXPECT_OK(files_.MakeFolders(access_.data_folder));
    options_.field = "data.params";
    options_.path = "train.jsonl";
  }

  void Write(const std::string& text) {
    ORDO_EXPECT_OK(
        base::ReplaceFile(files_, folder_.Path("data/train.jsonl"), text));
  }
  absl::StatusOr<std::unique_ptr<tasks::TrainingTask>> Open() {
    return OpenScrolls(access_, options_);
  }
  tasks::Sample RowOf(const std::string& text, uint64_t index = 0) {
    Write(text);
    auto task = Open();
    EXPECT_TRUE(task.ok()) << task.status();
    return (*task)->Generate(1, index).value();
  }
  // "<" for the mark of a beginning, ">" for that of an end, and "|" where
  // tokens begin to count.
  static std::string TextOf(const tasks::Sample& sample) {
    std::string text;
    for (size_t i = 0; i < sample.tokens.size(); ++i) {
      if (sample.scored[i] != 0 && sample.scored[i - 1] == 0) text += "|";
      const int64_t token = sample.tokens[i];
      text += token == tasks::kBegin ? '<'
              : token == tasks::kEnd ? '>'
                                     : static_cast<char>(token - 4);
    }
    return text;
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
  tasks::DataAccess access_;
  ScrollsOptions options_;
};

TEST_F(ScrollsTaskTest, TheAnswerAndItsEndCountAlone) {
  const tasks::Sample row = RowOf(LineOf("q", "Who?\n\nIt was Ann.", "Ann"));
  EXPECT_EQ(TextOf(row), "<Who?\n\nIt was Ann.|<Ann>");
  EXPECT_EQ(row.scored.size(), row.tokens.size());
  EXPECT_THAT(std::vector<uint8_t>(row.scored.end() - 5, row.scored.end()),
              Each(1));
  EXPECT_TRUE(row.targets.empty());
}

TEST_F(ScrollsTaskTest, MarksStandWhereTheyAreAskedFor) {
  options_.answer_begin = false;
  const std::string line = LineOf("q", "Who?", "Ann");
  EXPECT_EQ(TextOf(RowOf(line)), "<Who?|Ann>");
  options_.begin = false;
  EXPECT_EQ(TextOf(RowOf(line)), "Who?|Ann>");
}

TEST_F(ScrollsTaskTest, EveryLineIsARowOnceAnEpoch) {
  Write(Twenty());
  ORDO_ASSERT_OK_AND_ASSIGN(const auto task, Open());
  std::set<std::string> first, second;
  std::vector<std::string> order, other;
  for (uint64_t i = 0; i < 20; ++i) {
    order.push_back(TextOf(task->Generate(1, i).value()));
    other.push_back(TextOf(task->Generate(1, 20 + i).value()));
    first.insert(order.back());
    second.insert(other.back());
  }
  EXPECT_EQ(first.size(), 20u);
  EXPECT_EQ(first.count("<What? 9|<answer 18>"), 1u);
  EXPECT_EQ(first.count("<What? 9|<answer 19>"), 1u);
  EXPECT_EQ(first, second);
  EXPECT_NE(order, other);
}

// 7991 + 200 + 1 tokens of a question, 7184 + 7 + 1000 + 1 of a summary, marks
// included: the paper's 8192.
TEST_F(ScrollsTaskTest, LongRowsAreCutAsThePaperDoes) {
  const std::string input(9000, 'x');
  const std::string output(2000, 'y');
  const tasks::Sample question = RowOf(LineOf("q", input, output));
  EXPECT_EQ(TextOf(question), absl::StrCat("<", std::string(7990, 'x'), "|<",
                                           std::string(199, 'y'), ">"));
  EXPECT_EQ(question.tokens.size(), 8192u);
  options_.set = "gov_report";
  const tasks::Sample summary = RowOf(LineOf("q", input, output));
  EXPECT_EQ(TextOf(summary),
            absl::StrCat("<Context:\n", std::string(7174, 'x'), "report:|<",
                         std::string(999, 'y'), ">"));
  EXPECT_EQ(summary.tokens.size(), 8192u);
}

TEST_F(ScrollsTaskTest, LimitsOfOnesOwnLeaveRoomForTheAnswer) {
  options_.max_tokens = 10;
  options_.answer_tokens = 4;
  EXPECT_EQ(TextOf(RowOf(LineOf("q", "abcdefgh", "Annabel"))), "<abcd|<Ann>");
  ORDO_ASSERT_OK_AND_ASSIGN(const auto task, Open());
  EXPECT_EQ(task->row_length(), 10);
  options_.max_tokens = 5;
  EXPECT_THAT(Open(),
              StatusIs(kInvalid, AllOf(HasSubstr("data.params.max_tokens"),
                                       HasSubstr("take 5"))));
}

TEST_F(ScrollsTaskTest, TheFingerprintIsOfTheFileAndTheSet) {
  Write(Twenty());
  const std::string fingerprint = Open().value()->data_fingerprint();
  EXPECT_EQ(fingerprint.size(), 64u);
  EXPECT_EQ(Open().value()->data_fingerprint(), fingerprint);
  options_.set = "quality";
  EXPECT_NE(Open().value()->data_fingerprint(), fingerprint);
  options_.set = "qasper";
  Write(Twenty() + LineOf("x", "y", "z"));
  EXPECT_NE(Open().value()->data_fingerprint(), fingerprint);
}

TEST_F(ScrollsTaskTest, WhatCannotBeARowIsRefusedWithItsLine) {
  options_.begin = false;
  Write(LineOf("q", "Who?", "Ann") + LineOf("r", "", "Ann"));
  EXPECT_THAT(Open(), StatusIs(kInvalid, HasSubstr("line 2: input: has no")));
  Write("{\"id\": \"q\", \"input\": \"Who?\", \"output\": null}\n");
  EXPECT_THAT(Open(), StatusIs(kInvalid, HasSubstr("the training or")));
  options_.set = "qaspr";
  EXPECT_THAT(Open(), StatusIs(kInvalid, AllOf(HasSubstr("data.params.set"),
                                               HasSubstr("'qasper'"))));
}

TEST_F(ScrollsTaskTest, AFileThatIsNotThereIsToldWithItsLayout) {
  EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kNotFound,
                               AllOf(HasSubstr("data.params.path"),
                                     HasSubstr("\"output\""))));
}

TEST_F(ScrollsTaskTest, WorkEndsWhenItIsTold) {
  Write(Twenty());
  int asked = 0;
  access_.keep_going = [&] {
    return ++asked < 3 ? absl::OkStatus() : absl::CancelledError("stop");
  };
  EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kCancelled));
  EXPECT_EQ(asked, 3);
}

}  // namespace
}  // namespace ordo::model::text::task
