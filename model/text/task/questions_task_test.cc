#include "model/text/task/questions_task.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/tasks/task.h"
#include "nlohmann/json.hpp"

namespace ordo::model::text::task {
namespace {

using nlohmann::json;
using ::ordo::base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

class QuestionsTaskTest : public ::testing::Test {
 protected:
  QuestionsTaskTest() {
    access_.files = &files_;
    access_.data_folder = folder_.Path("data");
    access_.store_folder = folder_.Path("data/.stores");
    access_.work_folder = folder_.Path("work");
    ORDO_EXPECT_OK(files_.MakeFolders(access_.data_folder));
    options_.field = "params";
    options_.path = "set.jsonl";
    options_.tokenizer = "bytes";
  }

  void Write(const std::string& name, const std::string& text) {
    ORDO_EXPECT_OK(
        base::ReplaceFile(files_, folder_.Path("data/" + name), text));
  }
  absl::StatusOr<std::unique_ptr<tasks::EvaluationTask>> Open() {
    return OpenQuestions(access_, options_);
  }
  std::unique_ptr<tasks::EvaluationTask> Opened() {
    auto task = Open();
    EXPECT_TRUE(task.ok()) << task.status();
    return *std::move(task);
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
  tasks::DataAccess access_;
  QuestionsOptions options_;
};

// Twenty capitals with two choices each, the right one first, two to a page.
std::string Capitals() {
  std::string text = json{{"prompt", "The capital of {id} is"},
                          {"choices", {"{capital}", "Nowhere"}},
                          {"answer", "{capital}"},
                          {"metric", "acc"},
                          {"unit", "page {page}"},
                          {"group", "{continent}"}}
                         .dump() +
                     "\n";
  for (int i = 0; i < 20; ++i) {
    text += json{{"id", absl::StrCat("land", i)},
                 {"capital", std::string(1 + i % 5, 'x')},
                 {"continent", i < 12 ? "East" : "West, far"},
                 {"page", i / 2}}
                .dump() +
            "\n";
  }
  return text;
}

// -ln p of each row such that of every four questions the first three are
// right: by the sum alone.
tasks::Marked ThreeOfFour(const tasks::EvaluationTask& task) {
  tasks::Marked marked;
  for (int64_t i = 0; i < task.size(); ++i) {
    const bool is_right_choice = i % 2 == 0;
    const bool is_known = i / 2 % 4 != 3;
    marked.nats.push_back(is_right_choice == is_known ? 1 : 2);
  }
  return marked;
}

TEST_F(QuestionsTaskTest, ARowIsAskedForTheTokensOfItsChoice) {
  Write("set.jsonl", Capitals());
  const auto task = Opened();
  ASSERT_EQ(task->size(), 40);
  EXPECT_EQ(task->measure(), tasks::Measure::kLikelihood);
  EXPECT_EQ(task->AnswerLength(0), 0);
  // "<The capital of land2 is xxx": 24 and 4 tokens, of which the last is only
  // said.
  const tasks::Question question = task->Generate(1, 4).value();
  EXPECT_EQ(task->tokenizer().Decode(question.answer), " xxx");
  EXPECT_EQ(question.prompt.size(), 32u);
  EXPECT_EQ(task->PromptLength(4), 32);
  EXPECT_EQ(task->tokenizer().Decode(question.prompt),
            "The capital of land2 is xx");
  EXPECT_THAT(question.places, ElementsAre(23, 24, 25, 26));
}

TEST_F(QuestionsTaskTest, RowsHaveFewLengthsAndNeverTooMany) {
  Write("set.jsonl", Capitals());
  std::set<int> lengths;
  const auto task = Opened();
  for (int64_t i = 0; i < task->size(); ++i) {
    lengths.insert(task->PromptLength(i));
  }
  EXPECT_THAT(lengths, ElementsAre(32));
  options_.max_tokens = 30;
  EXPECT_EQ(Opened()->PromptLength(0), 29);
}

// By hand: 15 of 20, 9 of 12 and 6 of 8.
TEST_F(QuestionsTaskTest, ScoresAreThoseOfTheChoicesTaken) {
  Write("set.jsonl", Capitals());
  const auto task = Opened();
  const tasks::Scores scores = task->Score(ThreeOfFour(*task));
  EXPECT_DOUBLE_EQ(scores.metrics.at("acc"), 0.75);
  EXPECT_EQ(scores.metrics.count("acc_norm"), 1u);
  EXPECT_EQ(scores.details["metric"], "acc");
  EXPECT_EQ(scores.details["cut_prompts"], 0);
  EXPECT_EQ(scores.details["non_finite"], 0);
  EXPECT_EQ(scores.details["groups"]["East"]["questions"], 12);
  EXPECT_DOUBLE_EQ(scores.details["groups"]["East"]["value"], 0.75);
  // Of six pages three are above the mean by 0.5, three below:
  // sqrt(6/5 1.5)/12.
  EXPECT_NEAR(scores.details["groups"]["East"]["standard_error"], 0.1118034,
              1e-7);
  EXPECT_EQ(scores.details["groups"]["East"]["units"], 6);
  EXPECT_EQ(scores.sampled.at("acc").items, 20);
  EXPECT_LT(scores.sampled.at("acc").units, 20);
  EXPECT_GT(scores.standard_errors.at("acc"), 0);
  EXPECT_EQ(scores.details["means"]["acc"]["standard_error"],
            scores.standard_errors.at("acc"));
  EXPECT_EQ(scores.details["data_fingerprint"], task->data_fingerprint());
  EXPECT_THAT(scores.csv, HasSubstr("\ngroup,\"West, far\",8,0.75,"));
  EXPECT_THAT(scores.markdown, HasSubstr("| group | East | 12 | 0.7500 |"));
}

TEST_F(QuestionsTaskTest, LikelihoodsThatAreNotFiniteAreWrongAndCounted) {
  Write("set.jsonl", Capitals());
  const auto task = Opened();
  tasks::Marked marked = ThreeOfFour(*task);
  // Both choices of the first two questions, which were right.
  std::fill_n(marked.nats.begin(), 4, std::nan(""));
  const tasks::Scores scores = task->Score(marked);
  EXPECT_DOUBLE_EQ(scores.metrics.at("acc"), 0.65);
  EXPECT_EQ(scores.details["non_finite"], 2);
  EXPECT_EQ(scores.items[0].score, 0);
}

TEST_F(QuestionsTaskTest, ItemsAreQuestionsWithTheChoiceThatIsTaken) {
  Write("set.jsonl", Capitals());
  const auto task = Opened();
  const tasks::Scores scores = task->Score(ThreeOfFour(*task));
  ASSERT_EQ(scores.items.size(), 20u);
  EXPECT_EQ(scores.items[2].id, "land2");
  EXPECT_EQ(scores.items[2].unit, "page 1");
  EXPECT_EQ(scores.items[2].score, 1);
  EXPECT_EQ(scores.items[2].output, "xxx");
  EXPECT_EQ(scores.items[3].score, 0);
  EXPECT_EQ(scores.items[3].output, "Nowhere");
}

TEST_F(QuestionsTaskTest, AnotherMetricOfTheKindMayBeTheHeadline) {
  Write("set.jsonl", Capitals());
  options_.metric = questions::Metric::kAccuracyPerCharacter;
  const auto task = Opened();
  const tasks::Scores scores = task->Score(ThreeOfFour(*task));
  EXPECT_EQ(scores.details["metric"], "acc_norm");
  // "x" has one character: -1 a character, "Nowhere" -2/7.
  EXPECT_EQ(scores.items[0].output, "Nowhere");
  options_.metric = questions::Metric::kF1;
  EXPECT_THAT(Open(), StatusIs(kInvalid, AllOf(HasSubstr("params.metric: f1"),
                                               HasSubstr("acc_norm"))));
}

TEST_F(QuestionsTaskTest, OnlySoManyAreAskedWhereThatIsSaid) {
  Write("set.jsonl", Capitals());
  options_.max_questions = 3;
  EXPECT_EQ(Opened()->size(), 6);
  options_.max_questions = 30;
  EXPECT_EQ(Opened()->size(), 40);
}

TEST_F(QuestionsTaskTest, ThoseThatAreAskedAreDrawnByTheirIds) {
  const auto asked = [this](int64_t max_questions) {
    options_.max_questions = max_questions;
    const auto task = Opened();
    std::vector<std::string> ids;
    for (int64_t row = 0; row < task->size(); row += 2) {
      ids.push_back(task->ItemId(1, row));
    }
    return ids;
  };
  Write("set.jsonl", Capitals());
  const std::vector<std::string> few = asked(4);
  EXPECT_THAT(few, ::testing::SizeIs(4));
  EXPECT_THAT(few, ::testing::Not(ElementsAre("land0/0", "land1/0", "land2/0",
                                              "land3/0")));
  const std::vector<std::string> more = asked(8);
  for (const std::string& id : few) {
    EXPECT_THAT(more, ::testing::Contains(id));
  }
  // In the order of the file, whichever that is.
  std::vector<std::string> lines = absl::StrSplit(Capitals(), '\n');
  lines.pop_back();
  std::reverse(lines.begin() + 1, lines.end());
  Write("set.jsonl", absl::StrCat(absl::StrJoin(lines, "\n"), "\n"));
  EXPECT_THAT(asked(4), ::testing::ElementsAreArray(few.rbegin(), few.rend()));
}

TEST_F(QuestionsTaskTest, TheFingerprintIsOfTheFileAndTheTokenizer) {
  Write("set.jsonl", Capitals());
  const std::string fingerprint = Opened()->data_fingerprint();
  EXPECT_EQ(fingerprint.size(), 64u);
  EXPECT_EQ(Opened()->data_fingerprint(), fingerprint);
  Write("set.jsonl", Capitals() + R"({"id": "x", "capital": "y", )"
                                  R"("continent": "z", "page": 1})");
  EXPECT_NE(Opened()->data_fingerprint(), fingerprint);
}

// Twenty lines of SCROLLS: ten questions on five documents, each with two
// answers.
std::string DocumentOf(int question) {
  return std::string(1000, static_cast<char>('a' + question / 2));
}
std::string Qasper() {
  std::string text;
  for (int i = 0; i < 20; ++i) {
    const int question = i / 2;
    const char* const answer = i % 2 == 0 ? "number " : "the figure ";
    text += json{{"id", absl::StrCat("q", question)},
                 {"input", absl::StrCat("What is ", question, "?\n\n",
                                        DocumentOf(question))},
                 {"output", absl::StrCat(answer, question)}}
                .dump() +
            "\n";
  }
  return text;
}

TEST_F(QuestionsTaskTest, QuestionsInWordsAreDecoded) {
  Write("set.jsonl", Qasper());
  options_.format = "qasper";
  const auto task = Opened();
  ASSERT_EQ(task->size(), 10);
  EXPECT_EQ(task->measure(), tasks::Measure::kText);
  EXPECT_EQ(task->AnswerLength(0), 200);
  EXPECT_EQ(task->end_token(), tasks::kEnd);
  const tasks::Question question = task->Generate(1, 3).value();
  EXPECT_EQ(task->tokenizer().Decode(question.prompt),
            "What is 3?\n\n" + DocumentOf(3));
  EXPECT_EQ(static_cast<int>(question.prompt.size()), task->PromptLength(3));
  EXPECT_TRUE(question.places.empty());
  options_.answer_tokens = 5;
  EXPECT_EQ(Opened()->AnswerLength(0), 5);
}

// By hand: "number 0" has F1 1, and so has "the number 1", since articles do
// not count; "figure 9 is" shares one word of its three with the two of "the
// figure 2", 2/5; no text has 0.
TEST_F(QuestionsTaskTest, AnswersInWordsAreScoredByTheirBestReference) {
  Write("set.jsonl", Qasper());
  options_.format = "qasper";
  const auto task = Opened();
  tasks::Marked marked;
  marked.texts = {"number 0", "the number 1", "figure 9 is"};
  marked.texts.resize(10);
  const tasks::Scores scores = task->Score(marked);
  EXPECT_DOUBLE_EQ(scores.metrics.at("f1"), (1 + 1 + 0.4) / 10);
  EXPECT_DOUBLE_EQ(scores.metrics.at("exact_match"), 0.2);
  ASSERT_EQ(scores.items.size(), 10u);
  EXPECT_EQ(scores.items[1].id, "q1");
  EXPECT_EQ(scores.items[1].output, "the number 1");
  EXPECT_EQ(scores.items[0].unit, scores.items[1].unit);
  EXPECT_NE(scores.items[1].unit, scores.items[2].unit);
  EXPECT_DOUBLE_EQ(scores.items[2].score, 0.4);
}

// Twenty questions of two subjects, and an example of each.
std::string Mmlu(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += json{{"question", absl::StrCat("Test ", i, "?")},
                 {"subject", i % 2 == 0 ? "anatomy" : "virology"},
                 {"choices", {"w", "x", "y", "z"}},
                 {"answer", i % 4}}
                .dump() +
            "\n";
  }
  return text;
}

// By hand: always "A" is right of five in twenty, all of them of anatomy.
TEST_F(QuestionsTaskTest, MmluIsAskedWithExamplesAndHasCategories) {
  Write("set.jsonl", Mmlu(20));
  Write("dev.jsonl", Mmlu(2));
  options_.format = "mmlu";
  options_.few_shot = 1;
  options_.examples = "dev.jsonl";
  const auto task = Opened();
  ASSERT_EQ(task->size(), 80);
  const tasks::Question question = task->Generate(1, 5).value();
  const std::string prompt = task->tokenizer().Decode(question.prompt);
  EXPECT_THAT(prompt, HasSubstr("about virology.\n\nTest 1?"));
  EXPECT_THAT(prompt, HasSubstr("Answer: B\n\nTest 1?"));
  EXPECT_EQ(task->tokenizer().Decode(question.answer), " B");
  tasks::Marked marked;
  for (int i = 0; i < 80; ++i) marked.nats.push_back(i % 4);
  const tasks::Scores scores = task->Score(marked);
  EXPECT_DOUBLE_EQ(scores.metrics.at("acc"), 0.25);
  EXPECT_DOUBLE_EQ(scores.metrics.at("acc_stem"), 0.5);
  EXPECT_DOUBLE_EQ(scores.metrics.at("acc_other"), 0);
}

// By hand: the shorter text is always likelier, and the longer one by
// character: -3 and -4 by one and by two characters.
TEST_F(QuestionsTaskTest, ArcIsScoredByCharacter) {
  std::string text;
  for (int i = 0; i < 20; ++i) {
    text += json{{"id", absl::StrCat("a", i)},
                 {"question", "Which?"},
                 {"choices", {{"text", {"x", "yy"}}, {"label", {"A", "B"}}}},
                 {"answerKey", i < 5 ? "A" : "B"}}
                .dump() +
            "\n";
  }
  Write("set.jsonl", text);
  options_.format = "arc";
  const auto task = Opened();
  tasks::Marked marked;
  for (int i = 0; i < 40; ++i) marked.nats.push_back(3 + i % 2);
  const tasks::Scores scores = task->Score(marked);
  EXPECT_DOUBLE_EQ(scores.metrics.at("acc"), 0.25);
  EXPECT_DOUBLE_EQ(scores.metrics.at("acc_norm"), 0.75);
  EXPECT_EQ(scores.items[0].score, 0);
  EXPECT_EQ(scores.items[0].output, "yy");
}

TEST_F(QuestionsTaskTest, AMissingFileIsToldWithFieldAndLayout) {
  const std::pair<const char*, const char*> layouts[] = {
      {"own", "the first {\"prompt\""},
      {"mmlu", "\"subject\""},
      {"arc", "\"answerKey\""},
      {"gov_report", "\"input\""}};
  for (const auto& [format, layout] : layouts) {
    options_.format = format;
    EXPECT_THAT(Open(),
                StatusIs(absl::StatusCode::kNotFound,
                         AllOf(HasSubstr("params.path: "),
                               HasSubstr("data/set.jsonl"), HasSubstr(layout))))
        << format;
  }
}

TEST_F(QuestionsTaskTest, SoAreMissingExamples) {
  Write("set.jsonl", Mmlu(20));
  options_.format = "mmlu";
  options_.few_shot = 5;
  options_.examples = "dev.jsonl";
  EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kNotFound,
                               AllOf(HasSubstr("params.examples: "),
                                     HasSubstr("data/dev.jsonl"))));
  Write("dev.jsonl", Mmlu(2));
  EXPECT_THAT(Open(), StatusIs(kInvalid, HasSubstr("params: few_shot: 5")));
}

TEST_F(QuestionsTaskTest, AWrongLineIsToldWithTheParameterThatNamesItsFile) {
  Write("set.jsonl", "{}\n");
  options_.format = "mmlu";
  const std::string set = folder_.Path("data/set.jsonl");
  EXPECT_THAT(Open(), StatusIs(kInvalid, HasSubstr("params.path: read " + set +
                                                   ", line 1: ")));
  Write("set.jsonl", Mmlu(20));
  Write("dev.jsonl", "{}\n");
  options_.few_shot = 5;
  options_.examples = "dev.jsonl";
  const std::string examples = folder_.Path("data/dev.jsonl");
  EXPECT_THAT(Open(), StatusIs(kInvalid, HasSubstr("params.examples: read " +
                                                   examples + ", line 1: ")));
}

TEST_F(QuestionsTaskTest, WhatIsNoFileOfQuestionsIsRefused) {
  options_.path = folder_.Path("elsewhere.jsonl");
  EXPECT_THAT(Open(), StatusIs(kInvalid, HasSubstr("params.path")));
  options_.path = "folder";
  ORDO_ASSERT_OK(files_.MakeFolders(folder_.Path("data/folder")));
  EXPECT_THAT(Open(), StatusIs(kInvalid, HasSubstr("is a folder")));
  options_.path = "set.jsonl";
  Write("set.jsonl", R"({"id": "", "input": "x", "output": "y"})");
  options_.format = "qasper";
  EXPECT_THAT(Open(), StatusIs(kInvalid, HasSubstr("is empty: give it one")));
  Write("set.jsonl", "no JSON\n");
  EXPECT_THAT(Open(), StatusIs(kInvalid, HasSubstr("line 1")));
}

TEST_F(QuestionsTaskTest, TokensOfAnAnswerAreNotOfChoices) {
  Write("set.jsonl", Capitals());
  options_.answer_tokens = 5;
  EXPECT_THAT(Open(), StatusIs(kInvalid, HasSubstr("params.answer_tokens")));
}

}  // namespace
}  // namespace ordo::model::text::task
