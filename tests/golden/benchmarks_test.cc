// Scores and prompts of SCROLLS, RULER and passkey against their public code:
// see tools/golden/benchmarks.py, which made the file.

#include <cstddef>
#include <cstdint>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "base/digest/digest.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/random/random.h"
#include "base/status/testing/status_matchers.h"
#include "gtest/gtest.h"
#include "model/tasks/passkey/passkey.h"
#include "model/tasks/passkey/prompt.h"
#include "model/tasks/retrieval/items.h"
#include "model/tasks/retrieval/retrieval.h"
#include "model/tasks/task.h"
#include "model/text/questions/questions.h"
#include "model/text/questions/scores.h"
#include "model/text/questions/scrolls.h"
#include "model/text/scoring/matches.h"
#include "model/text/scoring/rouge.h"
#include "nlohmann/json.hpp"

namespace ordo::tests::golden {
namespace {

namespace passkey = model::tasks::passkey;
namespace questions = model::text::questions;
namespace retrieval = model::tasks::retrieval;
namespace scoring = model::text::scoring;
using model::tasks::Marks;

class GoldenBenchmarksTest : public ::testing::Test {
 protected:
  void SetUp() override {
    base::PosixFilesystem files;
    ORDO_ASSERT_OK_AND_ASSIGN(
        const std::string text,
        base::ReadFile(files, "tests/golden/scoring/benchmarks.json",
                       /*max_bytes=*/1 << 20));
    golden_ = nlohmann::json::parse(text, nullptr, false);
    ASSERT_FALSE(golden_.is_discarded());
  }

  nlohmann::json golden_;
};

// Scores by name against those of the file, which are in per cent and rounded
// to four decimals.
void ExpectPerCents(const std::map<std::string, double>& scores,
                    const nlohmann::json& expected) {
  ASSERT_EQ(scores.size(), expected.size());
  for (const auto& [name, score] : scores) {
    EXPECT_NEAR(100 * score, expected[name].get<double>(), 5.1e-5) << name;
  }
}

std::map<std::string, double> ScoresOfOne(
    questions::Metric metric, const std::string& prediction,
    const std::vector<std::string>& references) {
  if (metric != questions::Metric::kRouge) {
    return {{"exact_match",
             scoring::IsExactMatch(prediction, references) ? 1.0 : 0.0},
            {"f1", scoring::WordF1(prediction, references)}};
  }
  const scoring::Rouge rouge = scoring::BestRouge(prediction, references);
  return {{"rouge1", rouge.rouge1},
          {"rouge2", rouge.rouge2},
          {"rougeL", rouge.rouge_l},
          {"geometric_mean", scoring::GeometricMean(rouge)}};
}

// What an item is compared by.
double ItemScore(questions::Metric metric, const nlohmann::json& expected) {
  const auto of = [&](const char* name) {
    return expected[name].get<double>();
  };
  if (metric == questions::Metric::kExactMatch) return of("exact_match");
  if (metric == questions::Metric::kF1) return of("f1");
  return (of("rouge1") + of("rouge2") + of("rougeL")) / 3;
}

TEST_F(GoldenBenchmarksTest, SetsOfScrollsHaveTheScoresOfItsMetric) {
  base::PosixFilesystem files;
  base::testing::TemporaryFolder folder;
  ASSERT_EQ(golden_["scrolls"].size(), questions::ScrollsSets().size());
  for (const auto& one : golden_["scrolls"]) {
    const auto name = one["set"].get<std::string>();
    SCOPED_TRACE(name);
    std::string lines;
    for (const auto& line : one["lines"]) lines += line.dump() + "\n";
    const std::string path = folder.Path(name + ".jsonl");
    ORDO_ASSERT_OK(base::ReplaceFile(files, path, lines));
    ORDO_ASSERT_OK_AND_ASSIGN(const questions::ScrollsSet set,
                              questions::FindScrollsSet(name));
    ORDO_ASSERT_OK_AND_ASSIGN(const questions::TextQuestions read,
                              questions::ReadScrolls(files, path, set));
    const auto& items = one["items"];
    ASSERT_EQ(read.items.size(), items.size());
    std::vector<std::string> answers;
    for (size_t i = 0; i < items.size(); ++i) {
      SCOPED_TRACE(read.items[i].id);
      EXPECT_EQ(read.items[i].id, items[i]["id"].get<std::string>());
      EXPECT_EQ(read.items[i].references,
                items[i]["references"].get<std::vector<std::string>>());
      answers.push_back(items[i]["prediction"].get<std::string>());
      ExpectPerCents(
          ScoresOfOne(set.metric, answers[i], read.items[i].references),
          items[i]["scores"]);
    }
    const questions::TextScores scores = questions::ScoreAnswers(read, answers);
    for (size_t i = 0; i < items.size(); ++i) {
      EXPECT_NEAR(100 * scores.items[i],
                  ItemScore(set.metric, items[i]["scores"]), 5.1e-5)
          << i;
    }
    std::map<std::string, double> means;
    for (const auto& [metric, mean] : scores.means) {
      means[metric == "rouge" ? "geometric_mean" : metric] = mean.value;
    }
    ExpectPerCents(means, one["scores"]);
  }
}

// A task here for one of the file's, of which several share the scores.
std::string KindOf(const std::string& task) {
  static const auto& kinds = *new std::map<std::string, std::string>{
      {"niah", "niah_single_1"},
      {"variable_tracking", "vt"},
      {"common_words_extraction", "cwe"},
      {"freq_words_extraction", "fwe"}};
  return kinds.at(task);
}

TEST_F(GoldenBenchmarksTest, AnswersToRulerHaveTheScoresOfItsEvaluation) {
  // In per cent, rounded to two decimals.
  constexpr double kRounding = 5.1e-3;
  const auto& golden = golden_["ruler"]["scores"];
  ASSERT_EQ(golden.size(), 4u);
  for (const auto& one : golden) {
    retrieval::RulerTestsOptions options;
    options.task = KindOf(one["task"].get<std::string>());
    SCOPED_TRACE(options.task);
    options.min_length = options.max_length = 2048;
    options.samples = static_cast<int>(one["items"].size());
    const auto task = retrieval::MakeRulerTests(options);
    std::vector<Marks> answers;
    for (const auto& item : one["items"]) {
      const auto prediction = item["prediction"].get<std::string>();
      answers.push_back(model::tasks::MarkReferences(
          prediction, item["references"].get<std::vector<std::string>>()));
      EXPECT_NEAR(100 * task->ItemScore(answers.back()),
                  item["score"].get<double>(), kRounding)
          << prediction;
    }
    EXPECT_NEAR(100 * task->Score({1, answers, {}}).metrics.at("score"),
                one["score"].get<double>(), kRounding);
  }
}

// As frame_of() of the script has it.
std::string WithoutWordsThatAreDrawn(const std::string& text) {
  static const std::regex& keys = *new std::regex(
      "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[a-z]+-[a-z]+");
  static const std::regex& values = *new std::regex("[0-9]{5}");
  static const std::regex& lists = *new std::regex("1\\. [^\\n]*");
  return std::regex_replace(
      std::regex_replace(std::regex_replace(text, keys, "KEY"), values,
                         "VALUE"),
      lists, "LIST");
}

TEST_F(GoldenBenchmarksTest, PromptsOfRulerAskAsItsGeneratorsDo) {
  std::map<std::string, nlohmann::json> golden;
  for (const auto& one : golden_["ruler"]["prompts"]) {
    golden[one["task"].get<std::string>()] = one;
  }
  ASSERT_EQ(golden.size(), retrieval::RulerKinds().size());
  for (const retrieval::RulerKind& kind : retrieval::RulerKinds()) {
    const std::string name(kind.name);
    SCOPED_TRACE(name);
    ASSERT_EQ(golden.count(name), 1u);
    const auto before = golden[name]["before"].get<std::string>();
    const auto after = golden[name]["after"].get<std::string>();
    EXPECT_EQ(kind.output_tokens, golden[name]["output_tokens"].get<int>());
    base::RandomSequence random(1, "data/0");
    const std::string prompt = kind.draw(2500, &random).prompt;
    // The text is between the last of the one and the first of the other.
    const std::string end = before.substr(before.size() - 13);
    const size_t text = prompt.rfind(end) + end.size();
    const size_t question = prompt.rfind(after.substr(0, 6));
    ASSERT_LT(text, question);
    EXPECT_EQ(WithoutWordsThatAreDrawn(prompt.substr(0, text)), before);
    EXPECT_EQ(WithoutWordsThatAreDrawn(prompt.substr(question)), after);
  }
}

TEST_F(GoldenBenchmarksTest, PasskeyAsksAndJudgesAsLongLoraDoes) {
  ASSERT_EQ(golden_["passkey"].size(), 8u);
  int64_t thousands = 0;
  for (const auto& one : golden_["passkey"]) {
    ++thousands;
    SCOPED_TRACE(thousands);
    const auto filler = one["filler"].get<int64_t>();
    EXPECT_EQ(passkey::BenchmarkFiller(thousands), filler);
    passkey::PasskeyTestsOptions options;
    options.min_length = options.max_length = thousands;
    const auto task = passkey::MakePasskeyTests(options);
    ASSERT_EQ(task->size(), static_cast<int64_t>(one["tests"].size()));
    std::vector<Marks> answers;
    for (const auto& test : one["tests"]) {
      const auto number = test["test"].get<uint32_t>();
      SCOPED_TRACE(number);
      const passkey::Hidden hidden = passkey::BenchmarkQuestion(filler, number);
      EXPECT_EQ(hidden.key, test["key"].get<int64_t>());
      EXPECT_EQ(base::Sha256Hex(passkey::PromptOf(hidden)),
                test["sha256"].get<std::string>());
      const auto expected = test["expected"].get<std::string>();
      const auto generated = test["generated"].get<std::string>();
      ORDO_ASSERT_OK_AND_ASSIGN(
          const model::tasks::Question question,
          task->Generate(/*seed=*/1, static_cast<int64_t>(number)));
      EXPECT_EQ(task->tokenizer().Decode(question.answer), expected);
      Marks& marks = answers.emplace_back();
      for (size_t i = 0; i < expected.size(); ++i) {
        marks.push_back(generated[i] == expected[i] ? 1 : 0);
      }
      EXPECT_EQ(model::tasks::IsRight(marks), test["right"].get<bool>());
    }
    EXPECT_NEAR(task->Score({1, answers, {}}).metrics.at("score"),
                one["accuracy"].get<double>(), 1e-6);
  }
}

}  // namespace
}  // namespace ordo::tests::golden
