#include "model/tasks/nope/items.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/tasks/testing/drawn.h"

namespace ordo::model::tasks::nope {
namespace {

using List = std::vector<std::string>;

Item Draw(const std::string& task, int n, uint64_t index) {
  base::RandomSequence random(1, absl::StrCat("data/", index));
  return KindOf(task).draw(n, &random);
}

List Split(const std::string& text) {
  return absl::StrSplit(text, ' ', absl::SkipEmpty());
}

// The words between two.
List Between(const std::string& text, const std::string& first,
             const std::string& last) {
  const List words = Split(text);
  const auto begin = std::find(words.begin(), words.end(), first);
  const auto end = std::find(words.rbegin(), words.rend(), last);
  EXPECT_NE(begin, words.end()) << text;
  EXPECT_NE(end, words.rend()) << text;
  return List(begin + 1, end.base() - 1);
}

std::string Answer(const std::string& text) {
  return absl::StrJoin(Between(text, "is", "."), "");
}

// Made by this code; answers checked by hand.
TEST(Nope, FirstItemsOfSeedOneAreFrozen) {
  std::map<std::string, std::string> items;
  for (const Kind& kind : Kinds()) {
    const Item item = Draw(std::string(kind.name), 4, 0);
    items[std::string(kind.name)] =
        absl::StrCat(item.prompt, " > ", item.answer);
  }
  const std::map<std::string, std::string> expected = {
      {"addition", "Compute 1 4 2 6 + 0 ? > The answer is 1 4 2 6 ."},
      {"copy", "Copy: 3 1 K k [SEP] > 3 1 K k"},
      {"copy_one", "Copy: 3 3 3 3 [SEP] > 3 3 3 3"},
      {"copy_one_twice", "Copy: 3 3 3 3 [SEP] > 3 3 3 3 3 3 3 3"},
      {"copy_twice", "Copy: 3 1 K k [SEP] > 3 1 K k [NEXT] 3 1 K k"},
      {"lego",
       "If x = +1 , v = - x , j = - v , u = + j . Then, what is the value of u "
       "? > The answer is +1 ."},
      {"lego_permuted",
       "If x = +1 , u = + j , j = - v , v = - x . Then, what is the value of u "
       "? > The answer is +1 ."},
      {"parity",
       "Is the number of 1's even in the sequence [ 0 , 0 , 0 , 0 ] ? > The "
       "answer is Yes ."},
      {"polynomial",
       "Evaluate at x = - 2 in - 3 * x ** 1 + - 2 * x ** 2 + - 3 * x ** 1 + 0 "
       "* x ** 1 ? > The answer is 4 ."},
      {"replace", "Replace 3 with 5 in 3 3 3 3 [SEP] > 5 5 5 5"},
      {"reverse", "Reverse: 3 1 K k [SEP] > k K 1 3"},
      {"reverse_and_copy", "Reverse: 3 1 K k [SEP] > k K 1 3 [NEXT] 3 1 K k"},
      {"reverse_twice", "Reverse: 3 1 K k [SEP] > k K 1 3 [NEXT] k K 1 3"},
      {"sort",
       "Sort the following list [ 1 , 0 , n , a ] . > The sorted list is [ 0 , "
       "1 , a , n ] ."},
      {"sort_numbers",
       "Sort the following list [ 3 6 8 , 2 0 4 , 4 6 1 2 , 2 0 6 6 ] . > The "
       "sorted list is [ 2 0 4 , 3 6 8 , 2 0 6 6 , 4 6 1 2 ] ."},
      {"summation", "Compute: 1 + 1 + 5 + 2 . > The answer is 9 ."}};
  EXPECT_EQ(items, expected);
}

TEST(Nope, ItemsAreOfTheWordsAndShortEnough) {
  const std::set<std::string> known(Words().begin(), Words().end());
  EXPECT_EQ(known.size(), Words().size());
  for (const Kind& kind : Kinds()) {
    int longest = 0;
    for (const int n : {2, 3, 9, 26, 27, kMaxLength}) {
      for (uint64_t index = 0; index < 40; ++index) {
        const Item item = Draw(std::string(kind.name), n, index);
        const List prompt = Split(item.prompt), answer = Split(item.answer);
        for (const List& words : {prompt, answer}) {
          for (const std::string& word : words) {
            EXPECT_EQ(known.count(word), 1u) << word;
          }
        }
        const int length = static_cast<int>(prompt.size() + answer.size());
        EXPECT_LE(length, kind.num_words(n)) << item.prompt;
        if (n == 3) longest = std::max(longest, length);
      }
    }
    // No longer than it has to be, but for what is rare.
    EXPECT_GE(longest, kind.num_words(3) - 3) << kind.name;
  }
}

TEST(Nope, CopiesAndReversals) {
  for (uint64_t index = 0; index < 30; ++index) {
    for (const char* task : {"copy", "copy_one", "copy_one_twice", "copy_twice",
                             "reverse", "reverse_twice", "reverse_and_copy"}) {
      const std::string name = task;
      const Item item = Draw(name, 6, index);
      const bool reverse = name.rfind("reverse", 0) == 0;
      const List input =
          Between(item.prompt, reverse ? "Reverse:" : "Copy:", "[SEP]");
      ASSERT_EQ(input.size(), 6u);
      const List reversed(input.rbegin(), input.rend());
      List expected = reverse ? reversed : input;
      if (name == "copy_one_twice") expected.resize(12, input[0]);
      if (name == "copy_twice" || name == "reverse_twice" ||
          name == "reverse_and_copy") {
        const List second = name == "reverse_twice" ? reversed : input;
        expected.push_back("[NEXT]");
        expected.insert(expected.end(), second.begin(), second.end());
      }
      EXPECT_EQ(Split(item.answer), expected) << item.prompt;
      if (name.rfind("copy_one", 0) == 0) {
        EXPECT_EQ(std::set<std::string>(input.begin(), input.end()).size(), 1u);
      }
    }
  }
}

TEST(Nope, ReplacesAnotherToken) {
  for (uint64_t index = 0; index < 200; ++index) {
    const List prompt = Split(Draw("replace", 3, index).prompt);
    EXPECT_NE(prompt[1], prompt[3]);
    EXPECT_EQ(prompt[5], prompt[1]);
    EXPECT_EQ(Split(Draw("replace", 3, index).answer), List(3, prompt[3]));
  }
}

TEST(Nope, SumsOfNumbersAreRightAndAllPairsOfLengthsThere) {
  std::map<std::pair<size_t, size_t>, int> cells;
  for (uint64_t index = 0; index < 500; ++index) {
    const Item item = Draw("addition", 3, index);
    const std::string a =
        absl::StrJoin(Between(item.prompt, "Compute", "+"), "");
    const std::string b = absl::StrJoin(Between(item.prompt, "+", "?"), "");
    EXPECT_EQ(std::stoi(a) + std::stoi(b), std::stoi(Answer(item.answer)));
    EXPECT_TRUE(a.size() == 1 || a[0] != '0');
    ++cells[{a.size(), b.size()}];
  }
  ASSERT_EQ(cells.size(), 5u);
  // A hundred of each; standard deviation 9, six of them.
  for (const auto& [lengths, count] : cells) EXPECT_NEAR(count, 100, 54);
}

TEST(Nope, SummationIsModuloTen) {
  for (uint64_t index = 0; index < 50; ++index) {
    const Item item = Draw("summation", 7, index);
    int sum = 0;
    for (const std::string& word : Between(item.prompt, "Compute:", ".")) {
      if (word == "+") continue;
      EXPECT_NE(word, "0");
      sum += std::stoi(word);
    }
    EXPECT_EQ(std::stoi(Answer(item.answer)), sum % 10);
  }
}

TEST(Nope, ParityIsOfOnes) {
  for (uint64_t index = 0; index < 50; ++index) {
    const Item item = Draw("parity", 9, index);
    const List bits = Between(item.prompt, "[", "]");
    EXPECT_EQ(bits.size(), 17u);
    const bool even = std::count(bits.begin(), bits.end(), "1") % 2 == 0;
    EXPECT_EQ(Answer(item.answer), even ? "Yes" : "No");
  }
}

// Terms are read from the text: - 3 * x ** 2, for example.
TEST(Nope, PolynomialsHaveTheirValueModuloTen) {
  std::set<int> xs;
  for (uint64_t index = 0; index < 100; ++index) {
    const Item item = Draw("polynomial", 5, index);
    const int x = std::stoi(absl::StrJoin(Between(item.prompt, "=", "in"), ""));
    xs.insert(x);
    const std::string terms =
        absl::StrJoin(Between(item.prompt, "in", "?"), "");
    int value = 0, num_terms = 0;
    for (const std::string& term :
         std::vector<std::string>(absl::StrSplit(terms, '+'))) {
      const size_t star = term.find('*');
      const int degree = std::stoi(term.substr(star + 4));
      int product = std::stoi(term.substr(0, star));
      for (int i = 0; i < degree; ++i) product *= x;
      value += product;
      ++num_terms;
    }
    EXPECT_EQ(num_terms, 5);
    EXPECT_EQ(std::stoi(Answer(item.answer)), (value % 10 + 10) % 10) << terms;
  }
  EXPECT_EQ(xs, (std::set<int>{-2, -1, 0, 1, 2}));
}

TEST(Nope, ListsAreSorted) {
  const std::string order =
      "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMN";
  for (uint64_t index = 0; index < 50; ++index) {
    Item item = Draw("sort", 8, index);
    List unsorted = Between(item.prompt, "[", "]");
    std::sort(unsorted.begin(), unsorted.end(),
              [&](const std::string& a, const std::string& b) {
                return order.find(a) < order.find(b);
              });
    List sorted = Between(item.answer, "[", "]");
    // Commas are not of the order, so that they come last of what is sorted.
    unsorted.erase(std::remove(unsorted.begin(), unsorted.end(), ","),
                   unsorted.end());
    sorted.erase(std::remove(sorted.begin(), sorted.end(), ","), sorted.end());
    EXPECT_EQ(sorted, unsorted);

    item = Draw("sort_numbers", 6, index);
    const auto numbers = [](const std::string& text) {
      std::vector<int> result;
      for (const std::string& number : std::vector<std::string>(absl::StrSplit(
               absl::StrJoin(Between(text, "[", "]"), ""), ','))) {
        result.push_back(std::stoi(number));
        EXPECT_GE(result.back(), 10);
        EXPECT_LE(result.back(), 9999);
      }
      return result;
    };
    std::vector<int> expected = numbers(item.prompt);
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(numbers(item.answer), expected);
  }
}

// Follows the chain from the clauses as they are written.
TEST(Nope, ChainsOfSignsLeadToTheAnswer) {
  bool in_order = true;
  for (const char* task : {"lego", "lego_permuted"}) {
    std::set<std::string> answers;
    for (uint64_t index = 0; index < 60; ++index) {
      const Item item = Draw(task, 7, index);
      const List words = Split(item.prompt);
      std::map<std::string, std::pair<int, std::string>> of;
      List names;
      size_t t = 1;
      for (int clause = 0; clause < 7; ++clause) {
        const std::string name = words[t];
        names.push_back(name);
        if (words[t + 2] == "+1" || words[t + 2] == "-1") {
          of[name] = {words[t + 2] == "+1" ? 1 : -1, ""};
          t += 4;
        } else {
          of[name] = {words[t + 2] == "+" ? 1 : -1, words[t + 3]};
          t += 5;
        }
      }
      ASSERT_EQ(of.size(), 7u) << item.prompt;
      int sign = 1, steps = 0;
      std::string name = words[words.size() - 2];
      while (!name.empty()) {
        sign *= of.at(name).first;
        name = of.at(name).second;
        ++steps;
      }
      EXPECT_EQ(Answer(item.answer), sign > 0 ? "+1" : "-1") << item.prompt;
      // Of seven the fifth to the last.
      EXPECT_GE(steps, 5);
      answers.insert(item.answer);
      in_order = in_order && of.at(names[0]).second.empty();
    }
    EXPECT_EQ(answers.size(), 2u);
    EXPECT_EQ(in_order, std::string(task) == "lego");
  }
}

// How often each word comes between two others, and other than a comma or +.
using WordCounts = std::map<std::string, int64_t>;

void CountWords(const List& words, WordCounts* counts) {
  for (const std::string& word : words) {
    if (word != "," && word != "+") ++(*counts)[word];
  }
}

TEST(NopeDraws, TokensDigitsAndBitsAreUniform) {
  const struct {
    const char* task;
    const char* before;
    const char* behind;
    size_t kinds;
    int items;
  } cases[] = {{"copy", "Copy:", "[SEP]", 100, 800},
               {"copy_twice", "Copy:", "[SEP]", 100, 800},
               {"copy_one", "Copy:", "[SEP]", 100, 3000},
               {"reverse", "Reverse:", "[SEP]", 100, 800},
               {"replace", "Replace", "with", 100, 3000},
               {"replace", "with", "in", 100, 3000},
               {"sort", "[", "]", 50, 400},
               {"summation", "Compute:", ".", 9, 100},
               {"parity", "[", "]", 2, 100}};
  for (const auto& one : cases) {
    SCOPED_TRACE(one.task);
    const std::string task = one.task;
    // Of those of one token all are the same.
    const bool once = task == "copy_one" || task == "replace";
    WordCounts counts;
    for (int index = 0; index < one.items; ++index) {
      const Item item = Draw(task, once ? 1 : 6, index);
      const List words = Split(item.prompt);
      const auto begin = std::find(words.begin(), words.end(), one.before) + 1;
      const auto end = std::find(begin, words.end(), one.behind);
      const List between(begin, end);
      // Commas and + are tokens, too, of what is copied.
      if (one.kinds == 100) {
        for (const std::string& word : between) ++counts[word];
      } else {
        CountWords(between, &counts);
      }
    }
    testing::ExpectEven(one.kinds, counts);
  }
}

// The longer of two numbers has three digits, the first of which is no zero; a
// number of one digit may be zero.
TEST(NopeDraws, DigitsOfOperandsAreUniform) {
  WordCounts leading, rest, alone;
  for (uint64_t index = 0; index < 2000; ++index) {
    const Item item = Draw("addition", 3, index);
    for (const List& digits : {Between(item.prompt, "Compute", "+"),
                               Between(item.prompt, "+", "?")}) {
      ++(digits.size() == 1 ? alone : leading)[digits[0]];
      for (size_t i = 1; i < digits.size(); ++i) ++rest[digits[i]];
    }
  }
  testing::ExpectEven(9, leading);
  EXPECT_EQ(leading.count("0"), 0u);
  testing::ExpectEven(10, rest);
  testing::ExpectEven(10, alone);
}

TEST(NopeDraws, PartsOfPolynomialsAreUniform) {
  WordCounts xs, coefficients, degrees;
  for (uint64_t index = 0; index < 300; ++index) {
    const Item item = Draw("polynomial", 4, index);
    ++xs[absl::StrJoin(Between(item.prompt, "=", "in"), "")];
    const std::string terms =
        absl::StrJoin(Between(item.prompt, "in", "?"), "");
    for (const std::string& term :
         std::vector<std::string>(absl::StrSplit(terms, '+'))) {
      const size_t star = term.find('*');
      ++coefficients[term.substr(0, star)];
      ++degrees[term.substr(star + 4)];
    }
  }
  testing::ExpectEven(5, xs);
  testing::ExpectEven(7, coefficients);
  EXPECT_EQ(coefficients.count("-3") + coefficients.count("3"), 2u);
  testing::ExpectEven(4, degrees);
  EXPECT_EQ(degrees.count("0") + degrees.count("3"), 2u);
}

TEST(NopeDraws, SortedNumbersAreUniform) {
  std::map<int, int64_t> parts;
  for (uint64_t index = 0; index < 300; ++index) {
    const Item item = Draw("sort_numbers", 5, index);
    const std::string numbers =
        absl::StrJoin(Between(item.prompt, "[", "]"), "");
    for (const std::string& number :
         std::vector<std::string>(absl::StrSplit(numbers, ','))) {
      // 999 numbers each.
      ++parts[(std::stoi(number) - 10) / 999];
    }
  }
  testing::ExpectEven(10, parts);
}

// Of seven clauses one of the last three is asked for; signs are even; where
// clauses are permuted the first of the chain stands anywhere.
TEST(NopeDraws, ChainsAreAskedAndOrderedEvenly) {
  WordCounts answers;
  std::map<size_t, int64_t> asked, first;
  for (uint64_t index = 0; index < 600; ++index) {
    const Item item = Draw("lego", 7, index);
    ++answers[Answer(item.answer)];
    const List words = Split(item.prompt);
    // "x = +1 ," and then "y = - x ,": of the first four words, of others five.
    const std::string& name = words[words.size() - 2];
    const auto place = std::find(words.begin(), words.end(), name);
    ++asked[static_cast<size_t>(place - words.begin()) / 5];
    const List permuted = Split(Draw("lego_permuted", 7, index).prompt);
    const auto end = std::find_if(
        permuted.begin(), permuted.end(),
        [](const std::string& word) { return word == "+1" || word == "-1"; });
    ++first[static_cast<size_t>(end - permuted.begin()) / 5];
  }
  testing::ExpectEven(2, answers);
  testing::ExpectEven(3, asked);
  testing::ExpectEven(7, first);
}

}  // namespace
}  // namespace ordo::model::tasks::nope
