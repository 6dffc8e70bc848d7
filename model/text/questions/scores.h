#ifndef ORDO_MODEL_TEXT_QUESTIONS_SCORES_H_
#define ORDO_MODEL_TEXT_QUESTIONS_SCORES_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "model/text/questions/questions.h"
#include "model/text/scoring/means.h"

// What answers to questions.h are worth. Pure functions, thread-safe.

namespace ordo::model::text::questions {

struct TextScores {
  // The set's metric, and what goes with it, as fractions of 1 by name:
  // exact_match and f1; rouge1, rouge2, rougeL and rouge, their geometric mean
  // as SCROLLS has it, and where lines are sentences rougeLsum; or acc and
  // acc_norm. Errors are by units of the questions; where these have groups,
  // they are pooled over them.
  std::map<std::string, scoring::Mean> means;
  // Of the set's metric; of rouge the mean of rouge1, rouge2 and rougeL, since
  // a geometric mean is of means.
  std::map<std::string, scoring::Mean> groups;
  std::map<std::string, scoring::Mean> categories;
  // The same for each question, 0 to 1.
  std::vector<double> items;
  // Of choices: the one that each question's metric takes; of one that is not
  // finite the first.
  std::vector<size_t> chosen;
  // Questions with a choice whose log-likelihood is not finite, as those of a
  // broken model are: each counts as wrong.
  size_t num_non_finite = 0;
};

// Of answers in words, one for each question; what follows a stop does not
// count. REQUIRES: the metric is not of choices.
TextScores ScoreAnswers(const TextQuestions& questions,
                        const std::vector<std::string>& answers);

// Of log-likelihoods in nats, for each question those of its choices. REQUIRES:
// the metric is of choices.
TextScores ScoreChoices(
    const TextQuestions& questions,
    const std::vector<std::vector<double>>& log_likelihoods);

}  // namespace ordo::model::text::questions

#endif  // ORDO_MODEL_TEXT_QUESTIONS_SCORES_H_
