#include "scheduler/core/registry.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status/status.h"
#include "scheduler/core/aliases.h"
#include "scheduler/core/artifacts.h"
#include "scheduler/core/changes.h"
#include "scheduler/core/follow.h"
#include "scheduler/core/names.h"
#include "scheduler/core/references.h"

namespace ordo::scheduler::core {
namespace {

using checkpoints::v1::Checkpoint;

// Of those who hold a checkpoint, named in a refusal.
constexpr size_t kMaxNamed = 5;

RowPtr AliasRow(const std::string& id, const AliasPtr& alias) {
  return std::make_shared<const Row>(
      Row{Row::Kind::kAlias, id, alias->SerializeAsString()});
}

RowPtr PinRow(const std::string& checkpoint, const audit::v1::Change& pin) {
  return std::make_shared<const Row>(
      Row{Row::Kind::kPin, checkpoint, pin.SerializeAsString()});
}

absl::Status Unreadable(const std::string& what) {
  return absl::DataLossError(
      absl::StrCat("what the store has of ", what, " cannot be read"));
}

void AddHolder(State& state, const std::string& checkpoint,
               const std::string& holder) {
  state.pins[checkpoint].insert(holder);
}

// Has a holder let go, and retention see to what it kept.
void RemoveHolder(Turn& turn, const std::string& checkpoint,
                  const std::string& holder) {
  const auto pin = turn.state.pins.find(checkpoint);
  pin->second.erase(holder);
  if (pin->second.empty()) turn.state.pins.erase(pin);
  ApplyRetention(turn, turn.state.jobs.at(JobIdOf(checkpoint)));
}

// The checkpoint of this full name, in any state, or of a reference.
absl::StatusOr<CheckpointPtr> Named(const State& state,
                                    const std::string& name) {
  if (CheckpointPtr found = FindCheckpoint(state, name)) return found;
  std::string reference = name;
  if (NamesAlias(name)) {
    ORDO_ASSIGN_OR_RETURN(const AliasPtr alias,
                          GetAlias(state.aliases, IdOf(name)));
    reference = alias->checkpoint();
  }
  ORDO_ASSIGN_OR_RETURN(const std::string full,
                        ResolveReference(state, reference));
  return FindCheckpoint(state, full);
}

absl::Status CheckAvailable(const Checkpoint& checkpoint) {
  if (checkpoint.state() == Checkpoint::AVAILABLE) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("checkpoint ", checkpoint.name(), " was ",
                   WhyGone(checkpoint), "; see: ordo list checkpoints"));
}

absl::Status CheckNotHeld(const State& state, const Checkpoint& checkpoint,
                          const std::string& verb) {
  std::vector<std::string> holders = WhoHolds(state, checkpoint);
  if (holders.empty()) return absl::OkStatus();
  if (holders.size() > kMaxNamed) {
    const size_t more = holders.size() - kMaxNamed;
    holders.resize(kMaxNamed);
    holders.push_back(absl::StrCat("and ", more, " more"));
  }
  return absl::FailedPreconditionError(
      absl::StrCat("checkpoint ", checkpoint.name(), " cannot be ", verb, ": ",
                   absl::StrJoin(holders, "; ")));
}

// One change of a checkpoint by a person.
class Edit {
 public:
  // `checkpoint` is in the state.
  Edit(Turn& turn, const ChangeCheckpoint& change,
       const CheckpointPtr& checkpoint)
      : turn_(turn), change_(change), name_(checkpoint->name()) {}

  absl::Status Run() {
    switch (change_.verb) {
      case CheckpointVerb::kPin:
        return Pin();
      case CheckpointVerb::kUnpin:
        return Unpin();
      case CheckpointVerb::kThin:
        return Thin();
      case CheckpointVerb::kDelete:
        break;
    }
    return Delete();
  }

 private:
  CheckpointPtr& Slot() { return *SlotOf(turn_.state, name_); }

  // The checkpoint with one change more, which is noted.
  std::shared_ptr<Checkpoint> Changed(const std::string& action) {
    auto next = std::make_shared<Checkpoint>(*Slot());
    AddChange(action, change_.author, turn_.now.wall, next->mutable_changes());
    turn_.Emit(NoteChange{name_, *next->changes().rbegin()});
    return next;
  }

  void Keep(std::shared_ptr<Checkpoint> next) {
    Slot() = std::move(next);
    turn_.Emit(Record{Slot()});
  }

  absl::Status Pin() {
    State& state = turn_.state;
    ORDO_RETURN_IF_ERROR(CheckAvailable(*Slot()));
    if (state.pinned.count(name_) > 0) return absl::OkStatus();
    if (state.pinned.size() >= kMaxPins) {
      return absl::ResourceExhaustedError(
          absl::StrCat("there are ", kMaxPins,
                       " pinned checkpoints, and no more can be pinned; take "
                       "back a pin that nobody needs: ordo unpin"));
    }
    Keep(Changed("pin"));
    const audit::v1::Change& pin = *Slot()->changes().rbegin();
    state.pinned[name_] = std::make_shared<const audit::v1::Change>(pin);
    AddHolder(state, name_, kPinHolder);
    turn_.Emit(Record{PinRow(name_, pin)});
    return absl::OkStatus();
  }

  absl::Status Unpin() {
    State& state = turn_.state;
    if (state.pinned.erase(name_) == 0) return absl::OkStatus();
    Keep(Changed("unpin"));
    turn_.Emit(Record{std::make_shared<const Row>(
        Row{Row::Kind::kPin, name_, std::nullopt})});
    RemoveHolder(turn_, name_, kPinHolder);
    return absl::OkStatus();
  }

  absl::Status Thin() {
    ORDO_RETURN_IF_ERROR(CheckAvailable(*Slot()));
    if (!HasOptimizer(*Slot())) return absl::OkStatus();
    ORDO_RETURN_IF_ERROR(CheckNotHeld(turn_.state, *Slot(), "thinned"));
    MarkThinned(turn_, Changed("thin"), &Slot());
    return absl::OkStatus();
  }

  absl::Status Delete() {
    if (Slot()->state() == Checkpoint::DELETED) return absl::OkStatus();
    ORDO_RETURN_IF_ERROR(CheckNotHeld(turn_.state, *Slot(), "deleted"));
    MarkDeleted(turn_, Changed(kDeleteAction), &Slot());
    return absl::OkStatus();
  }

  Turn& turn_;
  const ChangeCheckpoint& change_;
  const std::string name_;
};

// As the API shows it: with what names it.
CheckpointPtr Shown(const State& state, const CheckpointPtr& checkpoint) {
  auto shown = std::make_shared<Checkpoint>(*checkpoint);
  const auto pin = state.pinned.find(checkpoint->name());
  if (pin != state.pinned.end()) *shown->mutable_pin() = *pin->second;
  const auto holders = state.pins.find(checkpoint->name());
  if (holders == state.pins.end()) return shown;
  for (const std::string& holder : holders->second) {
    if (NamesAlias(holder)) shown->add_aliases(holder);
  }
  return shown;
}

absl::StatusOr<AliasPtr> NextAlias(const Turn& turn,
                                   const ChangeAlias& change) {
  const Aliases& aliases = turn.state.aliases;
  const AliasSetting& setting = change.setting;
  if (change.verb == ChangeAlias::Verb::kDelete) {
    return DeletedAlias(aliases, {setting.alias, setting.etag}, change.author,
                        turn.now.wall);
  }
  ORDO_ASSIGN_OR_RETURN(const CheckpointPtr to,
                        Named(turn.state, setting.checkpoint));
  ORDO_RETURN_IF_ERROR(CheckAvailable(*to));
  return MovedAlias(aliases, {setting, *to}, change.author, turn.now.wall);
}

// So that deleted aliases are not kept for ever.
void ForgetAlias(Turn& turn) {
  const std::string id = AliasToForget(turn.state.aliases);
  if (id.empty()) return;
  turn.state.aliases.erase(id);
  turn.Emit(Record{
      std::make_shared<const Row>(Row{Row::Kind::kAlias, id, std::nullopt})});
}

// Puts the alias in the place of `before`, null when it is new.
void PutAlias(Turn& turn, const AliasPtr& before, const AliasPtr& alias) {
  const std::string id = IdOf(alias->name());
  turn.state.aliases[id] = alias;
  turn.Emit(Record{AliasRow(id, alias)});
  turn.Emit(NoteChange{alias->name(), *alias->changes().rbegin()});
  if (!alias->has_delete_time()) {
    AddHolder(turn.state, alias->checkpoint(), alias->name());
  }
  if (before != nullptr) {
    RemoveHolder(turn, before->checkpoint(), alias->name());
    // Its job may leave when this is stored.
    turn.Emit(Record{*SlotOf(turn.state, before->checkpoint())});
  }
  ForgetAlias(turn);
}

}  // namespace

void HandleChangeAlias(Turn& turn, const ChangeAlias& change) {
  const absl::StatusOr<AliasPtr> next = NextAlias(turn, change);
  const AliasPtr before = FindAlias(turn.state.aliases, change.setting.alias);
  if (next.ok() && *next != before) PutAlias(turn, before, *next);
  turn.Emit(AnswerAlias{change.call, next});
}

void HandleChangeCheckpoint(Turn& turn, const ChangeCheckpoint& change) {
  const absl::StatusOr<CheckpointPtr> named =
      Named(turn.state, change.checkpoint);
  absl::Status status = named.status();
  if (status.ok()) status = Edit(turn, change, *named).Run();
  if (!status.ok()) {
    turn.Emit(AnswerCheckpoint{change.call, status});
    return;
  }
  turn.Emit(AnswerCheckpoint{
      change.call,
      Shown(turn.state, FindCheckpoint(turn.state, (*named)->name()))});
}

std::vector<std::string> WhoHolds(const State& state,
                                  const Checkpoint& checkpoint) {
  std::vector<std::string> holders;
  const auto add_job = [&holders](const std::string& job,
                                  const std::string& what) {
    holders.push_back(absl::StrCat("job ", job, " has not ended and needs ",
                                   what, " (ordo wait ", job, ")"));
  };
  const std::string& name = checkpoint.name();
  if (const auto held = state.pins.find(name); held != state.pins.end()) {
    for (const std::string& holder : held->second) {
      if (holder == kPinHolder) {
        const audit::v1::Change& pin = *state.pinned.at(name);
        holders.push_back(absl::StrCat(
            "it is pinned by ", pin.user(),
            pin.reason().empty() ? "" : absl::StrCat(", '", pin.reason(), "'"),
            " (ordo unpin)"));
      } else if (NamesAlias(holder)) {
        holders.push_back(absl::StrCat("the alias ", IdOf(holder),
                                       " names it (ordo alias set, or "
                                       "delete)"));
      } else {
        add_job(holder, "it");
      }
    }
  }
  const std::string job = JobIdOf(name);
  const JobEntry& entry = state.jobs.at(job);
  if (IsNeededAsBest(state, entry, checkpoint)) {
    for (const std::string& holder : state.pins.at(BestOf(job))) {
      add_job(holder, absl::StrCat("the best of ", job));
    }
  }
  const CheckpointPtr newest = NewestCheckpoint(entry);
  const bool is_newest = newest != nullptr && newest->name() == name;
  // With all evaluated they end by an attempt that is given the newest.
  for (const std::string& follower :
       is_newest ? FollowersOf(state, job) : AwaitedBy(state, checkpoint)) {
    add_job(follower, absl::StrCat("every one of ", job));
  }
  if (!is_newest) return holders;
  if (!IsTerminal(entry.job->state)) {
    add_job(job, "its newest to go on from");
  }
  const auto held = state.pins.find(JobName(job));
  if (held == state.pins.end()) return holders;
  for (const std::string& holder : held->second) {
    add_job(holder, absl::StrCat("the newest of ", job));
  }
  return holders;
}

std::string JobNamedBy(const Row& row) {
  if (!row.bytes.has_value()) return "";
  if (row.kind == Row::Kind::kPin) return JobIdOf(row.key);
  checkpoints::v1::Alias alias;
  const bool is_alias =
      row.kind == Row::Kind::kAlias && alias.ParseFromString(*row.bytes);
  return is_alias && !alias.has_delete_time() ? JobIdOf(alias.checkpoint())
                                              : "";
}

std::vector<RowPtr> RegistryRows(const State& state) {
  std::vector<RowPtr> rows;
  for (const auto& [id, alias] : state.aliases) {
    rows.push_back(AliasRow(id, alias));
  }
  for (const auto& [checkpoint, pin] : state.pinned) {
    rows.push_back(PinRow(checkpoint, *pin));
  }
  return rows;
}

absl::Status TakeAliasRow(const Row& row, State* state) {
  auto alias = std::make_shared<checkpoints::v1::Alias>();
  if (!row.bytes.has_value() || !alias->ParseFromString(*row.bytes) ||
      !IsSound(row.key, *alias) ||
      !state->aliases.emplace(row.key, alias).second) {
    return Unreadable(absl::StrCat("alias ", row.key));
  }
  return absl::OkStatus();
}

absl::Status TakePinRow(const Row& row, State* state) {
  auto pin = std::make_shared<audit::v1::Change>();
  if (!row.bytes.has_value() || !pin->ParseFromString(*row.bytes)) {
    return Unreadable(absl::StrCat("the pin of ", row.key));
  }
  state->pinned[row.key] = std::move(pin);
  return absl::OkStatus();
}

absl::Status HoldNamed(State* state) {
  const auto hold = [state](const std::string& checkpoint,
                            const std::string& holder) -> absl::Status {
    const CheckpointPtr found = FindCheckpoint(*state, checkpoint);
    if (found == nullptr || found->state() != Checkpoint::AVAILABLE) {
      return absl::DataLossError(
          absl::StrCat("the store's record of checkpoint ", checkpoint,
                       " is not one that is there, and ",
                       holder == kPinHolder ? "a pin" : holder, " names it"));
    }
    AddHolder(*state, checkpoint, holder);
    return absl::OkStatus();
  };
  for (const auto& [id, alias] : AllAliases(state->aliases)) {
    ORDO_RETURN_IF_ERROR(hold(alias->checkpoint(), alias->name()));
    const std::string& digest =
        FindCheckpoint(*state, alias->checkpoint())->manifest_sha256();
    if (alias->manifest_sha256() == digest) continue;
    return absl::DataLossError(absl::StrCat(
        "the store's record of ", alias->name(), " has the digest ",
        alias->manifest_sha256(), ", and what it names has ", digest));
  }
  for (const auto& [checkpoint, pin] : state->pinned) {
    ORDO_RETURN_IF_ERROR(hold(checkpoint, kPinHolder));
  }
  return absl::OkStatus();
}

}  // namespace ordo::scheduler::core
