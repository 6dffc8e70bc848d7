#include "scheduler/bound_view.h"

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "proto/ordo/audit/v1/change.pb.h"
#include "scheduler/core/names.h"

namespace ordo::scheduler {
namespace {

constexpr char kHidden[] = "another";
constexpr char kHiddenJob[] = "jobs/another";
constexpr char kJobPrefix[] = "jobs/";

bool IsIdCharacter(char c) {
  return absl::ascii_islower(static_cast<unsigned char>(c)) ||
         absl::ascii_isdigit(static_cast<unsigned char>(c)) || c == '-';
}

// Of one change of an alias: checkpoints are words of their own in what was
// done. What people say of one that is not seen may name it as well.
void HideInChange(const BoundView& view, audit::v1::Change* change) {
  bool hides = false;
  std::vector<std::string> words = absl::StrSplit(change->action(), ' ');
  for (std::string& word : words) {
    if (!absl::StartsWith(word, kJobPrefix)) continue;
    if (view.SeesJob(core::JobIdOf(word))) continue;
    word = kHiddenJob;
    hides = true;
  }
  if (!hides) return;
  change->set_action(absl::StrJoin(words, " "));
  change->clear_reason();
}

}  // namespace

bool BoundView::SeesJob(const std::string& job) const {
  const auto queue = scheduler.GetQueueOf(job);
  return queue.ok() && Sees(*queue);
}

std::string BoundView::Masked(const std::string& text,
                              const std::set<std::string>& named) const {
  std::string shown;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && IsIdCharacter(text[end])) ++end;
    if (end == i) {
      shown.push_back(text[i++]);
      continue;
    }
    const std::string word = text.substr(i, end - i);
    bool is_hidden = false;
    if (named.count(word) == 0) {
      const auto queue = scheduler.GetQueueOf(word);
      is_hidden = queue.ok() && !Sees(*queue);
    }
    absl::StrAppend(&shown, is_hidden ? kHidden : word);
    i = end;
  }
  return shown;
}

void BoundView::HideIn(jobs::v1::Job* job) const {
  const auto hide = [this](std::string* message) {
    if (!message->empty()) *message = Masked(*message);
  };
  hide(job->mutable_message());
  if (!job->parent().empty() && !SeesJob(core::IdOf(job->parent()))) {
    job->set_parent(kHiddenJob);
  }
  for (auto& attempt : *job->mutable_attempts()) {
    hide(attempt.mutable_message());
    for (auto& rank : *attempt.mutable_ranks()) hide(rank.mutable_message());
  }
}

void BoundView::HideIn(workers::v1::Worker* worker) const {
  for (auto& device : *worker->mutable_devices()) {
    if (!device.job().empty() && !SeesJob(core::IdOf(device.job()))) {
      device.set_job(kHiddenJob);
      device.clear_attempt();
    }
    for (auto& blame : *device.mutable_blames()) {
      if (blame.job().empty() || SeesJob(core::IdOf(blame.job()))) continue;
      blame.clear_job();
      blame.clear_attempt();
    }
    if (device.has_quarantine()) {
      auto& reason = *device.mutable_quarantine()->mutable_reason();
      reason = Masked(reason);
    }
    if (!device.withheld().empty()) {
      device.set_withheld(Masked(device.withheld()));
    }
  }
}

void BoundView::HideIn(checkpoints::v1::Alias* alias) const {
  for (auto& change : *alias->mutable_changes()) HideInChange(*this, &change);
}

void BoundView::HideIn(reports::v1::Report* report) const {
  const std::string& source = report->taken_from();
  if (source.empty() || SeesJob(core::JobIdOf(source))) return;
  report->set_taken_from(
      absl::StrCat(kHiddenJob, "/reports/", core::IdOf(source)));
}

}  // namespace ordo::scheduler
