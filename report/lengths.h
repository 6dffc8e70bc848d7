#ifndef ORDO_REPORT_LENGTHS_H_
#define ORDO_REPORT_LENGTHS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "report/statistics.h"

namespace ordo::report {

// What one evaluation found at each length.
struct Lengths {
  // What the numbers count, for people: "length", "digits" of both operands.
  std::string by;
  // `error`, a share of 1, or `perplexity`: less is better.
  std::string score;
  // The longest in training; 0 when that is not known.
  int64_t trained = 0;
  // The score by length, finite. Empty: the task scores no lengths apart.
  std::map<int64_t, double> values;
  // Lengths whose score is null, as one that is not finite is written; none of
  // them is in `values`.
  std::set<int64_t> left_out = {};
  // Where the items tell it: the value with a 95 % interval over another draw
  // of questions, Wilson's of errors, of perplexities normal in their
  // logarithm.
  std::map<int64_t, Share> intervals = {};
  // Of text, without which what is by token means nothing: the tokenizer with
  // the first digits of its digest and the size of its vocabulary, for people.
  // It is there without values too. Empty: not known.
  std::string tokenizer = {};
  // How many items are of each length; of windows of text these. A length
  // without a number is not known.
  std::map<int64_t, int64_t> num_items = {};
  // Of perplexities, what can be compared across tokenizers: bits per byte at
  // the same lengths, with normal 95 % intervals where they are known.
  std::map<int64_t, Share> bits_per_byte = {};
};

// What InBitsPerByte is scored by.
inline constexpr char kBitsPerByte[] = "bits_per_byte";

// Of perplexities the same in bits per byte; without values where one of the
// lengths has none.
Lengths InBitsPerByte(Lengths lengths);

// Reads the result.json of an evaluation: `by_length` (an error), `shares` (an
// error, or one less what is right), `lengths` (perplexity), `cells` of two
// operands (those of equal length) or by `length` (one less the mean recall);
// of errors also `standard_error`, `units` and how many items there are.
// INVALID_ARGUMENT names the field that has another type or shape. Further
// fields are ignored.
absl::StatusOr<Lengths> ParseLengths(std::string_view json);

}  // namespace ordo::report

#endif  // ORDO_REPORT_LENGTHS_H_
