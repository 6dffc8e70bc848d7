#ifndef ORDO_SERVICES_CLI_LIVE_VIEW_H_
#define ORDO_SERVICES_CLI_LIVE_VIEW_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "services/cli/context.h"
#include "services/cli/follow.h"
#include "services/cli/sparkline.h"

namespace ordo::services::cli {

// Parts of sweeps, comparisons and pipelines by the name of their parent, as
// last listed.
using PartsByParent = std::map<std::string, std::vector<jobs::v1::Job>>;

// Shows how jobs go: a line for each job, redrawn in place, on a terminal; else
// a line at each change of state and now and then at progress. Writes to
// context.out, or to context.err when the output is to be read by a program.
//
// The line of a parent counts its parts by state; on a terminal a line for each
// part that runs follows. Of one job without parts the losses that were seen
// are a sparkline below it. What does not fit the terminal's height is left out
// and counted. A terminal that is resized is taken to wrap anew what stands on
// it, as most do.
class LiveView {
 public:
  // Without a terminal, progress of a job is shown at most this often.
  static constexpr absl::Duration kPlainPeriod = absl::Seconds(10);

  explicit LiveView(Context& context) : context_(context) {}

  void Update(const std::vector<FollowedJob>& jobs,
              const PartsByParent& parts = {});

 private:
  struct Shown {
    std::string state;
    // Of the progress that was shown.
    std::string mark;
    absl::Duration at = -absl::InfiniteDuration();
  };

  std::vector<std::string> Lines(const std::vector<FollowedJob>& jobs,
                                 const PartsByParent& parts) const;
  void NoteLoss(const jobs::v1::Job& job);
  void Redraw(std::vector<std::string> lines);
  // Of the terminal, that the block takes.
  int NumRows() const;
  void PrintNews(const std::vector<FollowedJob>& jobs,
                 const PartsByParent& parts);

  Context& context_;
  // Columns of each line of the block that is on the terminal.
  std::vector<int> widths_;
  std::vector<Shown> shown_;
  // Of the only job.
  History losses_;
  int64_t last_loss_step_ = -1;
};

// The line of one job, at most `terminal.width` columns; names are padded to
// `name_width`.
std::string LiveLine(const FollowedJob& job, int name_width,
                     const Terminal& terminal);

// "step 450/1000  loss 1.234  12.3k tokens/s  1m20s left"; empty when the job
// has not told of a step.
std::string ProgressText(const jobs::v1::Job& job);

// "6 parts: 2 SUCCEEDED, 1 RUNNING, 3 CANCELLED (2 stopped early)".
std::string PartsText(const std::vector<jobs::v1::Job>& parts);

// "  loss 3.2100 [sparkline] 1.2500" from the first to the last, at most
// `terminal.width` columns; empty of fewer than two, and where there is no
// room.
std::string LossLine(const std::vector<double>& losses,
                     const Terminal& terminal);

// "[#####.....]", `share` in [0, 1].
std::string Bar(double share, int width);

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_LIVE_VIEW_H_
