#include "services/cli/live_view.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "base/units/proto_time.h"
#include "base/units/units.h"
#include "services/cli/names.h"
#include "services/cli/print.h"

namespace ordo::services::cli {
namespace {

constexpr int kBarWidth = 20;
constexpr int kLeastBarWidth = 4;

double Share(const jobs::v1::Job& job) {
  const jobs::v1::Progress& progress = job.progress();
  if (job.state() == jobs::v1::Job::SUCCEEDED) return 1;
  if (progress.evaluation_total() > 0) {
    return static_cast<double>(progress.evaluation_done()) /
           progress.evaluation_total();
  }
  if (progress.total_steps() <= 0) return 0;
  return static_cast<double>(progress.step()) / progress.total_steps();
}

// How the last attempt, or the job, explains itself.
std::string Remark(const FollowedJob& job) {
  if (!job.connected) return "(no answer from the scheduler, trying again)";
  if (job.job.state() == jobs::v1::Job::SUCCEEDED) {
    if (!job.job.has_start_time() || !job.job.has_end_time()) return "";
    return absl::StrCat(
        "in ", base::HumanDuration(base::ToTime(job.job.end_time()) -
                                   base::ToTime(job.job.start_time())));
  }
  return job.job.message();
}

std::string StateName(const FollowedJob& job) {
  return job.job.name().empty() ? "?" : StateCell(job.job.state()).text;
}

// The widest state but CANCELLING, which is short-lived.
constexpr int kStateWidth = 9;

// Bar, per cent and text in at most `room` columns: the bar gives way first,
// then the per cent, then the text's blanks and long words.
std::string Tail(double share, const std::string& text, int room) {
  const std::string percent =
      absl::StrFormat(" %3d%%  ", static_cast<int>(share * 100));
  const int spare = room - DisplayWidth(percent) - DisplayWidth(text) - 2;
  if (spare >= kLeastBarWidth) {
    return Bar(share, std::min(spare, kBarWidth)) + percent + text;
  }
  const std::string brief = absl::StrReplaceAll(
      text, {{"  ", " "}, {"step ", ""}, {"tokens/s", "tok/s"}});
  const int bar =
      std::clamp(room - DisplayWidth(brief) - 3, kLeastBarWidth, kBarWidth);
  return Truncate(Bar(share, bar) + " " + brief, room);
}

}  // namespace

std::string Bar(double share, int width) {
  const int full = std::clamp(static_cast<int>(share * width), 0, width);
  return "[" + std::string(full, '#') + std::string(width - full, '.') + "]";
}

std::string ProgressText(const jobs::v1::Job& job) {
  if (job.state() != jobs::v1::Job::RUNNING || !job.has_progress()) return "";
  const jobs::v1::Progress& progress = job.progress();
  if (!progress.evaluation().empty()) {
    const bool is_benchmark = job.spec().kind() == jobs::v1::JobSpec::BENCHMARK;
    return absl::StrCat(is_benchmark ? "measuring " : "evaluating ",
                        progress.evaluation(), " ", progress.evaluation_done(),
                        "/", progress.evaluation_total());
  }
  if (progress.total_steps() == 0) return "";
  std::string text =
      absl::StrCat("step ", progress.step(), "/", progress.total_steps());
  if (progress.step() > 0) {
    absl::StrAppendFormat(&text, "  loss %.4f  %s tokens/s", progress.loss(),
                          base::HumanCount(progress.tokens_per_second()));
  }
  if (progress.step_seconds() > 0) {
    absl::StrAppend(
        &text, "  ",
        base::HumanDuration(absl::Seconds(progress.step_seconds()) *
                            (progress.total_steps() - progress.step())),
        " left");
  }
  return text;
}

std::string LiveLine(const FollowedJob& job, int name_width,
                     const Terminal& terminal) {
  const std::string name = ShortName(job.name);
  const Cell state =
      job.job.name().empty() ? Cell("") : StateCell(job.job.state());
  std::string rest = ProgressText(job.job);
  const std::string remark = rest.empty() || !job.connected ? Remark(job) : "";
  if (!remark.empty()) rest = remark;

  const std::string head =
      name + std::string(std::max(0, name_width - DisplayWidth(name)), ' ') +
      "  ";
  const std::string state_padding(
      std::max(0, kStateWidth - DisplayWidth(state.text)), ' ');
  // Colour codes take no columns, so the parts are cut before they are painted.
  const int room = terminal.width - DisplayWidth(head) -
                   DisplayWidth(state.text) - DisplayWidth(state_padding) - 1;
  if (room <= 0) return Truncate(head + state.text, terminal.width);
  return head + Paint(terminal, state.color, state.text) + state_padding + " " +
         Tail(Share(job.job), Printable(rest), room);
}

void LiveView::Update(const std::vector<FollowedJob>& jobs) {
  if (context_.terminal.interactive && context_.output == OutputForm::kTable) {
    Redraw(jobs);
  } else {
    PrintNews(jobs);
  }
}

void LiveView::Redraw(const std::vector<FollowedJob>& jobs) {
  int name_width = 0;
  for (const FollowedJob& job : jobs) {
    name_width = std::max(name_width, DisplayWidth(ShortName(job.name)));
  }
  std::string text;
  if (num_lines_ > 0) text = absl::StrCat("\x1b[", num_lines_, "A");
  for (const FollowedJob& job : jobs) {
    absl::StrAppend(&text, "\r", LiveLine(job, name_width, context_.terminal),
                    "\x1b[K\n");
  }
  num_lines_ = static_cast<int>(jobs.size());
  context_.out << text << std::flush;
}

void LiveView::PrintNews(const std::vector<FollowedJob>& jobs) {
  std::ostream& stream =
      context_.output == OutputForm::kTable ? context_.out : context_.err;
  const absl::Duration now = context_.clock.Monotonic();
  shown_.resize(jobs.size());
  for (size_t i = 0; i < jobs.size(); ++i) {
    Shown& shown = shown_[i];
    const std::string state =
        absl::StrCat(StateName(jobs[i]), jobs[i].connected ? "" : "?");
    const std::string progress = ProgressText(jobs[i].job);
    const int64_t step = jobs[i].job.progress().step() +
                         jobs[i].job.progress().evaluation_done();
    const bool news = state != shown.state;
    if (!news && (progress.empty() || step == shown.step ||
                  now - shown.at < kPlainPeriod)) {
      continue;
    }
    if (jobs[i].job.name().empty() && jobs[i].connected) continue;
    shown = {state, step, now};
    const std::string remark =
        progress.empty() || !jobs[i].connected ? Remark(jobs[i]) : progress;
    stream << ShortName(jobs[i].name) << " " << StateName(jobs[i])
           << (remark.empty() ? "" : "  ") << Printable(remark) << std::endl;
  }
}

}  // namespace ordo::services::cli
