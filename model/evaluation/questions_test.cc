#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/evaluation/decode.h"
#include "model/evaluation/evaluate.h"
#include "model/evaluation/items.h"
#include "model/tasks/data_access.h"
#include "model/tasks/task.h"
#include "model/text/task/questions_task.h"
#include "model/text/tokenizers/testing/bpe_json.h"
#include "model/training/testing/tiny_spec.h"
#include "nlohmann/json.hpp"

// Questions in words, put to models whose answers are known by hand.

namespace ordo::model::evaluation {
namespace {

using nlohmann::json;

// Of the tokenizer "bytes".
constexpr int kVocabulary = 260;
constexpr int64_t kByteA = 4 + 'a';

std::unique_ptr<transformer::Transformer> RandomModel() {
  auto spec = training::testing::TinySpec("rope");
  spec.mutable_model()->set_vocabulary_size(kVocabulary);
  spec.mutable_model()->set_init_std(0.5);
  auto model =
      transformer::Transformer::Create(spec.model(), spec.encoding(), {});
  ORDO_CHECK(model.ok()) << model.status();
  return *std::move(model);
}

// Says `token` whatever was said before: its logit is 16, all others are 0.
std::unique_ptr<transformer::Transformer> ModelThatSays(int64_t token) {
  auto model = RandomModel();
  const at::NoGradGuard no_grad;
  for (const auto& named : model->Parameters()) {
    if (named.name.find("layers") != std::string::npos) named.tensor.fill_(0);
    if (named.name == "model.embed_tokens.weight") named.tensor.fill_(1);
    if (named.name == "model.norm.weight") named.tensor.fill_(1);
    if (named.name != "lm_head.weight") continue;
    named.tensor.fill_(0);
    named.tensor[token].fill_(1);
  }
  return model;
}

// Says what the last bits of its layers decide: its tokens have one row of the
// head, but for as little as rounding is.
std::unique_ptr<transformer::Transformer> ModelOfLastBits() {
  auto model = RandomModel();
  const at::NoGradGuard no_grad;
  for (const auto& named : model->Parameters()) {
    if (named.name != "lm_head.weight") continue;
    const at::Tensor row = named.tensor[0].clone();
    named.tensor.mul_(1e-7).add_(row);
  }
  return model;
}

// What was said, by id.
std::map<std::string, std::string> OutputsOf(const Outcome& outcome) {
  std::map<std::string, std::string> outputs;
  for (const Item& item : outcome.items) outputs[item.id] = item.output;
  return outputs;
}

class QuestionsTest : public ::testing::Test {
 protected:
  QuestionsTest() {
    access_.files = &files_;
    access_.data_folder = folder_.Path("data");
    ORDO_EXPECT_OK(files_.MakeFolders(access_.data_folder));
    options_.field = "params";
    options_.path = "set.jsonl";
    options_.tokenizer = "bytes";
  }

  std::unique_ptr<tasks::EvaluationTask> Open(
      const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) absl::StrAppend(&text, line, "\n");
    ORDO_EXPECT_OK(
        base::ReplaceFile(files_, folder_.Path("data/set.jsonl"), text));
    auto task = text::task::OpenQuestions(access_, options_);
    ORDO_CHECK(task.ok()) << task.status();
    return *std::move(task);
  }
  static Outcome Evaluated(const transformer::Transformer& model,
                           const tasks::EvaluationTask& task) {
    EvaluateOptions options;
    options.micro_batch.max_rows = 8;
    auto outcome = Evaluate(model, task, options);
    ORDO_CHECK(outcome.ok()) << outcome.status();
    return *std::move(outcome);
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
  tasks::DataAccess access_;
  text::task::QuestionsOptions options_;
};

// Twenty questions with prompts of many lengths, of four kinds.
std::vector<std::string> TwentyChoices() {
  const std::pair<std::vector<std::string>, int> kinds[] = {
      {{"aa", "b"}, 0}, {{"b", "aa"}, 0}, {{"bb", "c"}, 0},
      {{"bb", "c"}, 0}, {{"bb", "c"}, 1},
  };
  std::vector<std::string> lines = {json{
      {"prompt", "{text}:"},
      {"choices", "{choices}"},
      {"answer", "{right}"},
      {"metric", "acc"}}.dump()};
  for (int i = 0; i < 20; ++i) {
    const auto& [choices, right] = kinds[i % 5];
    lines.push_back(json{
        {"id", absl::StrCat("q", i)},
        {"text", std::string(1 + 5 * i, 'z')},
        {"choices", choices},
        {"right",
         right}}.dump());
  }
  return lines;
}

// By hand, of a model that says a: with L = ln(e^16 + 259), which is 16 to four
// decimals, " aa" has 32 - 3L and " b" -2L, so that aa is likelier in both
// ways; " bb" has -3L and " c" -2L: c is likelier, bb by character (-24 and
// -32). By the sum kinds 0 and 4 are right, by character 0, 2 and 3.
TEST_F(QuestionsTest, ChoicesAreThoseOfTheLikelihoods) {
  const auto task = Open(TwentyChoices());
  const Outcome outcome = Evaluated(*ModelThatSays(kByteA), *task);
  EXPECT_DOUBLE_EQ(outcome.scores.metrics.at("acc"), 0.4);
  EXPECT_DOUBLE_EQ(outcome.scores.metrics.at("acc_norm"), 0.6);
  ASSERT_EQ(outcome.items.size(), 20u);
  EXPECT_EQ(outcome.items[1].id, "q1");
  EXPECT_EQ(outcome.items[1].score, 0);
  EXPECT_EQ(outcome.items[1].output, "aa");
  EXPECT_EQ(outcome.items[4].score, 1);
  EXPECT_EQ(outcome.items[4].output, "c");
  EXPECT_TRUE(outcome.items[4].marks.empty());
}

TEST_F(QuestionsTest, PaddingChangesNoLikelihood) {
  const auto model = RandomModel();
  const auto task = Open(TwentyChoices());
  std::vector<double> nats;
  for (int64_t i = 0; i < task->size(); ++i) {
    const tasks::Question question = task->Generate(1, i).value();
    Rows row = {question.prompt};
    row[0].resize(question.places.back() + 1);
    ASSERT_LE(row[0].size(), question.prompt.size());
    nats.push_back(
        NatsAt(*model, {row, {question.places}, {question.answer}}, {})[0]);
    const double padded = NatsAt(
        *model, {{question.prompt}, {question.places}, {question.answer}},
        {})[0];
    EXPECT_NEAR(padded, nats.back(), 1e-4) << i;
  }
  const Outcome outcome = Evaluated(*model, *task);
  ASSERT_EQ(outcome.items.size(), 20u);
  for (size_t i = 0; i < 20; ++i) {
    const bool first = nats[2 * i] <= nats[2 * i + 1];
    const char* const choices[5][2] = {
        {"aa", "b"}, {"b", "aa"}, {"bb", "c"}, {"bb", "c"}, {"bb", "c"}};
    EXPECT_EQ(outcome.items[i].output, choices[i % 5][first ? 0 : 1]) << i;
  }
}

TEST_F(QuestionsTest, TheOrderOfTheFileChangesNoItem) {
  const auto model = RandomModel();
  std::vector<std::string> lines = TwentyChoices();
  const Outcome before = Evaluated(*model, *Open(lines));
  std::reverse(lines.begin() + 1, lines.end());
  const Outcome after = Evaluated(*model, *Open(lines));
  ASSERT_EQ(after.items.size(), 20u);
  for (size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(after.items[19 - i].id, before.items[i].id);
    EXPECT_EQ(after.items[19 - i].score, before.items[i].score);
    EXPECT_EQ(after.items[19 - i].output, before.items[i].output);
  }
}

std::vector<std::string> TwentyInWords(const std::string& metric) {
  std::vector<std::string> lines = {json{
      {"prompt", "{text}:"},
      {"target", "{right}"},
      {"metric", metric},
      {"max_answer_tokens", 3}}.dump()};
  for (int i = 0; i < 20; ++i) {
    const char* const answers[] = {"aaa", "aaa b", "b", "c"};
    lines.push_back(json{{"id", absl::StrCat("q", i)},
                         {"text", std::string(1 + i % 3, 'z')},
                         {"right", answers[i % 4]}}
                        .dump());
  }
  return lines;
}

// By hand: "aaa" is the first of four answers, and half of the second, whose F1
// is 2/3.
TEST_F(QuestionsTest, AnswersInWordsAreWhatIsDecoded) {
  const Outcome outcome =
      Evaluated(*ModelThatSays(kByteA), *Open(TwentyInWords("f1")));
  EXPECT_DOUBLE_EQ(outcome.scores.metrics.at("exact_match"), 0.25);
  EXPECT_NEAR(outcome.scores.metrics.at("f1"), (1 + 2.0 / 3) / 4, 1e-12);
  ASSERT_EQ(outcome.items.size(), 20u);
  EXPECT_EQ(outcome.items[5].output, "aaa");
  EXPECT_NEAR(outcome.items[5].score, 2.0 / 3, 1e-12);
  EXPECT_EQ(outcome.items[6].score, 0);
}

// By hand: rouge1 and rougeL are 1, 2/3, 0 and 0, and there is no pair of words
// that both have.
TEST_F(QuestionsTest, OrAreScoredByRouge) {
  const Outcome outcome =
      Evaluated(*ModelThatSays(kByteA), *Open(TwentyInWords("rouge")));
  EXPECT_NEAR(outcome.scores.metrics.at("rouge1"), 5.0 / 12, 1e-12);
  EXPECT_NEAR(outcome.scores.metrics.at("rougeL"), 5.0 / 12, 1e-12);
  EXPECT_EQ(outcome.scores.metrics.at("rouge2"), 0);
  EXPECT_EQ(outcome.scores.metrics.at("rouge"), 0);
  EXPECT_NEAR(outcome.items[0].score, 2.0 / 3, 1e-12);
}

// Twenty questions, of which 1, 2, 3, 5 and 9 have prompts of one length.
std::vector<std::string> FewOfALength() {
  std::vector<std::string> lines = {json{
      {"prompt", "{text}:"},
      {"target", "{right}"},
      {"metric", "f1"},
      {"max_answer_tokens", 8}}.dump()};
  int number = 0;
  for (const int count : {1, 2, 3, 5, 9}) {
    for (int i = 0; i < count; ++i, ++number) {
      std::string text(4 + count, 'z');
      text[0] = static_cast<char>('a' + number);
      lines.push_back(json{
          {"id", absl::StrCat("q", number)},
          {"text", text},
          {"right", "a"}}.dump());
    }
  }
  return lines;
}

TEST_F(QuestionsTest, WhatElseIsAskedInWordsChangesNoBitOfAnAnswer) {
  const auto model = ModelOfLastBits();
  const std::vector<std::string> lines = FewOfALength();
  const auto whole = OutputsOf(Evaluated(*model, *Open(lines)));
  ASSERT_EQ(whole.size(), 20u);
  std::set<std::string> said;
  for (const auto& [id, output] : whole) said.insert(output);
  EXPECT_GT(said.size(), 1u) << "the prompts decide nothing";
  const auto expect_same = [&](const std::vector<std::string>& asked,
                               size_t num_questions) {
    const auto outputs = OutputsOf(Evaluated(*model, *Open(asked)));
    EXPECT_EQ(outputs.size(), num_questions);
    for (const auto& [id, output] : outputs) EXPECT_EQ(output, whole.at(id));
  };
  for (size_t left_out = 1; left_out < lines.size(); ++left_out) {
    SCOPED_TRACE(lines[left_out]);
    std::vector<std::string> others = lines;
    others.erase(others.begin() + static_cast<int64_t>(left_out));
    expect_same(others, 19);
  }
  std::vector<std::string> reversed = lines;
  std::reverse(reversed.begin() + 1, reversed.end());
  expect_same(reversed, 20);
  for (const int most : {1, 6, 13}) {
    SCOPED_TRACE(most);
    options_.max_questions = most;
    expect_same(lines, static_cast<size_t>(most));
  }
}

TEST_F(QuestionsTest, TheEndMarkEndsAnAnswerAndIsNoPartOfIt) {
  const Outcome outcome =
      Evaluated(*ModelThatSays(tasks::kEnd), *Open(TwentyInWords("f1")));
  EXPECT_EQ(outcome.items[0].output, "");
  EXPECT_EQ(outcome.scores.metrics.at("f1"), 0);
}

// Of four questions each: other prompts go with them in a pass.
TEST_F(QuestionsTest, DrawnAnswersAreThoseOfTheSeedAndTheItem) {
  const auto model = RandomModel();
  const auto outputs = [&](const std::vector<std::string>& lines,
                           uint64_t seed) {
    EvaluateOptions options;
    options.micro_batch.max_rows = 8;
    options.seed = seed;
    const auto outcome = Evaluate(*model, *Open(lines), options);
    ORDO_CHECK(outcome.ok()) << outcome.status();
    EXPECT_EQ(outcome->scores.details["top_k"], options_.top_k);
    return OutputsOf(*outcome);
  };
  std::vector<std::string> lines = TwentyInWords("f1");
  const auto likeliest = outputs(lines, 5);
  EXPECT_EQ(outputs(lines, 6), likeliest);
  options_.top_k = 3;
  const auto drawn = outputs(lines, 5);
  EXPECT_NE(drawn, likeliest);
  EXPECT_EQ(outputs(lines, 5), drawn);
  EXPECT_NE(outputs(lines, 6), drawn);
  std::reverse(lines.begin() + 1, lines.end());
  EXPECT_EQ(outputs(lines, 5), drawn);
  const auto scores = Evaluated(*model, *Open(lines)).scores;
  EXPECT_THAT(scores.markdown,
              ::testing::StartsWith("Answers are drawn, each token from the 3 "
                                    "likeliest, with seed 1: "));
}

TEST_F(QuestionsTest, NothingIsDrawnOfChoices) {
  ORDO_EXPECT_OK(base::ReplaceFile(files_, folder_.Path("data/set.jsonl"),
                                   absl::StrJoin(TwentyChoices(), "\n")));
  options_.top_k = 3;
  EXPECT_THAT(text::task::OpenQuestions(access_, options_),
              base::testing::StatusIs(absl::StatusCode::kInvalidArgument,
                                      ::testing::HasSubstr("params.top_k")));
}

// 3 is a letter like others to this tokenizer, and 256 its end.
TEST_F(QuestionsTest, WhichTokenThatIsTheTokenizerSays) {
  ORDO_ASSERT_OK(
      base::ReplaceFile(files_, folder_.Path("data/tokenizer.json"),
                        text::tokenizers::testing::BpeJson({}).dump()));
  options_.tokenizer = "tokenizer.json";
  const auto task = Open(TwentyInWords("f1"));
  EXPECT_EQ(Evaluated(*ModelThatSays(3), *task).items[0].output,
            "\x03\x03\x03");
  EXPECT_EQ(Evaluated(*ModelThatSays(256), *task).items[0].output, "");
}

}  // namespace
}  // namespace ordo::model::evaluation
