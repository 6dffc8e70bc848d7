// What FakeScheduler does with checkpoints and what they are called.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "scheduler/core/aliases.h"
#include "scheduler/core/changes.h"
#include "scheduler/core/names.h"
#include "scheduler/testing/cut_page.h"
#include "scheduler/testing/fake_scheduler.h"

namespace ordo::scheduler::testing {

using checkpoints::v1::Alias;
using checkpoints::v1::Checkpoint;

namespace {

constexpr char kOptimizerFile[] = "optimizer.safetensors";

bool HasOptimizer(const Checkpoint& checkpoint) {
  return std::any_of(
      checkpoint.files().begin(), checkpoint.files().end(),
      [](const auto& file) { return file.path() == kOptimizerFile; });
}

void RemoveOptimizer(Checkpoint* checkpoint) {
  auto* files = checkpoint->mutable_files();
  files->erase(std::remove_if(files->begin(), files->end(),
                              [](const auto& file) {
                                return file.path() == kOptimizerFile;
                              }),
               files->end());
  checkpoint->mutable_thin_time()->set_seconds(
      absl::ToUnixSeconds(FakeScheduler::kNow));
}

absl::Status CheckAvailable(const Checkpoint& checkpoint) {
  if (checkpoint.state() != Checkpoint::DELETED) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("checkpoint ", checkpoint.name(), " was removed"));
}

bool Names(const jobs::v1::JobSpec& spec, const std::string& checkpoint) {
  return spec.start_from() == checkpoint || spec.model().from() == checkpoint ||
         std::count(spec.checkpoints().begin(), spec.checkpoints().end(),
                    checkpoint) > 0;
}

}  // namespace

Checkpoint* FakeScheduler::FindCheckpoint(const std::string& name) {
  Checkpoint* newest = nullptr;
  for (Checkpoint& each : checkpoints_) {
    if (each.name() == name) return &each;
    const std::string job = core::JobName(core::JobIdOf(each.name()));
    const bool is_meant = name == job || name == job + "/checkpoints/latest";
    if (is_meant && each.state() != Checkpoint::DELETED) newest = &each;
  }
  return newest;
}

Checkpoint FakeScheduler::WithNames(Checkpoint checkpoint) const {
  for (const auto& [id, alias] : core::AllAliases(aliases_)) {
    if (alias->checkpoint() == checkpoint.name()) {
      checkpoint.add_aliases(alias->name());
    }
  }
  return checkpoint;
}

absl::Status FakeScheduler::CheckNotHeld(const Checkpoint& checkpoint) const {
  bool is_held =
      checkpoint.has_pin() || !WithNames(checkpoint).aliases().empty();
  for (const auto& [id, job] : jobs_) {
    if (HasEnded(job)) continue;
    is_held |= id == core::JobIdOf(checkpoint.name()) ||
               Names(job.spec(), checkpoint.name());
  }
  if (!is_held) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("checkpoint ", checkpoint.name(), " is held"));
}

absl::Status FakeScheduler::TryChange(CheckpointVerb verb, const Author& author,
                                      Checkpoint* checkpoint) {
  const auto note = [&](const std::string& action) {
    core::AddChange(action, author, kNow, checkpoint->mutable_changes());
  };
  switch (verb) {
    case CheckpointVerb::kPin:
      ORDO_RETURN_IF_ERROR(CheckAvailable(*checkpoint));
      if (checkpoint->has_pin()) return absl::OkStatus();
      note("pin");
      *checkpoint->mutable_pin() = *checkpoint->changes().rbegin();
      return absl::OkStatus();
    case CheckpointVerb::kUnpin:
      if (!checkpoint->has_pin()) return absl::OkStatus();
      note("unpin");
      checkpoint->clear_pin();
      return absl::OkStatus();
    case CheckpointVerb::kThin:
      ORDO_RETURN_IF_ERROR(CheckAvailable(*checkpoint));
      if (!HasOptimizer(*checkpoint)) return absl::OkStatus();
      ORDO_RETURN_IF_ERROR(CheckNotHeld(*checkpoint));
      note("thin");
      RemoveOptimizer(checkpoint);
      return absl::OkStatus();
    case CheckpointVerb::kDelete:
      break;
  }
  if (checkpoint->state() == Checkpoint::DELETED) return absl::OkStatus();
  ORDO_RETURN_IF_ERROR(CheckNotHeld(*checkpoint));
  note("delete");
  checkpoint->set_state(Checkpoint::DELETED);
  return absl::OkStatus();
}

void FakeScheduler::ChangeCheckpoint(CheckpointVerb verb,
                                     const std::string& checkpoint,
                                     const Author& author,
                                     CheckpointCallback done) {
  absl::StatusOr<Checkpoint> answer =
      absl::NotFoundError(absl::StrCat("there is no checkpoint ", checkpoint));
  {
    base::MutexLock lock(mutex_);
    if (Checkpoint* found = FindCheckpoint(checkpoint)) {
      const absl::Status status = TryChange(verb, author, found);
      answer = status.ok() ? absl::StatusOr<Checkpoint>(WithNames(*found))
                           : absl::StatusOr<Checkpoint>(status);
    }
  }
  done(std::move(answer));
}

absl::StatusOr<Alias> FakeScheduler::Keep(
    absl::StatusOr<core::AliasPtr> alias) {
  ORDO_RETURN_IF_ERROR(alias.status());
  aliases_[core::IdOf((*alias)->name())] = *alias;
  if (answers_to_lose_ > 0) {
    --answers_to_lose_;
    return absl::UnavailableError("the answer was lost");
  }
  return **alias;
}

absl::StatusOr<Alias> FakeScheduler::TrySet(const AliasSetting& setting,
                                            const Author& author) {
  std::string name = setting.checkpoint;
  if (core::NamesAlias(name)) {
    ORDO_ASSIGN_OR_RETURN(const core::AliasPtr other,
                          core::GetAlias(aliases_, core::IdOf(name)));
    name = other->checkpoint();
  }
  const Checkpoint* to = FindCheckpoint(name);
  if (to == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("there is no checkpoint ", setting.checkpoint));
  }
  ORDO_RETURN_IF_ERROR(CheckAvailable(*to));
  return Keep(core::MovedAlias(aliases_, {setting, *to}, author, kNow));
}

void FakeScheduler::SetAlias(const AliasSetting& setting, const Author& author,
                             AliasCallback done) {
  absl::StatusOr<Alias> answer = Alias();
  {
    base::MutexLock lock(mutex_);
    answer = TrySet(setting, author);
  }
  done(std::move(answer));
}

void FakeScheduler::DeleteAlias(const std::string& alias,
                                const std::string& etag, const Author& author,
                                AliasCallback done) {
  absl::StatusOr<Alias> answer = Alias();
  {
    base::MutexLock lock(mutex_);
    answer = Keep(core::DeletedAlias(aliases_, {alias, etag}, author, kNow));
  }
  done(std::move(answer));
}

absl::StatusOr<Alias> FakeScheduler::GetAlias(const std::string& alias) const {
  base::MutexLock lock(mutex_);
  ORDO_ASSIGN_OR_RETURN(const core::AliasPtr found,
                        core::GetAlias(aliases_, alias));
  return *found;
}

absl::StatusOr<Listing<Alias>> FakeScheduler::ListAliases(
    const Page& page) const {
  base::MutexLock lock(mutex_);
  std::vector<Alias> all;
  for (const auto& [id, alias] : core::AllAliases(aliases_)) {
    all.push_back(*alias);
  }
  return CutPage(all, page, [](const Alias& alias) { return alias.name(); });
}

}  // namespace ordo::scheduler::testing
