#ifndef ORDO_REPORT_GRID_H_
#define ORDO_REPORT_GRID_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "report/statistics.h"

namespace ordo::report {

// Whose results are grids.
inline constexpr char kGridTask[] = "addition_grid";

// Exact matches over the lengths of two operands: the result of one evaluation
// `addition_grid`.
struct Grid {
  // Title for people, such as the job's id.
  std::string name;
  std::string checkpoint;
  int64_t step = 0;
  // Both operands have 1 .. max_digits digits.
  int max_digits = 0;
  // Longest operands in training; 0 when that is not known.
  int trained_digits = 0;
  // Samples per cell.
  int samples = 0;
  // Samples answered right, [digits of A - 1][digits of B - 1].
  std::vector<std::vector<int>> right;

  // Share of right answers of a cell; digits from 1.
  double At(int digits_a, int digits_b) const {
    return static_cast<double>(right[digits_a - 1][digits_b - 1]) / samples;
  }
};

// Largest grid that is read, and so drawn.
inline constexpr int kMaxGridDigits = 200;

// Reads a result.json of task `addition_grid`. INVALID_ARGUMENT names the field
// that is missing, has another type or shape, or is out of range: nothing is
// drawn from a file that is not whole. Further fields are ignored.
absl::StatusOr<Grid> ParseGrid(std::string_view json);

// A part of the grid, its samples pooled. The interval is of the sampling of
// questions alone: it says nothing about other seeds of training.
struct GridScore {
  // "all lengths".
  std::string label;
  int64_t right = 0;
  int64_t samples = 0;
  Share share;
};

struct GridSummary {
  GridScore all;
  // Lengths of training, and the others; no samples when that is not known.
  GridScore trained;
  GridScore outside;
  GridScore diagonal;
  // Largest n of which n digits plus n digits is right in 95 % of the samples,
  // 0 if there is none.
  int largest_95 = 0;
};
GridSummary Summarize(const Grid& grid);

// "53.1 % [50.2, 56.0]"; "-" without samples.
std::string ShareText(const GridScore& score);

}  // namespace ordo::report

#endif  // ORDO_REPORT_GRID_H_
