#include "services/cli/live_view.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "base/units/proto_time.h"
#include "base/units/units.h"
#include "services/cli/names.h"
#include "services/cli/print.h"

namespace ordo::services::cli {
namespace {

constexpr int kBarWidth = 20;
constexpr int kLeastBarWidth = 4;
constexpr int kMaxSparklineWidth = 60;
constexpr int kLeastSparklineWidth = 4;
constexpr char kIndent[] = "  ";
// Job.reason of a part that was behind the others.
constexpr char kStoppedEarly[] = "STOPPED_EARLY";

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

// When the job itself or the first of its parts started.
// REQUIRES: the job has a start time.
absl::Time StartOf(const jobs::v1::Job& job,
                   const std::vector<jobs::v1::Job>& parts) {
  absl::Time start = base::ToTime(job.start_time());
  for (const jobs::v1::Job& part : parts) {
    if (!part.has_start_time()) continue;
    start = std::min(start, base::ToTime(part.start_time()));
  }
  return start;
}

// How the last attempt, or the job, explains itself.
std::string Remark(const FollowedJob& job,
                   const std::vector<jobs::v1::Job>& parts = {}) {
  if (!job.connected) return "(no answer from the scheduler, trying again)";
  if (job.job.state() == jobs::v1::Job::SUCCEEDED) {
    // The verdict.
    const bool is_gate = job.job.spec().kind() == jobs::v1::JobSpec::GATE;
    const std::string verdict = is_gate ? job.job.message() : "";
    if (!job.job.has_start_time() || !job.job.has_end_time()) return verdict;
    return absl::StrCat(verdict, verdict.empty() ? "" : "  ", "in ",
                        base::HumanDuration(base::ToTime(job.job.end_time()) -
                                            StartOf(job.job, parts)));
  }
  return job.job.message();
}

std::string StateName(const FollowedJob& job) {
  return job.job.name().empty() ? "?" : StateCell(job.job.state()).text;
}

// In which states are counted.
constexpr jobs::v1::Job::State kStates[] = {
    jobs::v1::Job::SUCCEEDED,  jobs::v1::Job::FAILED,
    jobs::v1::Job::CANCELLED,  jobs::v1::Job::RUNNING,
    jobs::v1::Job::CANCELLING, jobs::v1::Job::STARTING,
    jobs::v1::Job::QUEUED};

bool IsOnAWorker(const jobs::v1::Job& job) {
  return job.state() != jobs::v1::Job::QUEUED && !HasEnded(job.state());
}

// Null of a job without parts that are known.
const std::vector<jobs::v1::Job>* PartsOf(const FollowedJob& job,
                                          const PartsByParent& parts) {
  const auto found = parts.find(job.name);
  return found == parts.end() || found->second.empty() ? nullptr
                                                       : &found->second;
}

// How far the parts are, each counting the same.
double ShareOf(const std::vector<jobs::v1::Job>& parts) {
  double sum = 0;
  for (const jobs::v1::Job& part : parts) {
    sum += HasEnded(part.state()) ? 1 : Share(part);
  }
  return sum / static_cast<double>(parts.size());
}

// What a parent that does nothing itself says: its parts, and how it ended.
std::string ParentText(const FollowedJob& job,
                       const std::vector<jobs::v1::Job>& parts) {
  if (!job.connected) return Remark(job);
  const std::string remark =
      HasEnded(job.job.state()) ? Remark(job, parts) : "";
  return absl::StrCat(PartsText(parts), remark.empty() ? "" : "  ", remark);
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

// What the line of a job shows.
struct Row {
  const FollowedJob& job;
  double share = 0;
  std::string text;
};

std::string RowText(const Row& row, int name_width, const Terminal& terminal) {
  const std::string name = ShortName(row.job.name);
  const jobs::v1::Job& job = row.job.job;
  const Cell state = job.name().empty() ? Cell("") : StateCell(job.state());
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
         Tail(row.share, Printable(row.text), room);
}

// Columns of a line that may have colours, which take none.
int PaintedWidth(const std::string& line) {
  std::string plain;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b') {
      i = std::min(line.find('m', i), line.size());
    } else {
      plain += line[i];
    }
  }
  return DisplayWidth(plain);
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
  std::string text = ProgressText(job.job);
  const std::string remark = text.empty() || !job.connected ? Remark(job) : "";
  if (!remark.empty()) text = remark;
  return RowText({job, Share(job.job), text}, name_width, terminal);
}

std::string PartsText(const std::vector<jobs::v1::Job>& parts) {
  std::vector<std::string> counts;
  for (const jobs::v1::Job::State state : kStates) {
    const auto count =
        std::count_if(parts.begin(), parts.end(),
                      [&](const auto& part) { return part.state() == state; });
    if (count == 0) continue;
    std::string text = absl::StrCat(count, " ", StateCell(state).text);
    const auto stopped = std::count_if(
        parts.begin(), parts.end(), [&](const jobs::v1::Job& part) {
          return part.state() == state && part.reason() == kStoppedEarly;
        });
    if (stopped > 0) absl::StrAppend(&text, " (", stopped, " stopped early)");
    counts.push_back(std::move(text));
  }
  return absl::StrCat(parts.size(), parts.size() == 1 ? " part: " : " parts: ",
                      absl::StrJoin(counts, ", "));
}

std::string LossLine(const std::vector<double>& losses,
                     const Terminal& terminal) {
  if (losses.size() < 2) return "";
  const std::string before =
      absl::StrFormat("%sloss %.4f ", kIndent, losses.front());
  const std::string after = absl::StrFormat(" %.4f", losses.back());
  const int room = terminal.width - DisplayWidth(before) - DisplayWidth(after);
  if (room < kLeastSparklineWidth) return "";
  return before +
         Sparkline(losses, std::min(room, kMaxSparklineWidth),
                   terminal.unicode) +
         after;
}

void LiveView::Update(const std::vector<FollowedJob>& jobs,
                      const PartsByParent& parts) {
  if (!context_.terminal.interactive || context_.output != OutputForm::kTable) {
    PrintNews(jobs, parts);
    return;
  }
  UpdateSize(&context_.terminal);
  if (jobs.size() == 1) NoteLoss(jobs.front().job);
  Redraw(Lines(jobs, parts));
}

void LiveView::NoteLoss(const jobs::v1::Job& job) {
  const jobs::v1::Progress& progress = job.progress();
  if (ProgressText(job).empty() || progress.step() == 0 ||
      progress.step() == last_loss_step_) {
    return;
  }
  last_loss_step_ = progress.step();
  losses_.Add(progress.loss());
}

std::vector<std::string> LiveView::Lines(const std::vector<FollowedJob>& jobs,
                                         const PartsByParent& parts) const {
  int name_width = 0;
  for (const FollowedJob& job : jobs) {
    name_width = std::max(name_width, DisplayWidth(ShortName(job.name)));
  }
  Terminal indented = context_.terminal;
  indented.width = std::max(0, indented.width - DisplayWidth(kIndent));
  std::vector<std::string> lines;
  for (const FollowedJob& job : jobs) {
    const std::vector<jobs::v1::Job>* const of_job = PartsOf(job, parts);
    if (of_job == nullptr) {
      lines.push_back(LiveLine(job, name_width, context_.terminal));
      continue;
    }
    const std::string own = job.connected ? ProgressText(job.job) : "";
    lines.push_back(
        own.empty() ? RowText({job, ShareOf(*of_job), ParentText(job, *of_job)},
                              name_width, context_.terminal)
                    : LiveLine(job, name_width, context_.terminal));
    int part_width = 0;
    for (const jobs::v1::Job& part : *of_job) {
      if (!IsOnAWorker(part)) continue;
      part_width = std::max(part_width, DisplayWidth(ShortName(part.name())));
    }
    for (const jobs::v1::Job& part : *of_job) {
      if (!IsOnAWorker(part)) continue;
      const FollowedJob followed{part.name(), part, job.connected};
      lines.push_back(Truncate(kIndent, context_.terminal.width) +
                      LiveLine(followed, part_width, indented));
    }
  }
  const std::string losses = jobs.size() == 1 && parts.empty()
                                 ? LossLine(losses_.values(), context_.terminal)
                                 : "";
  if (!losses.empty()) lines.push_back(losses);
  return lines;
}

int LiveView::NumRows() const {
  const int width = std::max(1, context_.terminal.width);
  int rows = 0;
  for (const int columns : widths_) {
    rows += std::max(1, (columns + width - 1) / width);
  }
  return rows;
}

void LiveView::Redraw(std::vector<std::string> lines) {
  // The cursor stands below the block. What is scrolled off is out of reach.
  const size_t room =
      static_cast<size_t>(std::max(2, context_.terminal.height - 1));
  if (lines.size() > room) {
    const size_t num_hidden = lines.size() - room + 1;
    lines.resize(room - 1);
    lines.push_back(Truncate(absl::StrCat("and ", num_hidden, " more lines"),
                             context_.terminal.width));
  }
  std::string text;
  const int num_rows = NumRows();
  if (num_rows > 0) text = absl::StrCat("\x1b[", num_rows, "A");
  widths_.clear();
  for (const std::string& line : lines) {
    absl::StrAppend(&text, "\r", line, "\x1b[K\n");
    widths_.push_back(PaintedWidth(line));
  }
  // Below stands what is left of a longer block.
  if (static_cast<int>(lines.size()) < num_rows) text += "\x1b[J";
  context_.out << text << std::flush;
}

void LiveView::PrintNews(const std::vector<FollowedJob>& jobs,
                         const PartsByParent& parts) {
  std::ostream& stream =
      context_.output == OutputForm::kTable ? context_.out : context_.err;
  const absl::Duration now = context_.clock.Monotonic();
  shown_.resize(jobs.size());
  for (size_t i = 0; i < jobs.size(); ++i) {
    const FollowedJob& job = jobs[i];
    Shown& shown = shown_[i];
    const std::string state =
        absl::StrCat(StateName(job), job.connected ? "" : "?");
    const std::vector<jobs::v1::Job>* const of_job = PartsOf(job, parts);
    std::string progress = ProgressText(job.job);
    std::string mark = absl::StrCat(job.job.progress().step() +
                                    job.job.progress().evaluation_done());
    if (progress.empty() && of_job != nullptr) {
      progress = ParentText(job, *of_job);
      mark = progress;
    }
    const bool news = state != shown.state;
    if (!news && (progress.empty() || mark == shown.mark ||
                  now - shown.at < kPlainPeriod)) {
      continue;
    }
    if (job.job.name().empty() && job.connected) continue;
    shown = {state, mark, now};
    const std::string remark =
        progress.empty() || !job.connected ? Remark(job) : progress;
    stream << ShortName(job.name) << " " << StateName(job)
           << (remark.empty() ? "" : "  ") << Printable(remark) << std::endl;
  }
}

}  // namespace ordo::services::cli
