#include "model/text/questions/scores.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "model/text/scoring/choices.h"
#include "model/text/scoring/matches.h"
#include "model/text/scoring/rouge.h"
#include "model/text/scoring/unicode.h"

namespace ordo::model::text::questions {
namespace {

using scoring::Mean;

// By name, for each question.
using Columns = std::map<std::string, std::vector<double>>;

std::map<std::string, Mean> GroupMeans(const TextQuestions& questions,
                                       const std::vector<double>& scores) {
  std::map<std::string, std::vector<scoring::UnitScore>> by_group;
  for (size_t i = 0; i < scores.size(); ++i) {
    const TextQuestion& question = questions.items[i];
    by_group[question.group].push_back({question.unit, scores[i]});
  }
  std::map<std::string, Mean> means;
  for (const auto& [group, group_scores] : by_group) {
    means[group] = scoring::MeanOverUnits(group_scores);
  }
  return means;
}

Mean MeanOverGroups(const TextQuestions& questions,
                    const std::vector<double>& scores) {
  const std::map<std::string, Mean> groups = GroupMeans(questions, scores);
  if (groups.size() == 1) return groups.begin()->second;
  std::vector<Mean> means;
  for (const auto& [group, mean] : groups) means.push_back(mean);
  return scoring::PooledMean(means);
}

// Groups and categories, of scores.items.
void AddGroups(const TextQuestions& questions, TextScores* scores) {
  scores->groups = GroupMeans(questions, scores->items);
  scores->groups.erase("");
  std::map<std::string, std::vector<Mean>> by_category;
  for (const auto& [group, mean] : scores->groups) {
    const auto category = questions.categories.find(group);
    if (category == questions.categories.end()) continue;
    by_category[category->second].push_back(mean);
  }
  for (const auto& [category, means] : by_category) {
    scores->categories[category] = scoring::PooledMean(means);
  }
}

TextScores Finish(const TextQuestions& questions, const Columns& columns,
                  std::vector<double> items) {
  TextScores scores;
  for (const auto& [name, column] : columns) {
    scores.means[name] = MeanOverGroups(questions, column);
  }
  scores.items = std::move(items);
  AddGroups(questions, &scores);
  return scores;
}

// g = (r1 r2 rL)^(1/3) of the means. Its error is by the delta method: to first
// order a question moves it by the mean of r_i / r over the three, times g,
// whose mean over the questions is g itself.
Mean RougeMean(const TextQuestions& questions, const Columns& columns) {
  scoring::Rouge means;
  means.rouge1 = scoring::MeanOf(columns.at("rouge1")).value;
  means.rouge2 = scoring::MeanOf(columns.at("rouge2")).value;
  means.rouge_l = scoring::MeanOf(columns.at("rougeL")).value;
  const double whole = scoring::GeometricMean(means);
  std::vector<double> moved(questions.items.size(), 0);
  if (whole > 0) {
    for (size_t i = 0; i < moved.size(); ++i) {
      moved[i] = whole / 3 *
                 (columns.at("rouge1")[i] / means.rouge1 +
                  columns.at("rouge2")[i] / means.rouge2 +
                  columns.at("rougeL")[i] / means.rouge_l);
    }
  }
  Mean mean = MeanOverGroups(questions, moved);
  mean.value = whole;
  // Where one of the three is 0 throughout there is no first order.
  if (whole == 0) mean.standard_error = scoring::MeanOf({}).standard_error;
  return mean;
}

TextScores ScoreRouge(const TextQuestions& questions,
                      const std::vector<std::string>& answers) {
  Columns columns;
  std::vector<double> items;
  for (size_t i = 0; i < answers.size(); ++i) {
    const scoring::Rouge rouge = scoring::BestRouge(
        CutAtStops(questions.stops, answers[i]), questions.items[i].references);
    columns["rouge1"].push_back(rouge.rouge1);
    columns["rouge2"].push_back(rouge.rouge2);
    columns["rougeL"].push_back(rouge.rouge_l);
    if (questions.lines_are_sentences) {
      columns["rougeLsum"].push_back(rouge.rouge_lsum);
    }
    items.push_back((rouge.rouge1 + rouge.rouge2 + rouge.rouge_l) / 3);
  }
  TextScores scores = Finish(questions, columns, std::move(items));
  scores.means[NameOf(Metric::kRouge)] = RougeMean(questions, columns);
  return scores;
}

bool AreFinite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(),
                     [](double value) { return std::isfinite(value); });
}

}  // namespace

TextScores ScoreAnswers(const TextQuestions& questions,
                        const std::vector<std::string>& answers) {
  ORDO_CHECK(!IsOfChoices(questions.metric));
  ORDO_CHECK(answers.size() == questions.items.size());
  ORDO_CHECK(!answers.empty());
  if (questions.metric == Metric::kRouge) {
    return ScoreRouge(questions, answers);
  }
  std::vector<double> exact;
  std::vector<double> f1;
  for (size_t i = 0; i < answers.size(); ++i) {
    const std::string_view answer = CutAtStops(questions.stops, answers[i]);
    const std::vector<std::string>& references = questions.items[i].references;
    exact.push_back(scoring::IsExactMatch(answer, references) ? 1 : 0);
    f1.push_back(scoring::WordF1(answer, references));
  }
  const Columns columns = {{NameOf(Metric::kExactMatch), exact},
                           {NameOf(Metric::kF1), f1}};
  return Finish(questions, columns, columns.at(NameOf(questions.metric)));
}

TextScores ScoreChoices(
    const TextQuestions& questions,
    const std::vector<std::vector<double>>& log_likelihoods) {
  ORDO_CHECK(IsOfChoices(questions.metric));
  ORDO_CHECK(log_likelihoods.size() == questions.items.size());
  std::vector<double> sums;
  std::vector<double> per_character;
  std::vector<size_t> chosen;
  size_t num_non_finite = 0;
  for (size_t i = 0; i < log_likelihoods.size(); ++i) {
    const TextQuestion& question = questions.items[i];
    ORDO_CHECK(log_likelihoods[i].size() == question.choices.size());
    // Nothing is larger than NaN: the first choice would be taken, and a broken
    // model look like chance.
    if (!AreFinite(log_likelihoods[i])) {
      ++num_non_finite;
      sums.push_back(0);
      per_character.push_back(0);
      chosen.push_back(0);
      continue;
    }
    std::vector<scoring::Choice> choices;
    for (size_t c = 0; c < question.choices.size(); ++c) {
      choices.push_back(
          {log_likelihoods[i][c],
           static_cast<int64_t>(scoring::NumCharacters(question.choices[c]))});
    }
    const size_t right = question.right_choice;
    const size_t by_sum = scoring::Likeliest(choices);
    const size_t by_character = scoring::LikeliestPerCharacter(choices);
    sums.push_back(by_sum == right ? 1 : 0);
    per_character.push_back(by_character == right ? 1 : 0);
    chosen.push_back(questions.metric == Metric::kAccuracy ? by_sum
                                                           : by_character);
  }
  const Columns columns = {
      {NameOf(Metric::kAccuracy), sums},
      {NameOf(Metric::kAccuracyPerCharacter), per_character}};
  TextScores scores =
      Finish(questions, columns, columns.at(NameOf(questions.metric)));
  scores.chosen = std::move(chosen);
  scores.num_non_finite = num_non_finite;
  return scores;
}

}  // namespace ordo::model::text::questions
