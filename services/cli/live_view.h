#ifndef ORDO_SERVICES_CLI_LIVE_VIEW_H_
#define ORDO_SERVICES_CLI_LIVE_VIEW_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "services/cli/context.h"
#include "services/cli/follow.h"

namespace ordo::services::cli {

// Shows how jobs go: a line for each job, redrawn in place, on a terminal; else
// a line at each change of state and now and then at progress. Writes to
// context.out, or to context.err when the output is to be read by a program.
class LiveView {
 public:
  // Without a terminal, progress of a job is shown at most this often.
  static constexpr absl::Duration kPlainPeriod = absl::Seconds(10);

  explicit LiveView(Context& context) : context_(context) {}

  void Update(const std::vector<FollowedJob>& jobs);

 private:
  struct Shown {
    std::string state;
    int64_t step = -1;
    absl::Duration at = -absl::InfiniteDuration();
  };

  void Redraw(const std::vector<FollowedJob>& jobs);
  void PrintNews(const std::vector<FollowedJob>& jobs);

  Context& context_;
  int num_lines_ = 0;  // Of the block that is on the terminal.
  std::vector<Shown> shown_;
};

// The line of one job, at most `terminal.width` columns; names are padded to
// `name_width`.
std::string LiveLine(const FollowedJob& job, int name_width,
                     const Terminal& terminal);

// "step 450/1000  loss 1.234  12.3k tokens/s  1m20s left"; empty when the job
// has not told of a step.
std::string ProgressText(const jobs::v1::Job& job);

// "[#####.....]", `share` in [0, 1].
std::string Bar(double share, int width);

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_LIVE_VIEW_H_
