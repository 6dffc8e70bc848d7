#include "model/text/scoring/rouge.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <map>
#include <utility>

#include "model/text/scoring/f_measure.h"
#include "model/text/scoring/unicode.h"

namespace ordo::model::text::scoring {
namespace {

// Words by number, those of a prediction and its reference with one numbering.
using Words = std::vector<int>;

class Numbering {
 public:
  Words WordsOf(std::string_view text) {
    Words words;
    std::string word;
    const auto end_word = [&] {
      if (word.empty()) return;
      const int next = static_cast<int>(numbers_.size());
      words.push_back(numbers_.emplace(word, next).first->second);
      word.clear();
    };
    for (const char letter : LowerCase(text)) {
      if ((letter >= 'a' && letter <= 'z') ||
          (letter >= '0' && letter <= '9')) {
        word.push_back(letter);
      } else {
        end_word();
      }
    }
    end_word();
    return words;
  }

 private:
  std::map<std::string, int> numbers_;
};

std::vector<Words> Lines(std::string_view text, Numbering* numbering) {
  std::vector<Words> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(numbering->WordsOf(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

double RougeN(const Words& prediction, const Words& reference, size_t n) {
  const auto grams = [n](const Words& words) {
    std::vector<Words> all;
    for (size_t i = 0; i + n <= words.size(); ++i) {
      all.emplace_back(words.begin() + i, words.begin() + i + n);
    }
    std::sort(all.begin(), all.end());
    return all;
  };
  const std::vector<Words> predicted = grams(prediction);
  const std::vector<Words> wanted = grams(reference);
  std::vector<Words> same;
  std::set_intersection(predicted.begin(), predicted.end(), wanted.begin(),
                        wanted.end(), std::back_inserter(same));
  return FMeasure(same.size(), predicted.size(), wanted.size());
}

// Lengths of the longest common subsequence of the beginnings of two texts.
class Lengths {
 public:
  Lengths(const Words& rows, const Words& columns)
      : width_(columns.size() + 1), lengths_((rows.size() + 1) * width_, 0) {
    for (size_t i = 1; i <= rows.size(); ++i) {
      for (size_t j = 1; j < width_; ++j) {
        lengths_[i * width_ + j] = rows[i - 1] == columns[j - 1]
                                       ? At(i - 1, j - 1) + 1
                                       : std::max(At(i - 1, j), At(i, j - 1));
      }
    }
  }

  int At(size_t row, size_t column) const {
    return lengths_[row * width_ + column];
  }

 private:
  const size_t width_;
  std::vector<int> lengths_;
};

// As Lengths(...) of both, but of two rows at a time.
size_t CommonLength(const Words& left, const Words& right) {
  std::vector<size_t> above(right.size() + 1, 0);
  std::vector<size_t> row(right.size() + 1, 0);
  for (const int word : left) {
    for (size_t j = 1; j < row.size(); ++j) {
      row[j] = word == right[j - 1] ? above[j - 1] + 1
                                    : std::max(above[j], row[j - 1]);
    }
    std::swap(above, row);
  }
  return above.back();
}

// Marks the places of `reference` that are part of a longest common
// subsequence; of several the one that rouge_score takes, on which the union
// depends.
void MarkCommon(const Words& reference, const Words& line,
                std::vector<bool>* marked) {
  const Lengths lengths(reference, line);
  size_t i = reference.size();
  size_t j = line.size();
  while (i > 0 && j > 0) {
    if (reference[i - 1] == line[j - 1]) {
      (*marked)[i - 1] = true;
      --i;
      --j;
    } else if (lengths.At(i, j - 1) > lengths.At(i - 1, j)) {
      --j;
    } else {
      --i;
    }
  }
}

struct Counts {
  std::map<int, size_t> of_word;
  size_t total = 0;
};

Counts CountWords(const std::vector<Words>& lines) {
  Counts counts;
  for (const Words& line : lines) {
    for (const int word : line) ++counts.of_word[word];
    counts.total += line.size();
  }
  return counts;
}

double RougeLsum(const std::vector<Words>& prediction,
                 const std::vector<Words>& reference) {
  Counts predicted = CountWords(prediction);
  Counts wanted = CountWords(reference);
  size_t same = 0;
  for (const Words& line : reference) {
    std::vector<bool> marked(line.size(), false);
    for (const Words& other : prediction) MarkCommon(line, other, &marked);
    for (size_t i = 0; i < line.size(); ++i) {
      // A word counts no more often than both texts have it.
      size_t& left = predicted.of_word[line[i]];
      if (!marked[i] || left == 0) continue;
      --left;
      ++same;
    }
  }
  return FMeasure(same, predicted.total, wanted.total);
}

}  // namespace

Rouge RougeOf(std::string_view prediction, std::string_view reference) {
  Numbering numbering;
  const Words predicted = numbering.WordsOf(prediction);
  const Words wanted = numbering.WordsOf(reference);
  Rouge rouge;
  rouge.rouge1 = RougeN(predicted, wanted, 1);
  rouge.rouge2 = RougeN(predicted, wanted, 2);
  rouge.rouge_l = FMeasure(CommonLength(predicted, wanted), predicted.size(),
                           wanted.size());
  rouge.rouge_lsum =
      RougeLsum(Lines(prediction, &numbering), Lines(reference, &numbering));
  return rouge;
}

Rouge BestRouge(std::string_view prediction,
                const std::vector<std::string>& references) {
  Rouge best;
  for (const std::string& reference : references) {
    const Rouge rouge = RougeOf(prediction, reference);
    best.rouge1 = std::max(best.rouge1, rouge.rouge1);
    best.rouge2 = std::max(best.rouge2, rouge.rouge2);
    best.rouge_l = std::max(best.rouge_l, rouge.rouge_l);
    best.rouge_lsum = std::max(best.rouge_lsum, rouge.rouge_lsum);
  }
  return best;
}

double GeometricMean(const Rouge& means) {
  return std::cbrt(means.rouge1 * means.rouge2 * means.rouge_l);
}

}  // namespace ordo::model::text::scoring
