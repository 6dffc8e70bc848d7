#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "model/tasks/retrieval/items.h"

namespace ordo::model::tasks::retrieval {

std::string Framed(const Frame& frame, std::string_view text, int64_t bytes) {
  const auto used = static_cast<int64_t>(frame.before.size() + text.size() +
                                         frame.after.size());
  ORDO_CHECK(used <= bytes) << used << " bytes into " << bytes;
  return absl::StrCat(frame.before, std::string(text),
                      std::string(static_cast<size_t>(bytes - used), ' '),
                      frame.after);
}

void SetPrompt(const Frame& frame, std::string_view text, int64_t bytes,
               Item* item) {
  item->prompt = Framed(frame, text, bytes);
  item->question_begin = item->prompt.size() - frame.after.size();
}

std::vector<std::string> UnitsFor(
    int64_t room, std::string (*draw)(base::RandomSequence* random),
    base::RandomSequence* random) {
  std::vector<std::string> units;
  while (true) {
    std::string unit = draw(random);
    room -= static_cast<int64_t>(unit.size()) + 1;
    if (room < 0) return units;
    units.push_back(std::move(unit));
  }
}

}  // namespace ordo::model::tasks::retrieval
