#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/tasks/retrieval/items.h"
#include "model/tasks/retrieval/prose.h"

// The words of the prompts, up to where the answer begins, are those of
// NVIDIA/RULER, scripts/data/synthetic/constants.py: Copyright (c) 2024, NVIDIA
// CORPORATION, under the Apache License, Version 2.0
// (http://www.apache.org/licenses/LICENSE-2.0). They are constants of the
// benchmark.

namespace ordo::model::tasks::retrieval {
namespace {

using List = std::vector<std::string>;

int64_t Size(const std::string& text) {
  return static_cast<int64_t>(text.size());
}

enum class Haystack { kNoise, kSentences, kNeedles };

struct Niah {
  Haystack haystack = Haystack::kSentences;
  bool uuid_keys = false;
  bool uuid_values = false;
  int keys = 1;
  int values = 1;
  int queries = 1;
};

std::string Key(bool uuid, base::RandomSequence* random) {
  return uuid ? Uuid(random) : AdjectiveNoun(random);
}

std::string Value(bool uuid, base::RandomSequence* random) {
  if (uuid) return Uuid(random);
  return absl::StrCat(1000000 + random->Int(9000000));
}

std::string NeedleText(bool uuid_values, const std::string& key,
                       const std::string& value) {
  return absl::StrCat("One of the special magic ",
                      uuid_values ? "uuids" : "numbers", " for ", key,
                      " is: ", value, ".");
}

// "a", or "a, b, and c".
std::string Listed(const List& words) {
  if (words.size() == 1) return words[0];
  return absl::StrCat(absl::StrJoin(words.begin(), words.end() - 1, ", "),
                      ", and ", words.back());
}

Frame NiahFrame(const Niah& niah, const std::string& query) {
  const bool many = niah.queries * niah.values > 1;
  const std::string things =
      absl::StrCat(niah.uuid_values ? "uuid" : "number", many ? "s" : "");
  const std::string are = many ? "are" : "is";
  return {absl::StrCat(many ? "Some" : "A", " special magic ", things, " ", are,
                       " hidden within the following text. Make sure to "
                       "memorize it. I will quiz you about the ",
                       things, " afterwards.\n"),
          absl::StrCat("\nWhat ", are, many ? " all" : "",
                       " the special magic ", things, " for ", query,
                       " mentioned in the provided text? The special magic ",
                       things, " for ", query,
                       " mentioned in the provided text ", are)};
}

// Places among so many units, rising. In sentences they are different steps of
// forty from the beginning to the end, otherwise anywhere.
std::vector<size_t> Places(const Niah& niah, size_t needles, size_t units,
                           base::RandomSequence* random) {
  constexpr uint64_t kSteps = 40;
  std::vector<size_t> places;
  if (niah.haystack == Haystack::kSentences) {
    const std::vector<uint64_t> steps = random->Permutation(kSteps);
    for (size_t i = 0; i < needles; ++i) {
      // Rounded to per cent.
      const uint64_t depth = (200 * steps[i] + kSteps - 1) / (2 * (kSteps - 1));
      places.push_back(units * depth / 100);
    }
  } else {
    for (size_t i = 0; i < needles; ++i) {
      places.push_back(random->Int(units + 1));
    }
  }
  std::sort(places.begin(), places.end());
  return places;
}

// The units with needles[i] before unit places[i].
List Hidden(const List& units, const List& needles,
            const std::vector<size_t>& places) {
  List all;
  size_t next = 0;
  for (size_t i = 0; i <= units.size(); ++i) {
    while (next < needles.size() && places[next] == i) {
      all.push_back(needles[next++]);
    }
    if (i < units.size()) all.push_back(units[i]);
  }
  return all;
}

// Needles of other keys than these.
List OtherNeedles(const Niah& niah, int64_t room, const List& keys,
                  base::RandomSequence* random) {
  List units;
  while (true) {
    const std::string key = Key(niah.uuid_keys, random);
    const std::string value = Value(niah.uuid_values, random);
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    std::string unit = NeedleText(niah.uuid_values, key, value);
    room -= Size(unit) + 1;
    if (room < 0) return units;
    units.push_back(std::move(unit));
  }
}

std::string NoiseUnit(base::RandomSequence* /*random*/) { return Noise(); }

Item DrawNiah(const Niah& niah, int64_t bytes, base::RandomSequence* random) {
  List keys, needles;
  std::vector<List> values;
  while (static_cast<int>(keys.size()) < niah.keys) {
    const std::string key = Key(niah.uuid_keys, random);
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    keys.push_back(key);
    List& of_key = values.emplace_back();
    for (int i = 0; i < niah.values; ++i) {
      of_key.push_back(Value(niah.uuid_values, random));
      needles.push_back(NeedleText(niah.uuid_values, key, of_key.back()));
    }
  }
  random->Shuffle(&needles);
  Item item;
  List queries;
  const std::vector<uint64_t> order = random->Permutation(keys.size());
  for (int i = 0; i < niah.queries; ++i) {
    queries.push_back(keys[order[i]]);
    for (const std::string& value : values[order[i]]) {
      item.references.push_back(value);
    }
  }
  item.answer = absl::StrCat(" ", absl::StrJoin(item.references, ", "));
  const Frame frame = NiahFrame(niah, Listed(queries));
  int64_t room = bytes - Size(frame.before) - Size(frame.after);
  for (const std::string& needle : needles) room -= Size(needle) + 1;
  const List units =
      niah.haystack == Haystack::kNeedles
          ? OtherNeedles(niah, room, keys, random)
          : UnitsFor(room,
                     niah.haystack == Haystack::kNoise ? NoiseUnit : Sentence,
                     random);
  const List all = Hidden(units, needles,
                          Places(niah, needles.size(), units.size(), random));
  const bool lines = niah.haystack != Haystack::kSentences;
  SetPrompt(frame, absl::StrJoin(all, lines ? "\n" : " "), bytes, &item);
  return item;
}

template <Haystack kHaystack, bool kUuidKeys, bool kUuidValues>
Item Single(int64_t bytes, base::RandomSequence* random) {
  return DrawNiah({kHaystack, kUuidKeys, kUuidValues}, bytes, random);
}

template <int kKeys, int kValues, int kQueries>
Item Several(int64_t bytes, base::RandomSequence* random) {
  return DrawNiah(
      {Haystack::kSentences, false, false, kKeys, kValues, kQueries}, bytes,
      random);
}

// A value, and four names in turn that are given that of the one before.
Item VariableTracking(int64_t bytes, base::RandomSequence* random) {
  constexpr size_t kNames = 5;
  const std::string value = absl::StrCat(10000 + random->Int(89999));
  Item item;
  List chain;
  while (item.references.size() < kNames) {
    const std::string name = Letters('A', 5, random);
    List& names = item.references;
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    chain.push_back(absl::StrCat(
        "VAR ", name, " = ",
        names.empty() ? value : absl::StrCat("VAR ", names.back())));
    names.push_back(name);
  }
  item.answer = absl::StrJoin(item.references, " ");
  const Frame frame = {
      "Memorize and track the chain(s) of variable assignment hidden in the "
      "following text.\n\n",
      absl::StrCat(
          "\nQuestion: Find all variables that are assigned the value ", value,
          " in the text above. Answer: According to the chain(s) of "
          "variable assignment in the text above, ",
          kNames, " variables are assigned the value ", value, ", they are: ")};
  int64_t room = bytes - Size(frame.before) - Size(frame.after);
  for (const std::string& line : chain) room -= Size(line) + 1;
  const List units = UnitsFor(room, NoiseUnit, random);
  const Niah anywhere = {Haystack::kNoise};
  const List all = Hidden(units, chain,
                          Places(anywhere, chain.size(), units.size(), random));
  SetPrompt(frame, absl::StrJoin(all, "\n"), bytes, &item);
  return item;
}

struct WordCounts {
  int common;
  int other;
  int example_words;
  int example_common;
  int example_other;
};

constexpr size_t kNumCommon = 10;

std::string Numbered(const List& words) {
  List entries;
  for (size_t i = 0; i < words.size(); ++i) {
    entries.push_back(absl::StrCat(i + 1, ". ", words[i]));
  }
  return absl::StrJoin(entries, " ");
}

// The first words so often, the rest so often, in any order.
List Repeated(const List& words, int common, int other,
              base::RandomSequence* random) {
  List all;
  for (size_t i = 0; i < words.size(); ++i) {
    all.insert(all.end(), i < kNumCommon ? common : other, words[i]);
  }
  random->Shuffle(&all);
  return all;
}

// Words that are not among `used`, and are then.
List NewWords(size_t count, std::set<std::string>* used,
              base::RandomSequence* random) {
  List words;
  while (words.size() < count) {
    std::string word = CoinedWord(random);
    if (used->insert(word).second) words.push_back(std::move(word));
  }
  return words;
}

const char kCommonBefore[] =
    "Below is a numbered list of words. In these words, some appear more often "
    "than others. Memorize the ones that appear most often.\n";
const char kCommonAfter[] =
    "\nQuestion: What are the 10 most common words in the above list? Answer: "
    "The top 10 words that appear most often in the list are:";

// All words are of one length, so how many fit does not depend on which.
Item CommonWords(int64_t bytes, base::RandomSequence* random) {
  const WordCounts counts = bytes >= kManyWordsBytes
                                ? WordCounts{30, 3, 40, 10, 3}
                                : WordCounts{6, 1, 20, 3, 1};
  std::set<std::string> used;
  const List shown = NewWords(counts.example_words, &used, random);
  const List first(shown.begin(), shown.begin() + kNumCommon);
  const Frame frame = {
      absl::StrCat(kCommonBefore,
                   Numbered(Repeated(shown, counts.example_common,
                                     counts.example_other, random)),
                   kCommonAfter, " ", Numbered(first), "\n", kCommonBefore),
      kCommonAfter};
  int64_t room = bytes - Size(frame.before) - Size(frame.after);
  int entries = 0;
  const auto take = [&](int times) {
    for (int i = 0; i < times; ++i) {
      constexpr int64_t kWordAndMarks = 6 + 3;
      room -= Size(absl::StrCat(++entries)) + kWordAndMarks;
    }
    return room >= 0;
  };
  take(static_cast<int>(kNumCommon) * counts.common);
  List words = NewWords(kNumCommon, &used, random);
  Item item;
  item.references = words;
  item.answer = absl::StrCat(" ", Numbered(words));
  while (take(counts.other)) {
    words.push_back(NewWords(1, &used, random)[0]);
  }
  SetPrompt(frame,
            Numbered(Repeated(words, counts.common, counts.other, random)),
            bytes, &item);
  return item;
}

// How often the word of rank k comes in a text of so many words: its share
// under Zipf's law with exponent 2, 1 / (zeta(2) k^2), down to an integer.
int64_t ZipfCount(int64_t words, int64_t k) {
  constexpr int64_t kUnit = 10000000;
  constexpr int64_t kSharePerUnit = 6079271;
  return words * kSharePerUnit / (kUnit * k * k);
}

const char kDots[] = "...";
constexpr int kCodedLetters = 6;

int64_t CodedBytes(int64_t words, int64_t vocabulary) {
  int64_t bytes = 0;
  for (int64_t k = 1; k <= vocabulary && ZipfCount(words, k) > 0; ++k) {
    const int64_t letters = k == 1 ? 3 : kCodedLetters;
    bytes += ZipfCount(words, k) * (letters + 1);
  }
  return bytes;
}

// The first rank is noise, the next three are asked for.
Item FrequentWords(int64_t bytes, base::RandomSequence* random) {
  const Frame frame = {
      "Read the following coded text and track the frequency of each coded "
      "word. Find the three most frequently appeared coded words. ",
      "\nQuestion: Do not provide any explanation. Please ignore the dots "
      "'....'. What are the three most frequently appeared words in the above "
      "coded text? Answer: According to the coded text above, the three most "
      "frequently appeared words are:"};
  const int64_t room = bytes - Size(frame.before) - Size(frame.after);
  const int64_t vocabulary = bytes / 50;
  int64_t words = 0;
  for (int64_t step = int64_t{1} << 40; step > 0; step /= 2) {
    // Few enough that a share does not overflow.
    if (words + step > room) continue;
    if (CodedBytes(words + step, vocabulary) <= room) words += step;
  }
  List text, ranked = {kDots};
  for (int64_t k = 1; k <= vocabulary && ZipfCount(words, k) > 0; ++k) {
    while (static_cast<int64_t>(ranked.size()) < k) {
      std::string word = Letters('a', kCodedLetters, random);
      if (std::find(ranked.begin(), ranked.end(), word) == ranked.end()) {
        ranked.push_back(std::move(word));
      }
    }
    text.insert(text.end(), ZipfCount(words, k), ranked[k - 1]);
  }
  random->Shuffle(&text);
  Item item;
  item.references = List(ranked.begin() + 1, ranked.begin() + 4);
  item.answer = absl::StrCat(" ", absl::StrJoin(item.references, " "));
  SetPrompt(frame, absl::StrJoin(text, " "), bytes, &item);
  return item;
}

}  // namespace

const std::vector<RulerKind>& RulerKinds() {
  static const auto* const kinds = new std::vector<RulerKind>{
      {"cwe", 120, 101, 2048, CommonWords},
      {"fwe", 50, 21, 1024, FrequentWords},
      {"niah_multikey_1", 128, 8, 1024, Several<4, 1, 1>},
      {"niah_multikey_2", 128, 8, 1024,
       Single<Haystack::kNeedles, false, false>},
      {"niah_multikey_3", 128, 37, 1024,
       Single<Haystack::kNeedles, true, true>},
      {"niah_multiquery", 128, 35, 1024, Several<4, 1, 4>},
      {"niah_multivalue", 128, 35, 1024, Several<1, 4, 1>},
      {"niah_single_1", 128, 8, 1024, Single<Haystack::kNoise, false, false>},
      {"niah_single_2", 128, 8, 1024, Several<1, 1, 1>},
      {"niah_single_3", 128, 37, 1024,
       Single<Haystack::kSentences, false, true>},
      {"vt", 30, 29, 1024, VariableTracking},
  };
  return *kinds;
}

}  // namespace ordo::model::tasks::retrieval
