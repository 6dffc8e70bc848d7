#ifndef ORDO_MODEL_TEXT_SCORING_CHOICES_H_
#define ORDO_MODEL_TEXT_SCORING_CHOICES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

// Multiple choice by log-likelihood, by the conventions of EleutherAI's
// lm-evaluation-harness. Pure functions, thread-safe.

namespace ordo::model::text::scoring {

struct Choice {
  // Sum of ln p over the tokens of the choice, given the context; at most 0,
  // -infinity included, and not NaN.
  double log_likelihood = 0;
  // Of the choice without the blank before it; not negative.
  int64_t num_characters = 1;
};

// The index of the likeliest choice, the first of equals: `acc` counts how
// often it is the right one. REQUIRES: at least one choice.
size_t Likeliest(const std::vector<Choice>& choices);

// The same by log-likelihood per character: `acc_norm`, which does not favour
// short choices. One without characters is the least likely.
size_t LikeliestPerCharacter(const std::vector<Choice>& choices);

}  // namespace ordo::model::text::scoring

#endif  // ORDO_MODEL_TEXT_SCORING_CHOICES_H_
