#include "model/tasks/nope/items.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "model/tasks/nope/pcfg.h"

namespace ordo::model::tasks::nope {
namespace {

using List = std::vector<std::string>;

// What is copied, reversed and sorted: characters, and further words up to a
// hundred.
constexpr int kNumTokens = 100;
constexpr int kNumSorted = 50;
// Characters that are variables, the small letters first.
constexpr size_t kFirstLetter = 10;

const List& Tokens() {
  static const auto* const tokens = [] {
    auto* result = new List;
    for (const char c : std::string_view(
             "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
             "!$%&()*+,-./:;<=>")) {
      result->emplace_back(1, c);
    }
    for (int i = 0; static_cast<int>(result->size()) < kNumTokens; ++i) {
      result->push_back(absl::StrCat("w", i));
    }
    return result;
  }();
  return *tokens;
}

std::string Text(const List& words) { return absl::StrJoin(words, " "); }

List DrawTokens(int n, int kinds, base::RandomSequence* random) {
  List tokens;
  for (int i = 0; i < n; ++i) tokens.push_back(Tokens()[random->Int(kinds)]);
  return tokens;
}

// The digits of a number, with its sign before them, as words.
std::string Spaced(int number) {
  List words;
  for (const char c : absl::StrCat(number)) words.emplace_back(1, c);
  return Text(words);
}

std::string TheAnswerIs(const std::string& text) {
  return absl::StrCat("The answer is ", text, " .");
}

Item CopyItem(const List& tokens, const std::string& answer) {
  return {absl::StrCat("Copy: ", Text(tokens), " [SEP]"), answer};
}

Item CopyOne(int n, base::RandomSequence* random) {
  const List tokens(n, DrawTokens(1, kNumTokens, random)[0]);
  return CopyItem(tokens, Text(tokens));
}

Item CopyOneTwice(int n, base::RandomSequence* random) {
  const List tokens(n, DrawTokens(1, kNumTokens, random)[0]);
  return CopyItem(tokens, Text(List(2 * n, tokens[0])));
}

Item Replace(int n, base::RandomSequence* random) {
  const uint64_t from = random->Int(kNumTokens);
  // Any other.
  const uint64_t to = (from + 1 + random->Int(kNumTokens - 1)) % kNumTokens;
  return {absl::StrCat("Replace ", Tokens()[from], " with ", Tokens()[to],
                       " in ", Text(List(n, Tokens()[from])), " [SEP]"),
          Text(List(n, Tokens()[to]))};
}

Item Copy(int n, base::RandomSequence* random) {
  const List tokens = DrawTokens(n, kNumTokens, random);
  return CopyItem(tokens, Text(tokens));
}

Item CopyTwice(int n, base::RandomSequence* random) {
  const List tokens = DrawTokens(n, kNumTokens, random);
  return CopyItem(tokens, absl::StrCat(Text(tokens), " [NEXT] ", Text(tokens)));
}

struct Reversal {
  std::string prompt;
  std::string original;
  std::string reversed;
};

Reversal DrawReversal(int n, base::RandomSequence* random) {
  List tokens = DrawTokens(n, kNumTokens, random);
  Reversal drawn;
  drawn.original = Text(tokens);
  drawn.prompt = absl::StrCat("Reverse: ", drawn.original, " [SEP]");
  std::reverse(tokens.begin(), tokens.end());
  drawn.reversed = Text(tokens);
  return drawn;
}

Item Reverse(int n, base::RandomSequence* random) {
  const Reversal drawn = DrawReversal(n, random);
  return {drawn.prompt, drawn.reversed};
}

Item ReverseTwice(int n, base::RandomSequence* random) {
  const Reversal drawn = DrawReversal(n, random);
  return {drawn.prompt,
          absl::StrCat(drawn.reversed, " [NEXT] ", drawn.reversed)};
}

Item ReverseAndCopy(int n, base::RandomSequence* random) {
  const Reversal drawn = DrawReversal(n, random);
  return {drawn.prompt,
          absl::StrCat(drawn.reversed, " [NEXT] ", drawn.original)};
}

// Highest digit first, without a zero there unless it is the only one.
std::vector<int> DrawNumber(int num_digits, base::RandomSequence* random) {
  std::vector<int> digits;
  for (int i = 0; i < num_digits; ++i) {
    const bool leading = i == 0 && num_digits > 1;
    digits.push_back(leading ? 1 + static_cast<int>(random->Int(9))
                             : static_cast<int>(random->Int(10)));
  }
  return digits;
}

// Two numbers, the longer of n digits: all pairs of lengths equally often.
Item Addition(int n, base::RandomSequence* random) {
  const int cell = static_cast<int>(random->Int(2 * n - 1));
  const int i = cell < n ? n : cell - n + 1;
  const int j = cell < n ? cell + 1 : n;
  const std::vector<int> a = DrawNumber(i, random);
  const std::vector<int> b = DrawNumber(j, random);
  std::vector<int> sum;
  int carry = 0;
  for (int k = 0; k < n; ++k) {
    const int total =
        carry + (k < i ? a[i - 1 - k] : 0) + (k < j ? b[j - 1 - k] : 0);
    sum.insert(sum.begin(), total % 10);
    carry = total / 10;
  }
  if (carry > 0) sum.insert(sum.begin(), carry);
  return {absl::StrCat("Compute ", absl::StrJoin(a, " "), " + ",
                       absl::StrJoin(b, " "), " ?"),
          TheAnswerIs(absl::StrJoin(sum, " "))};
}

// Digits from 1 to 9, and their sum's last digit.
Item Summation(int n, base::RandomSequence* random) {
  std::vector<int> digits;
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    digits.push_back(1 + static_cast<int>(random->Int(9)));
    sum += digits.back();
  }
  return {absl::StrCat("Compute: ", absl::StrJoin(digits, " + "), " ."),
          TheAnswerIs(absl::StrCat(sum % 10))};
}

Item Parity(int n, base::RandomSequence* random) {
  std::vector<int> bits;
  int ones = 0;
  for (int i = 0; i < n; ++i) {
    bits.push_back(static_cast<int>(random->Int(2)));
    ones += bits.back();
  }
  return {absl::StrCat("Is the number of 1's even in the sequence [ ",
                       absl::StrJoin(bits, " , "), " ] ?"),
          TheAnswerIs(ones % 2 == 0 ? "Yes" : "No")};
}

int Power(int base, int exponent) {
  int power = 1;
  for (int i = 0; i < exponent; ++i) power *= base;
  return power;
}

// Coefficients from -3 to 3, degrees up to 3, x from -2 to 2; the value mod 10.
Item Polynomial(int n, base::RandomSequence* random) {
  const int x = static_cast<int>(random->Int(5)) - 2;
  List terms;
  int value = 0;
  for (int i = 0; i < n; ++i) {
    const int coefficient = static_cast<int>(random->Int(7)) - 3;
    const int degree = static_cast<int>(random->Int(4));
    value += coefficient * Power(x, degree);
    terms.push_back(absl::StrCat(Spaced(coefficient), " * x ** ", degree));
  }
  value = (value % 10 + 10) % 10;
  return {absl::StrCat("Evaluate at x = ", Spaced(x), " in ",
                       absl::StrJoin(terms, " + "), " ?"),
          TheAnswerIs(absl::StrCat(value))};
}

Item SortItem(const List& unsorted, const List& sorted) {
  return {absl::StrCat("Sort the following list [ ",
                       absl::StrJoin(unsorted, " , "), " ] ."),
          absl::StrCat("The sorted list is [ ", absl::StrJoin(sorted, " , "),
                       " ] .")};
}

// Of single tokens, in the order of the characters above.
Item Sort(int n, base::RandomSequence* random) {
  std::vector<uint64_t> numbers;
  for (int i = 0; i < n; ++i) numbers.push_back(random->Int(kNumSorted));
  const auto texts = [&] {
    List words;
    for (const uint64_t number : numbers) words.push_back(Tokens()[number]);
    return words;
  };
  const List unsorted = texts();
  std::sort(numbers.begin(), numbers.end());
  return SortItem(unsorted, texts());
}

// Of numbers from 10 to 9999.
Item SortNumbers(int n, base::RandomSequence* random) {
  std::vector<int> numbers;
  for (int i = 0; i < n; ++i) {
    numbers.push_back(10 + static_cast<int>(random->Int(9990)));
  }
  const auto texts = [&] {
    List words;
    for (const int number : numbers) words.push_back(Spaced(number));
    return words;
  };
  const List unsorted = texts();
  std::sort(numbers.begin(), numbers.end());
  return SortItem(unsorted, texts());
}

// A chain of n variables, each plus or minus the one before it. What is asked
// for is one of the second half.
Item DrawLego(int n, bool permuted, base::RandomSequence* random) {
  List names(Tokens().begin() + kFirstLetter,
             Tokens().begin() + kFirstLetter + 2 * 26);
  // Of few variables all are small letters, as the authors' are.
  if (n <= 26) names.resize(26);
  random->Shuffle(&names);
  List clauses;
  std::vector<bool> positive;
  for (int i = 0; i < n; ++i) {
    positive.push_back(random->Int(2) == 1);
    if (i == 0) {
      clauses.push_back(
          absl::StrCat(names[0], " = ", positive[0] ? "+1" : "-1"));
      continue;
    }
    const bool same = positive[i] == positive[i - 1];
    clauses.push_back(
        absl::StrCat(names[i], " = ", same ? "+ " : "- ", names[i - 1]));
  }
  const int first = n / 2 + n % 2;
  const int asked = first + static_cast<int>(random->Int(n - first));
  if (permuted) random->Shuffle(&clauses);
  return {absl::StrCat("If ", absl::StrJoin(clauses, " , "),
                       " . Then, what is the value of ", names[asked], " ?"),
          TheAnswerIs(positive[asked] ? "+1" : "-1")};
}

Item Lego(int n, base::RandomSequence* random) {
  return DrawLego(n, /*permuted=*/false, random);
}

Item LegoPermuted(int n, base::RandomSequence* random) {
  return DrawLego(n, /*permuted=*/true, random);
}

int Equally(int /*n*/) { return 1; }
// Pairs of lengths of which the longer is n.
int NumCells(int n) { return 2 * n - 1; }

// Prompt and answer.
int CopyWords(int n) { return (n + 2) + n; }
int CopyTwiceWords(int n) { return (n + 2) + 2 * n; }
int CopyNextWords(int n) { return (n + 2) + 2 * n + 1; }
int ReplaceWords(int n) { return (n + 6) + n; }
int AdditionWords(int n) { return (2 * n + 3) + (n + 1 + 4); }
int SummationWords(int n) { return (2 * n - 1 + 2) + 5; }
int ParityWords(int n) { return (2 * n - 1 + 12) + 5; }
// Numbers below zero have two words.
int PolynomialWords(int n) { return (6 * n + n - 1 + 8) + 5; }
int SortWords(int n) { return (2 * n - 1 + 7) + (2 * n - 1 + 7); }
int SortNumbersWords(int n) { return (5 * n - 1 + 7) + (5 * n - 1 + 7); }
int LegoWords(int n) { return (3 + 5 * (n - 1) + 10) + 5; }

}  // namespace

const std::vector<Kind>& Kinds() {
  static const auto* const kinds = new std::vector<Kind>{
      {"addition", Addition, AdditionWords, NumCells, Words},
      {"copy", Copy, CopyWords, Equally, Words},
      {"copy_one", CopyOne, CopyWords, Equally, Words},
      {"copy_one_twice", CopyOneTwice, CopyTwiceWords, Equally, Words},
      {"copy_twice", CopyTwice, CopyNextWords, Equally, Words},
      {"lego", Lego, LegoWords, Equally, Words},
      {"lego_permuted", LegoPermuted, LegoWords, Equally, Words},
      {"parity", Parity, ParityWords, Equally, Words},
      {"polynomial", Polynomial, PolynomialWords, Equally, Words},
      {"replace", Replace, ReplaceWords, Equally, Words},
      {"reverse", Reverse, CopyWords, Equally, Words},
      {"reverse_and_copy", ReverseAndCopy, CopyNextWords, Equally, Words},
      {"reverse_twice", ReverseTwice, CopyNextWords, Equally, Words},
      {"sort", Sort, SortWords, Equally, Words},
      {"sort_numbers", SortNumbers, SortNumbersWords, Equally, Words},
      {"summation", Summation, SummationWords, Equally, Words},
  };
  return *kinds;
}

Kind KindOf(std::string_view name) {
  for (const Kind& kind : Kinds()) {
    if (kind.name == name) return kind;
  }
  if (name == Pcfg().name) return Pcfg();
  ORDO_CHECK(false) << std::string(name) << " is none of the reasoning tasks";
}

const List& Words() {
  static const auto* const words = [] {
    auto* result = new List(Tokens());
    for (const char* word :
         {"**",       "+1",        "-1",       "1's", "?",      "Compute",
          "Compute:", "Copy:",     "Evaluate", "If",  "Is",     "No",
          "Replace",  "Reverse:",  "Sort",     "The", "Then,",  "Yes",
          "[",        "[NEXT]",    "[SEP]",    "]",   "answer", "at",
          "even",     "following", "in",       "is",  "list",   "number",
          "of",       "sequence",  "sorted",   "the", "value",  "what",
          "with"}) {
      result->emplace_back(word);
    }
    return result;
  }();
  return *words;
}

}  // namespace ordo::model::tasks::nope
