#include "scheduler/server/backlog.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"

namespace ordo::scheduler::server {
namespace {

// What a later effect of the same key makes needless; empty: nothing does.
std::string KeyOfEffect(const core::Effect& effect) {
  if (const auto* record = std::get_if<core::Record>(&effect)) {
    return absl::StrCat("record ", KeyOf(*record));
  }
  if (const auto* desired = std::get_if<core::SetDesired>(&effect)) {
    return absl::StrCat("desired ", desired->request->worker());
  }
  if (const auto* worker = std::get_if<core::PublishWorker>(&effect)) {
    return absl::StrCat("worker ", worker->worker);
  }
  if (const auto* progress = std::get_if<core::PublishProgress>(&effect)) {
    return absl::StrCat("progress ", progress->job);
  }
  return "";
}

// Others are the samples of a distribution.
bool AddsUp(core::Count::What what) {
  using What = core::Count::What;
  return what != What::kFirstStep && what != What::kQueueWait &&
         what != What::kCheckpointStall && what != What::kCheckpointWrite &&
         what != What::kToVerdict;
}

bool IsAnswer(const core::Effect& effect) {
  return std::holds_alternative<core::Answer>(effect) ||
         std::holds_alternative<core::AnswerQueue>(effect) ||
         std::holds_alternative<core::AnswerWorker>(effect) ||
         std::holds_alternative<core::AnswerAlias>(effect) ||
         std::holds_alternative<core::AnswerCheckpoint>(effect) ||
         std::holds_alternative<core::AnswerRow>(effect);
}

}  // namespace

std::string KeyOf(const core::Record& record) {
  // No resource's name, so no other's key.
  if (const auto* job = std::get_if<core::JobPtr>(&record.value)) {
    return (*job)->id();
  }
  if (const auto* checkpoint =
          std::get_if<core::CheckpointPtr>(&record.value)) {
    return (*checkpoint)->name();
  }
  if (const auto* report = std::get_if<core::ReportPtr>(&record.value)) {
    return (*report)->name();
  }
  const core::Row& row = *std::get<core::RowPtr>(record.value);
  // No other key has a colon at its begin.
  return absl::StrCat(":", static_cast<int>(row.kind), ":", row.key);
}

core::Effects Merge(std::vector<core::Effects> turns) {
  // The last first.
  core::Effects answers;
  core::Effects others;
  std::set<std::string> keys;
  std::map<std::pair<core::Count::What, std::string>, size_t> counts;
  for (auto turn = turns.rbegin(); turn != turns.rend(); ++turn) {
    for (auto effect = turn->rbegin(); effect != turn->rend(); ++effect) {
      // It waited for no commit.
      if (std::holds_alternative<core::AnswerAnnounce>(*effect)) continue;
      const std::string key = KeyOfEffect(*effect);
      if (!key.empty() && !keys.insert(key).second) continue;
      auto* count = std::get_if<core::Count>(&*effect);
      if (count != nullptr && AddsUp(count->what)) {
        const auto [sum, is_new] =
            counts.emplace(std::pair(count->what, count->label), others.size());
        if (!is_new) {
          std::get<core::Count>(others[sum->second]).amount += count->amount;
          continue;
        }
      }
      (IsAnswer(*effect) ? answers : others).push_back(std::move(*effect));
    }
  }
  core::Effects merged = {std::make_move_iterator(others.rbegin()),
                          std::make_move_iterator(others.rend())};
  merged.insert(merged.end(), std::make_move_iterator(answers.rbegin()),
                std::make_move_iterator(answers.rend()));
  return merged;
}

void Backlog::Add(core::Effects turn) {
  turns_.push_back(std::move(turn));
  if (turns_.size() <= std::max(kMaxTurns, merged_size_)) return;
  core::Effects merged = Merge(Take());
  merged_size_ = merged.size();
  turns_.push_back(std::move(merged));
}

void Backlog::Append(Backlog later) {
  if (turns_.empty()) {
    *this = std::move(later);
    return;
  }
  for (core::Effects& turn : later.turns_) Add(std::move(turn));
}

std::vector<core::Effects> Backlog::Take() {
  merged_size_ = 0;
  return std::exchange(turns_, {});
}

}  // namespace ordo::scheduler::server
