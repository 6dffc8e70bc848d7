#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/tasks/retrieval/items.h"
#include "model/tasks/retrieval/prose.h"

namespace ordo::model::tasks::retrieval {

Item DrawNeedle(int64_t bytes, int depth, base::RandomSequence* random) {
  Item item;
  item.references = Foods(3, random);
  item.answer = absl::StrCat(" ", item.references[0], ", ", item.references[1],
                             " and ", item.references[2]);
  std::string town = CoinedWord(random);
  town[0] = absl::ascii_toupper(town[0]);
  const std::string fact =
      absl::StrCat("The best pie of ", town, " is made of", item.answer, ".");
  const Frame frame = {"Read this text; a question about it follows.\n",
                       absl::StrCat("\nQuestion: What is the best pie of ",
                                    town, " made of? Answer: It is made of")};
  const int64_t room =
      bytes - static_cast<int64_t>(frame.before.size() + frame.after.size() +
                                   fact.size() + 1);
  std::vector<std::string> units = UnitsFor(room, Sentence, random);
  int64_t size = 0;
  for (const std::string& unit : units) {
    size += static_cast<int64_t>(unit.size()) + 1;
  }
  // The last sentence that ends within the depth.
  size_t before = 0;
  int64_t end = 0;
  while (before < units.size()) {
    end += static_cast<int64_t>(units[before].size()) + 1;
    if (end > size * depth / 100) break;
    ++before;
  }
  units.insert(units.begin() + static_cast<int64_t>(before), fact);
  SetPrompt(frame, absl::StrJoin(units, " "), bytes, &item);
  return item;
}

}  // namespace ordo::model::tasks::retrieval
