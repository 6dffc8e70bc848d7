// Scores of text answers and choices against public implementations: see
// tools/golden/scoring.py, which made the file.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gtest/gtest.h"
#include "model/tasks/task.h"
#include "model/text/questions/arc.h"
#include "model/text/questions/mmlu.h"
#include "model/text/questions/questions.h"
#include "model/text/questions/scores.h"
#include "model/text/scoring/continuation.h"
#include "model/text/scoring/matches.h"
#include "model/text/scoring/means.h"
#include "model/text/scoring/rouge.h"
#include "nlohmann/json.hpp"

namespace ordo::tests::golden {
namespace {

namespace scoring = model::text::scoring;
namespace questions = model::text::questions;

class GoldenScoringTest : public ::testing::Test {
 protected:
  void SetUp() override {
    base::PosixFilesystem files;
    ORDO_ASSERT_OK_AND_ASSIGN(
        const std::string text,
        base::ReadFile(files, "tests/golden/scoring/cases.json",
                       /*max_bytes=*/1 << 20));
    golden_ = nlohmann::json::parse(text, nullptr, false);
    ASSERT_FALSE(golden_.is_discarded());
  }

  nlohmann::json golden_;
};

TEST_F(GoldenScoringTest, AnswersHaveTheScoresOfPublicImplementations) {
  EXPECT_GE(golden_["cases"].size(), 20u);
  for (const auto& one : golden_["cases"]) {
    const auto prediction = one["prediction"].get<std::string>();
    SCOPED_TRACE(prediction);
    const auto references = one["references"].get<std::vector<std::string>>();
    const auto expected = [&](const char* name) {
      return one["scores"][name].get<double>();
    };
    const scoring::Rouge rouge = scoring::BestRouge(prediction, references);
    EXPECT_NEAR(rouge.rouge1, expected("rouge1"), 1e-12);
    EXPECT_NEAR(rouge.rouge2, expected("rouge2"), 1e-12);
    EXPECT_NEAR(rouge.rouge_l, expected("rougeL"), 1e-12);
    EXPECT_NEAR(rouge.rouge_lsum, expected("rougeLsum"), 1e-12);
    EXPECT_EQ(scoring::IsExactMatch(prediction, references) ? 1 : 0,
              expected("exact_match"));
    EXPECT_NEAR(scoring::WordF1(prediction, references), expected("f1"), 1e-12);
  }
}

// A mean and its error, as the file has them.
void ExpectMean(const scoring::Mean& mean, const nlohmann::json& expected) {
  EXPECT_NEAR(mean.value, expected[0].get<double>(), 1e-12);
  EXPECT_NEAR(mean.standard_error, expected[1].get<double>(), 1e-12);
}

TEST_F(GoldenScoringTest, ChoicesHaveTheScoresAndMeansOfTheHarness) {
  const auto& golden = golden_["questions"];
  ASSERT_GE(golden["items"].size(), 12u);
  questions::TextQuestions set;
  std::vector<std::vector<double>> log_likelihoods;
  for (const auto& one : golden["items"]) {
    questions::TextQuestion& question = set.items.emplace_back();
    question.group = one["group"].get<std::string>();
    question.choices = one["choices"].get<std::vector<std::string>>();
    question.right_choice = one["gold"].get<size_t>();
    log_likelihoods.push_back(
        one["log_likelihoods"].get<std::vector<double>>());
  }
  for (const auto& [metric, name] :
       {std::pair(questions::Metric::kAccuracy, "acc"),
        std::pair(questions::Metric::kAccuracyPerCharacter, "acc_norm")}) {
    SCOPED_TRACE(name);
    set.metric = metric;
    const questions::TextScores scores =
        questions::ScoreChoices(set, log_likelihoods);
    for (size_t i = 0; i < set.items.size(); ++i) {
      EXPECT_EQ(scores.items[i],
                golden["items"][i]["scores"][name].get<double>())
          << i;
    }
    const auto& means = golden["means"][name];
    ASSERT_EQ(scores.groups.size(), means["groups"].size());
    for (const auto& [group, mean] : scores.groups) {
      ExpectMean(mean, means["groups"][group]);
    }
    ExpectMean(scores.means.at(name), means["all"]);
  }
}

TEST_F(GoldenScoringTest, LinesOfArcAndMmluAreAskedAsTheHarnessAsksThem) {
  base::PosixFilesystem files;
  base::testing::TemporaryFolder folder;
  const auto write = [&](const char* name, const nlohmann::json& lines) {
    std::string text;
    for (const auto& line : lines) text += line.dump() + "\n";
    ORDO_EXPECT_OK(base::ReplaceFile(files, folder.Path(name), text));
    return folder.Path(name);
  };
  ASSERT_EQ(golden_["asked"].size(), 3u);
  for (const auto& one : golden_["asked"]) {
    const auto format = one["format"].get<std::string>();
    const int few_shot = one["few_shot"].get<int>();
    SCOPED_TRACE(format + " " + std::to_string(few_shot));
    const std::string test = write("test.jsonl", one["lines"]);
    const std::string examples = write("examples.jsonl", one["examples"]);
    auto read = format == "arc"
                    ? questions::ReadArc(files, {test, few_shot, examples})
                    : questions::ReadMmlu(files, {test, few_shot, examples});
    ORDO_ASSERT_OK(read.status());
    const auto& asked = one["asked"];
    ASSERT_EQ(read->items.size(), asked.size());
    std::vector<std::vector<double>> log_likelihoods;
    for (size_t i = 0; i < asked.size(); ++i) {
      const questions::TextQuestion& question = read->items[i];
      EXPECT_EQ(question.prompt, asked[i]["context"].get<std::string>());
      EXPECT_EQ(question.right_choice, asked[i]["gold"].get<size_t>());
      std::vector<std::string> continuations;
      for (const std::string& choice : question.choices) {
        continuations.push_back(read->delimiter + choice);
      }
      EXPECT_EQ(continuations,
                asked[i]["continuations"].get<std::vector<std::string>>());
      // By place.
      log_likelihoods.push_back(
          one["log_likelihoods"].get<std::vector<double>>());
      log_likelihoods.back().resize(continuations.size());
    }
    for (const auto& [metric, name] :
         {std::pair(questions::Metric::kAccuracy, "acc"),
          std::pair(questions::Metric::kAccuracyPerCharacter, "acc_norm")}) {
      read->metric = metric;
      const questions::TextScores scores =
          questions::ScoreChoices(*read, log_likelihoods);
      for (size_t i = 0; i < asked.size(); ++i) {
        const auto& expected = asked[i]["scores"];
        // The harness does not score MMLU by character.
        if (expected.count(name) == 0) continue;
        EXPECT_EQ(scores.items[i], expected[name].get<double>())
            << i << " " << name;
      }
    }
  }
}

// tokens() of the script.
class ScriptTokens : public model::tasks::Tokenizer {
 public:
  int vocabulary_size() const override { return 1256; }
  absl::StatusOr<std::vector<int64_t>> Encode(
      std::string_view text) const override {
    std::vector<int64_t> tokens;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text.substr(i, 2) == "ab") {
        tokens.push_back(1);
        ++i;
      } else if (text[i] == ' ' && i + 1 < text.size()) {
        tokens.push_back(1000 + text[++i]);
      } else {
        tokens.push_back(text[i]);
      }
    }
    return tokens;
  }
  std::string Decode(const std::vector<int64_t>& /*tokens*/) const override {
    return "";
  }
};

TEST_F(GoldenScoringTest, ContextsArePartedWhereTheHarnessPartsThem) {
  EXPECT_GE(golden_["continuations"].size(), 8u);
  for (const auto& one : golden_["continuations"]) {
    const auto context = one["context"].get<std::string>();
    SCOPED_TRACE(context);
    ORDO_ASSERT_OK_AND_ASSIGN(
        const scoring::Continuation split,
        scoring::SplitContinuation(ScriptTokens(), context,
                                   one["continuation"].get<std::string>()));
    auto whole = one["whole"].get<std::vector<int64_t>>();
    const auto scored = one["scored"].get<std::vector<int64_t>>();
    EXPECT_EQ(split.continuation, scored);
    EXPECT_EQ(split.context.size(), one["context_tokens"].get<size_t>());
    whole.resize(split.context.size());
    EXPECT_EQ(split.context, whole);
  }
}

}  // namespace
}  // namespace ordo::tests::golden
