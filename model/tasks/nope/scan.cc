#include "model/tasks/nope/scan.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"

namespace ordo::model::tasks::nope {
namespace {

using List = std::vector<std::string>;

struct Phrase {
  std::string text;
  List actions;
};

List Times(int times, const List& actions) {
  List all;
  for (int i = 0; i < times; ++i) {
    all.insert(all.end(), actions.begin(), actions.end());
  }
  return all;
}

// What is done in a direction, by a verb or, where it is "turn", by none.
void AddTurns(const std::string& verb, const List& action,
              std::vector<Phrase>* phrases) {
  for (const auto& [direction, turn] :
       {std::pair("left", "Left"), std::pair("right", "Right")}) {
    List once = {turn};
    once.insert(once.end(), action.begin(), action.end());
    List opposite = {turn};
    opposite.insert(opposite.end(), once.begin(), once.end());
    phrases->push_back({absl::StrCat(verb, " ", direction), once});
    phrases->push_back({absl::StrCat(verb, " opposite ", direction), opposite});
    phrases->push_back(
        {absl::StrCat(verb, " around ", direction), Times(4, once)});
  }
}

// What may stand on either side of "and" and "after".
std::vector<Phrase> MakePhrases() {
  std::vector<Phrase> verbs;
  for (const auto& [verb, action] :
       {std::pair("walk", "Walk"), std::pair("look", "Look"),
        std::pair("run", "Run"), std::pair("jump", "Jump")}) {
    verbs.push_back({verb, {action}});
    AddTurns(verb, {action}, &verbs);
  }
  AddTurns("turn", {}, &verbs);
  std::vector<Phrase> phrases;
  for (const Phrase& verb : verbs) {
    phrases.push_back(verb);
    phrases.push_back(
        {absl::StrCat(verb.text, " twice"), Times(2, verb.actions)});
    phrases.push_back(
        {absl::StrCat(verb.text, " thrice"), Times(3, verb.actions)});
  }
  return phrases;
}

enum class Joint { kNone, kAnd, kAfter };

// Two phrases, the second of which counts if there is a joint.
struct Command {
  int actions;
  int first;
  Joint joint;
  int second;
};

struct Language {
  std::vector<Phrase> phrases;
  // By their actions; among equals in the order of phrases.
  std::vector<Command> commands;
};

const Language& Scan() {
  static const auto* const language = [] {
    auto* result = new Language;
    result->phrases = MakePhrases();
    const int num_phrases = static_cast<int>(result->phrases.size());
    const auto actions = [&](int phrase) {
      return static_cast<int>(result->phrases[phrase].actions.size());
    };
    for (int i = 0; i < num_phrases; ++i) {
      result->commands.push_back({actions(i), i, Joint::kNone, 0});
      for (int j = 0; j < num_phrases; ++j) {
        for (const Joint joint : {Joint::kAnd, Joint::kAfter}) {
          result->commands.push_back({actions(i) + actions(j), i, joint, j});
        }
      }
    }
    std::stable_sort(result->commands.begin(), result->commands.end(),
                     [](const Command& a, const Command& b) {
                       return a.actions < b.actions;
                     });
    ORDO_CHECK(static_cast<int64_t>(result->commands.size()) == kNumCommands);
    return result;
  }();
  return *language;
}

// How many commands have fewer actions.
int64_t NumBelow(int actions) {
  const std::vector<Command>& commands = Scan().commands;
  return std::lower_bound(commands.begin(), commands.end(), actions,
                          [](const Command& command, int limit) {
                            return command.actions < limit;
                          }) -
         commands.begin();
}

}  // namespace

CommandRange CommandsOf(int fewest, int most) {
  ORDO_CHECK(fewest >= 1 && fewest <= most && most <= kMaxActions)
      << fewest << " to " << most;
  const int64_t first = NumBelow(fewest);
  const int next = Scan().commands[first].actions;
  return {first, NumBelow(std::max(most, next) + 1)};
}

std::vector<int> ActionCounts(const CommandRange& range) {
  std::vector<int> counts;
  for (int64_t number = range.first; number < range.end; ++number) {
    const int actions = Scan().commands[number].actions;
    if (counts.empty() || counts.back() < actions) counts.push_back(actions);
  }
  return counts;
}

Item CommandAt(int64_t number) {
  ORDO_CHECK(number >= 0 && number < kNumCommands) << number;
  const Command& command = Scan().commands[number];
  const Phrase& first = Scan().phrases[command.first];
  const Phrase& second = Scan().phrases[command.second];
  std::string text = first.text;
  std::string actions = absl::StrJoin(first.actions, " ");
  const std::string others = absl::StrJoin(second.actions, " ");
  if (command.joint == Joint::kAnd) {
    absl::StrAppend(&text, " and ", second.text);
    absl::StrAppend(&actions, " ", others);
  } else if (command.joint == Joint::kAfter) {
    absl::StrAppend(&text, " after ", second.text);
    actions = absl::StrCat(others, " ", actions);
  }
  return {absl::StrCat("Solve: ", text, " [SEP]"), actions};
}

const List& ScanWords() {
  static const auto* const words = new List{
      "Solve:", "[SEP]", "walk",   "look",     "run",   "jump",   "turn",
      "left",   "right", "around", "opposite", "twice", "thrice", "and",
      "after",  "Walk",  "Look",   "Run",      "Jump",  "Left",   "Right"};
  return *words;
}

}  // namespace ordo::model::tasks::nope
