#ifndef ORDO_REPORT_RUNS_INSIDE_H_
#define ORDO_REPORT_RUNS_INSIDE_H_

#include <cstddef>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "report/page.h"

// What was seen inside of a model: the reports of stability, attention_map and
// position_similarity, and their figures. Pure functions, thread-safe.

namespace ordo::report::runs {

inline constexpr char kMapsFile[] = "maps.csv";
inline constexpr char kCurvesFile[] = "curves.csv";

// The files of a report, as text; those that it does not have are empty.
struct InsideFiles {
  std::string result;
  std::string maps;
  std::string curves;
  // items.jsonl.
  std::string items = {};
};

// A number for each query and key, both from 1.
struct SeenMap {
  // "full", "position_only" or "similarity".
  std::string source;
  int layer = 0;
  // 0: the mean over all.
  int head = 0;
  // [query - 1][key - 1]; what the file leaves out is 0.
  std::vector<std::vector<double>> rows;
};

// A mean over texts.
struct SeenMean {
  double mean = 0;
  // Half of its 95 % interval over another draw of texts: Student's. Infinite
  // where it is not known: of a single text, or of texts that are all alike.
  double half_width = std::numeric_limits<double>::infinity();
};

struct Inside {
  // "shift_attention" and the like, by layer.
  std::map<std::string, std::map<int, SeenMean>> numbers;
  std::vector<SeenMap> maps;
  // Keys with an end of a line, and in a title.
  std::vector<int> newlines;
  std::vector<int> titles;
  // By layer: the value at each distance, from 0.
  std::map<int, std::map<int, SeenMean>> curves;
};

// Whether a task looks inside.
bool LooksInside(std::string_view task);

// INVALID_ARGUMENT with the file and line, or the field, that is not as the
// trainer writes them.
absl::StatusOr<Inside> ParseInside(const InsideFiles& files);

// Beyond these maps have no figure; the file has them.
inline constexpr size_t kMaxMapFigures = 16;

// The figures of what was seen of the model called `title`; their names begin
// with `stem`.
std::vector<NamedFigure> InsideFigures(const Inside& inside,
                                       const std::string& title,
                                       const std::string& stem);

}  // namespace ordo::report::runs

#endif  // ORDO_REPORT_RUNS_INSIDE_H_
