#include "model/tasks/ruoss/items.h"

#include <utility>

#include "base/check.h"

namespace ordo::model::tasks::ruoss {
namespace {

// Ends the output of tasks whose outputs have no fixed length.
constexpr int64_t kEndMark = 2;

}  // namespace

int One(int /*n*/) { return 1; }
int Same(int n) { return n; }
int OneMore(int n) { return n + 1; }

std::vector<Kind> Kinds() {
  std::vector<Kind> all;
  for (const auto* level :
       {&RegularKinds(), &ContextFreeKinds(), &ContextSensitiveKinds()}) {
    all.insert(all.end(), level->begin(), level->end());
  }
  return all;
}

Kind KindOf(std::string_view name) {
  for (const Kind& kind : Kinds()) {
    if (kind.name == name) return kind;
  }
  ORDO_CHECK(false) << std::string(name) << " is none of the fifteen";
}

std::vector<int64_t> DrawDigits(int count, int kinds,
                                base::RandomSequence* random) {
  std::vector<int64_t> digits;
  for (int i = 0; i < count; ++i) {
    digits.push_back(static_cast<int64_t>(random->Int(kinds)));
  }
  return digits;
}

Item AllMeasured(std::vector<int64_t> input, std::vector<int64_t> output) {
  const size_t num_measured = output.size();
  return {std::move(input), std::move(output), num_measured};
}

Item Marked(std::vector<int64_t> input, std::vector<int64_t> output,
            int num_outputs) {
  output.push_back(kEndMark);
  const size_t num_measured = output.size();
  ORDO_CHECK(num_measured <= static_cast<size_t>(num_outputs));
  output.resize(num_outputs, 0);
  return {std::move(input), std::move(output), num_measured};
}

}  // namespace ordo::model::tasks::ruoss
