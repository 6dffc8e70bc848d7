#ifndef ORDO_REPORT_RUNS_RUNS_H_
#define ORDO_REPORT_RUNS_RUNS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "report/grid.h"
#include "report/lengths.h"
#include "report/metrics.h"
#include "report/page.h"
#include "report/runs/cells.h"
#include "report/runs/groups.h"
#include "report/runs/inside.h"
#include "report/source.h"

// The report on single jobs: what each task family shows best. Pure functions,
// thread-safe.

namespace ordo::report::runs {

// One evaluation of one model. Of what can be drawn it has what its task has.
struct Evaluated {
  Metrics metrics;
  // Of its job: "tape (position_size=16)", or empty.
  std::string encoding;
  // Its job, its one model and the command.
  FigureSource source;
  // Of addition.
  std::optional<Grid> grid;
  Lengths lengths;
  Cells cells;
  Groups groups;
  std::optional<Inside> inside;
};

// Takes what can be drawn from the files of an evaluation's report; without a
// result.json there is nothing. INVALID_ARGUMENT, with the field, where they
// are not as the trainer writes them.
absl::Status ReadFiles(const InsideFiles& files, Evaluated* evaluated);

// The training of one model.
struct Trained {
  std::string model;
  FigureSource source;
  // By step, nats per token.
  std::map<int64_t, double> losses;
  // Of its data, of text; or empty.
  std::string tokenizer = {};
};

struct Runs {
  std::vector<Evaluated> evaluations;
  std::vector<Trained> trained;
  // Notices of the jobs, each with its job's name: the lead of the page.
  std::vector<std::string> notices = {};
};

// Without the time at which it was made. Of addition heat maps and accuracy at
// equal lengths; of other evaluations that score lengths apart error or
// perplexity against length, or bits per byte where their tokenizers differ,
// the models of one evaluation together; heat maps of those that have cells;
// scores by group; what was seen inside; and the training losses, those of
// each tokenizer in a figure of their own. Every figure says what it was made
// of.
Page MakePage(const Runs& runs);

// A file name made of letters, digits and dashes.
std::string FileStem(const std::string& name);

}  // namespace ordo::report::runs

#endif  // ORDO_REPORT_RUNS_RUNS_H_
