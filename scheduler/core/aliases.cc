#include "scheduler/core/aliases.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "base/text/nearest.h"
#include "scheduler/core/changes.h"
#include "scheduler/core/moment.h"
#include "scheduler/core/names.h"

namespace ordo::scheduler::core {
namespace {

using checkpoints::v1::Alias;

constexpr char kCollection[] = "aliases/";
// No alias is moved as often.
constexpr int64_t kMaxRevision = int64_t{1} << 60;

// Gives a changed alias its next etag.
AliasPtr Sealed(Alias alias, const std::string& previous_etag) {
  int64_t revision = 0;
  // Ours, so a number.
  static_cast<void>(absl::SimpleAtoi(previous_etag, &revision));
  alias.set_etag(absl::StrCat(revision + 1));
  return std::make_shared<const Alias>(std::move(alias));
}

// "by ada (set: ...)", who changed it last.
std::string LastChange(const Alias& alias) {
  if (alias.changes().empty()) return "";
  const audit::v1::Change& last = *alias.changes().rbegin();
  return absl::StrCat(" by ", last.user(), " (", last.action(), ")");
}

absl::Status Moved(const Alias& alias, const std::string& how) {
  return absl::AbortedError(
      absl::StrCat("the alias ", IdOf(alias.name()), " was changed meanwhile",
                   LastChange(alias), ": ", how, "; see: ordo alias get ",
                   IdOf(alias.name())));
}

absl::Status CheckEtag(const Alias& alias, const std::string& etag) {
  if (etag.empty() || etag == alias.etag()) return absl::OkStatus();
  return Moved(alias,
               absl::StrCat("its etag is ", alias.etag(), ", not ", etag));
}

// Whether the alias, null when there is none, is as whoever sets it thinks.
absl::Status CheckConditions(const AliasPtr& alias,
                             const AliasSetting& setting) {
  const bool is_awaited =
      !setting.etag.empty() ||
      (!setting.if_digest.empty() && setting.if_digest != kNoDigest);
  if (alias == nullptr) {
    if (!is_awaited) return absl::OkStatus();
    return absl::AbortedError(absl::StrCat(
        "there is no alias ", setting.alias, ", and it was to be of a certain ",
        setting.etag.empty() ? "digest" : "etag", "; see: ordo alias list"));
  }
  ORDO_RETURN_IF_ERROR(CheckEtag(*alias, setting.etag));
  if (setting.if_digest.empty() ||
      setting.if_digest == alias->manifest_sha256()) {
    return absl::OkStatus();
  }
  return Moved(
      *alias,
      absl::StrCat("it names ", alias->checkpoint(), " with the digest ",
                   alias->manifest_sha256(), ", not ", setting.if_digest));
}

}  // namespace

std::string AliasName(const std::string& alias) { return kCollection + alias; }

bool NamesAlias(const std::string& reference) {
  return absl::StartsWith(reference, kCollection);
}

AliasPtr FindAlias(const Aliases& aliases, const std::string& alias) {
  const auto found = aliases.find(alias);
  if (found == aliases.end() || found->second->has_delete_time()) return {};
  return found->second;
}

absl::StatusOr<AliasPtr> GetAlias(const Aliases& aliases,
                                  const std::string& alias) {
  AliasPtr found = FindAlias(aliases, alias);
  if (found != nullptr) return found;
  std::vector<std::string> names;
  for (const auto& [id, each] : AllAliases(aliases)) names.push_back(id);
  const std::string nearest = base::Nearest(alias, names);
  return absl::NotFoundError(absl::StrCat(
      "there is no alias ", alias,
      nearest.empty() ? "" : absl::StrCat("; did you mean '", nearest, "'?"),
      "; see: ordo alias list"));
}

Aliases AllAliases(const Aliases& aliases) {
  Aliases all;
  for (const auto& [id, alias] : aliases) {
    if (!alias->has_delete_time()) all[id] = alias;
  }
  return all;
}

bool IsSound(const std::string& id, const Alias& alias) {
  int64_t revision = 0;
  return !id.empty() && alias.name() == AliasName(id) &&
         IdOf(alias.name()) == id &&
         absl::SimpleAtoi(alias.etag(), &revision) && revision > 0 &&
         revision < kMaxRevision;
}

absl::StatusOr<AliasPtr> MovedAlias(const Aliases& aliases,
                                    const AliasMove& move, const Author& author,
                                    absl::Time now) {
  const std::string& id = move.setting.alias;
  const AliasPtr current = FindAlias(aliases, id);
  ORDO_RETURN_IF_ERROR(CheckConditions(current, move.setting));
  if (current != nullptr && current->checkpoint() == move.to.name()) {
    return current;
  }
  if (current == nullptr && AllAliases(aliases).size() >= kMaxAliases) {
    return absl::ResourceExhaustedError(
        absl::StrCat("there are ", kMaxAliases,
                     " aliases, and no more can be made; delete one that "
                     "nobody needs: ordo alias delete"));
  }
  const auto old = aliases.find(id);
  Alias alias = old == aliases.end() ? Alias() : *old->second;
  const std::string before = current == nullptr ? "none" : alias.checkpoint();
  alias.set_name(AliasName(id));
  alias.set_checkpoint(move.to.name());
  alias.set_manifest_sha256(move.to.manifest_sha256());
  alias.clear_delete_time();
  *alias.mutable_update_time() = ToTimestamp(now);
  if (current == nullptr) *alias.mutable_create_time() = alias.update_time();
  AddChange(absl::StrCat("set: ", before, " -> ", move.to.name()), author, now,
            alias.mutable_changes());
  const std::string etag = alias.etag();
  return Sealed(std::move(alias), etag);
}

absl::StatusOr<AliasPtr> DeletedAlias(const Aliases& aliases,
                                      const AliasDeletion& deletion,
                                      const Author& author, absl::Time now) {
  ORDO_ASSIGN_OR_RETURN(const AliasPtr old, GetAlias(aliases, deletion.alias));
  ORDO_RETURN_IF_ERROR(CheckEtag(*old, deletion.etag));
  Alias alias = *old;
  *alias.mutable_delete_time() = ToTimestamp(now);
  AddChange(absl::StrCat("delete: ", old->checkpoint()), author, now,
            alias.mutable_changes());
  return Sealed(std::move(alias), old->etag());
}

std::string AliasToForget(const Aliases& aliases) {
  size_t num_deleted = 0;
  std::string first;
  absl::Time first_time = absl::InfiniteFuture();
  for (const auto& [id, alias] : aliases) {
    if (!alias->has_delete_time()) continue;
    ++num_deleted;
    const absl::Time time = ToTime(alias->delete_time());
    if (time >= first_time) continue;
    first = id;
    first_time = time;
  }
  return num_deleted > kMaxDeletedAliases ? first : "";
}

}  // namespace ordo::scheduler::core
