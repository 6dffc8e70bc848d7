#ifndef ORDO_MODEL_TEXT_SCORING_ROUGE_H_
#define ORDO_MODEL_TEXT_SCORING_ROUGE_H_

#include <string>
#include <string_view>
#include <vector>

// ROUGE (Lin, "ROUGE: a package for automatic evaluation of summaries", 2004)
// as the Python package rouge_score 0.1.2 computes it without a stemmer. Pure
// functions, thread-safe.

namespace ordo::model::text::scoring {

// F-measures, 0 to 1. Words are runs of the letters a to z and digits, in lower
// case.
struct Rouge {
  // Of words, and of pairs of words that follow each other, each as often as
  // both texts have it.
  double rouge1 = 0;
  double rouge2 = 0;
  // Of the longest common subsequence of the words; lines play no part.
  double rouge_l = 0;
  // Of the union of the longest common subsequences of each line of the
  // reference with all lines of the prediction. Lines stand for sentences: that
  // of SCROLLS' metric is of texts that a trained splitter (NLTK's Punkt) has
  // broken into one sentence a line, which nothing here does.
  double rouge_lsum = 0;
};

// Takes time in proportion to the product of the texts' words.
Rouge RougeOf(std::string_view prediction, std::string_view reference);

// Of each kind the largest over the references, which may be of different ones;
// zeros where there is none.
Rouge BestRouge(std::string_view prediction,
                const std::vector<std::string>& references);

// The score of SCROLLS: (rouge1 rouge2 rouge_l)^(1/3) of the means over a set.
// It is of the means: that of single texts is 0 wherever one of the three is.
double GeometricMean(const Rouge& means);

}  // namespace ordo::model::text::scoring

#endif  // ORDO_MODEL_TEXT_SCORING_ROUGE_H_
