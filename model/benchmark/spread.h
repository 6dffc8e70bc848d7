#ifndef ORDO_MODEL_BENCHMARK_SPREAD_H_
#define ORDO_MODEL_BENCHMARK_SPREAD_H_

#include <string>
#include <vector>

// How tables for people show samples: their median, and below it from where to
// where they are.

namespace ordo::model::benchmark {

// "12.3" and "11.9..14.0".
struct SpreadText {
  std::string median;
  std::string range;
};

// Of samples times `scale`, which are 0 or more: at most `max_decimals`, fewer
// where four digits do without; "-" where there are no samples.
SpreadText SpreadOf(const std::vector<double>& samples, double scale = 1,
                    int max_decimals = 3);

// Two lines of a table, with a cell of each above one of the other.
class LinePair {
 public:
  // Aligned to the right; of a negative width, to the left.
  void Add(int width, const std::string& above, const std::string& below = "");
  void Add(int width, const SpreadText& spread);

  // Without spaces at their ends, and the second only if something is there.
  std::string text() const;

 private:
  std::string above_;
  std::string below_;
};

}  // namespace ordo::model::benchmark

#endif  // ORDO_MODEL_BENCHMARK_SPREAD_H_
