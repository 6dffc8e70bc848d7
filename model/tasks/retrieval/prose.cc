#include "model/tasks/retrieval/prose.h"

#include <cstdint>
#include <iterator>

#include "absl/strings/str_cat.h"

namespace ordo::model::tasks::retrieval {
namespace {

constexpr const char* kAdjectives[] = {
    "amber",   "ancient", "bitter",  "blue",   "bold",    "brave",   "bright",
    "broad",   "calm",    "clever",  "cold",   "crisp",   "curious", "damp",
    "dark",    "deep",    "distant", "dusty",  "eager",   "early",   "empty",
    "faint",   "fierce",  "gentle",  "golden", "grand",   "gray",    "green",
    "heavy",   "hidden",  "hollow",  "humble", "idle",    "jagged",  "kind",
    "late",    "lively",  "lonely",  "loud",   "mellow",  "modest",  "narrow",
    "noble",   "odd",     "old",     "pale",   "patient", "plain",   "proud",
    "quiet",   "rapid",   "red",     "rough",  "silent",  "simple",  "slow",
    "strange", "tall",    "warm",    "young"};

constexpr const char* kNouns[] = {
    "anchor",  "baker",   "barrel", "basket",  "bell",     "boat",     "bridge",
    "candle",  "captain", "carpet", "castle",  "chair",    "clock",    "cloud",
    "coat",    "compass", "corner", "curtain", "door",     "engine",   "farmer",
    "fence",   "field",   "flag",   "forest",  "fountain", "garden",   "gate",
    "guest",   "hammer",  "harbor", "hill",    "island",   "kettle",   "ladder",
    "lantern", "letter",  "market", "meadow",  "mirror",   "mountain", "needle",
    "painter", "path",    "pillar", "river",   "road",     "roof",     "sailor",
    "shadow",  "singer",  "stone",  "teacher", "ticket",   "tower",    "valley",
    "village", "wagon",   "window", "winter"};

constexpr const char* kVerbs[] = {
    "admired", "avoided",  "carried",  "counted", "crossed",    "described",
    "drew",    "followed", "forgot",   "guarded", "measured",   "noticed",
    "painted", "passed",   "repaired", "reached", "remembered", "watched"};

constexpr const char* kPlaces[] = {"above",  "across", "behind", "below",
                                   "beside", "near",   "under",  "within"};

constexpr const char* kFoods[] = {
    "almonds", "apples", "barley",   "basil",     "butter",   "cabbage",
    "carrots", "cheese", "cherries", "chestnuts", "cinnamon", "cream",
    "fennel",  "figs",   "garlic",   "ginger",    "honey",    "lemons",
    "lentils", "mint",   "mustard",  "nutmeg",    "olives",   "onions",
    "parsley", "pepper", "raisins",  "saffron",   "spinach",  "thyme",
    "vanilla", "walnuts"};

constexpr char kConsonants[] = "bdfghjklmnprstvz";
constexpr char kVowels[] = "aeiou";

template <size_t kSize>
std::string Draw(const char* const (&words)[kSize],
                 base::RandomSequence* random) {
  return words[random->Int(kSize)];
}

}  // namespace

std::string Sentence(base::RandomSequence* random) {
  std::string text = absl::StrCat("The ", Draw(kAdjectives, random));
  absl::StrAppend(&text, " ", Draw(kNouns, random));
  absl::StrAppend(&text, " ", Draw(kVerbs, random));
  absl::StrAppend(&text, " the ", Draw(kNouns, random));
  absl::StrAppend(&text, " ", Draw(kPlaces, random));
  absl::StrAppend(&text, " the ", Draw(kAdjectives, random));
  absl::StrAppend(&text, " ", Draw(kNouns, random), ".");
  return text;
}

std::string AdjectiveNoun(base::RandomSequence* random) {
  const std::string adjective = Draw(kAdjectives, random);
  return absl::StrCat(adjective, "-", Draw(kNouns, random));
}

std::vector<std::string> Foods(size_t count, base::RandomSequence* random) {
  std::vector<std::string> foods;
  for (const uint64_t number : random->Permutation(std::size(kFoods))) {
    if (foods.size() < count) foods.emplace_back(kFoods[number]);
  }
  return foods;
}

std::string CoinedWord(base::RandomSequence* random) {
  std::string word;
  for (int i = 0; i < 3; ++i) {
    word.push_back(kConsonants[random->Int(std::size(kConsonants) - 1)]);
    word.push_back(kVowels[random->Int(std::size(kVowels) - 1)]);
  }
  return word;
}

std::string Uuid(base::RandomSequence* random) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string uuid;
  for (int i = 0; i < 36; ++i) {
    if (i == 8 || i == 13 || i == 18 || i == 23) {
      uuid.push_back('-');
    } else if (i == 14) {
      uuid.push_back('4');
    } else if (i == 19) {
      // The variant.
      uuid.push_back(kDigits[8 + random->Int(4)]);
    } else {
      uuid.push_back(kDigits[random->Int(16)]);
    }
  }
  return uuid;
}

std::string Letters(char first, int count, base::RandomSequence* random) {
  std::string letters;
  for (int i = 0; i < count; ++i) {
    letters.push_back(static_cast<char>(first + random->Int(26)));
  }
  return letters;
}

std::string Noise() {
  return "The grass is green. The sky is blue. The sun is yellow. Here we go. "
         "There and back again.";
}

}  // namespace ordo::model::tasks::retrieval
