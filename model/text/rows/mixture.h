#ifndef ORDO_MODEL_TEXT_ROWS_MIXTURE_H_
#define ORDO_MODEL_TEXT_ROWS_MIXTURE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace ordo::model::text::rows {

// What rows are taken from.
struct Source {
  // Its rows' order depends on it, and not on which sources stand beside it.
  std::string name;
  // Its share of the rows is its weight by the sum of all.
  double weight = 1;
  // 1 and more.
  uint64_t num_rows = 0;
};

// An endless stream of rows of several sources: each takes turns by its weight,
// and in each of its epochs has every row once, in an order of its own.
// Immutable, thread-safe.
class Mixture {
 public:
  // Weights are rounded to so many turns; after these the turns begin again.
  static constexpr uint64_t kNumTurns = 10000;

  // INVALID_ARGUMENT, with the field as in sources[1].weight: there is no
  // source, one has no rows, a name is there twice, or a weight is not positive
  // or so small that it has no turn.
  static absl::StatusOr<Mixture> Create(const std::vector<Source>& sources);

  struct Place {
    // Index of the source, and of a row in it.
    size_t source = 0;
    uint64_t row = 0;
    // How often all of the source's rows have been before.
    uint64_t epoch = 0;
  };
  // Where row `index` of the stream of `seed` is found: a pure function, which
  // takes no longer for later rows. So `index` is all that a cursor holds. Of
  // any first k turns a source has its share, but for fewer rows than there are
  // sources, or one.
  Place Find(uint64_t seed, uint64_t index) const;

 private:
  struct Turn {
    uint32_t source = 0;
    // Turns of the source before this one.
    uint32_t before = 0;
  };

  Mixture() = default;

  std::vector<Source> sources_;
  // Of each source, in all.
  std::vector<uint64_t> num_turns_;
  // kNumTurns.
  std::vector<Turn> turns_;
};

}  // namespace ordo::model::text::rows

#endif  // ORDO_MODEL_TEXT_ROWS_MIXTURE_H_
