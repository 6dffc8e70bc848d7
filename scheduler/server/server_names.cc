// What Server does with checkpoints and what they are called.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "scheduler/core/aliases.h"
#include "scheduler/core/names.h"
#include "scheduler/core/references.h"
#include "scheduler/server/server.h"

namespace ordo::scheduler::server {

void Server::Refuse(const Done& done, const absl::Status& status) {
  std::visit([&status](const auto& callback) { callback(status); }, done);
}

void Server::CallForNames(const std::vector<std::string>& names,
                          const std::function<core::Event(uint64_t call)>& make,
                          Done done) {
  Mentioned mentioned;
  for (const std::string& name : names) {
    if (absl::StartsWith(name, "jobs/")) {
      mentioned.jobs.push_back(core::JobIdOf(name));
    }
  }
  // Set before the call is answered, if a job has left the store.
  const auto archived = std::make_shared<absl::Status>();
  const auto why = [archived](const absl::Status& status) {
    return absl::IsNotFound(status) && !archived->ok() ? *archived : status;
  };
  WaitingCall call;
  if (auto* alias = std::get_if<AliasCallback>(&done)) {
    call.done = [why, done = std::move(*alias)](
                    absl::StatusOr<checkpoints::v1::Alias> answer) {
      if (answer.ok()) return done(std::move(answer));
      done(why(answer.status()));
    };
  } else {
    call.done = [why, done = std::move(std::get<CheckpointCallback>(done))](
                    absl::StatusOr<checkpoints::v1::Checkpoint> answer) {
      if (answer.ok()) return done(std::move(answer));
      done(why(answer.status()));
    };
  }
  Call(
      mentioned,
      [&](uint64_t number, const std::vector<core::RetiredJob>& retired) {
        if (!retired.empty()) {
          const core::RetiredJob& gone = retired.front();
          *archived = core::Archived(gone.id, gone.state);
        }
        return make(number);
      },
      std::move(call));
}

void Server::ReleaseAnswer(const core::AnswerAlias& answer) {
  const std::optional<Done> taken = TakeCall(answer.call);
  if (!taken.has_value()) return;
  const auto& done = std::get<AliasCallback>(*taken);
  if (answer.alias.ok()) {
    done(**answer.alias);
  } else {
    done(answer.alias.status());
  }
}

void Server::ReleaseAnswer(const core::AnswerCheckpoint& answer) {
  const std::optional<Done> taken = TakeCall(answer.call);
  if (!taken.has_value()) return;
  const auto& done = std::get<CheckpointCallback>(*taken);
  if (answer.checkpoint.ok()) {
    done(**answer.checkpoint);
  } else {
    done(answer.checkpoint.status());
  }
}

void Server::ChangeCheckpoint(CheckpointVerb verb,
                              const std::string& checkpoint,
                              const Author& author, CheckpointCallback done) {
  CallForNames(
      {checkpoint},
      [&](uint64_t call) {
        return core::ChangeCheckpoint{call, verb, checkpoint, author};
      },
      std::move(done));
}

void Server::SetAlias(const AliasSetting& setting, const Author& author,
                      AliasCallback done) {
  CallForNames(
      {setting.checkpoint},
      [&](uint64_t call) {
        return core::ChangeAlias{call, core::ChangeAlias::Verb::kSet, setting,
                                 author};
      },
      std::move(done));
}

void Server::DeleteAlias(const std::string& alias, const std::string& etag,
                         const Author& author, AliasCallback done) {
  AliasSetting setting;
  setting.alias = alias;
  setting.etag = etag;
  CallForNames(
      {},
      [&](uint64_t call) {
        return core::ChangeAlias{call, core::ChangeAlias::Verb::kDelete,
                                 setting, author};
      },
      std::move(done));
}

absl::StatusOr<checkpoints::v1::Alias> Server::GetAlias(
    const std::string& alias) const {
  return view_.GetAlias(alias);
}

absl::StatusOr<Listing<checkpoints::v1::Alias>> Server::ListAliases(
    const Page& page) const {
  return view_.ListAliases(page);
}

}  // namespace ordo::scheduler::server
