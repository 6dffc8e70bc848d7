#include "services/cli/commands/checkpoint_names.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status/status.h"
#include "services/cli/commands/changes.h"
#include "services/cli/names.h"
#include "services/cli/print.h"

namespace ordo::services::cli {

using checkpoints::v1::Alias;
using checkpoints::v1::Checkpoint;
using checkpoints::v1::CheckpointsService;

absl::StatusOr<Alias> GetAlias(Context& context, const std::string& name) {
  checkpoints::v1::GetAliasRequest request;
  request.set_name(name);
  return context.client.Call(context.client.checkpoints(),
                             &CheckpointsService::Stub::GetAlias, request);
}

absl::Status ShowAlias(Context& context, const std::string& name) {
  ORDO_ASSIGN_OR_RETURN(const Alias alias, GetAlias(context, name));
  if (PrintStructured(context, alias)) return absl::OkStatus();
  context.out << KeyValueLines({{"Alias", ShortName(alias.name())},
                                {"Checkpoint", alias.checkpoint()},
                                {"Digest", alias.manifest_sha256()},
                                {"Set", FormatTime(alias.update_time())},
                                {"Etag", alias.etag()}},
                               context.terminal);
  PrintChanges(context, alias.changes());
  return absl::OkStatus();
}

absl::StatusOr<std::string> CheckpointNamed(Context& context,
                                            const std::string& text) {
  ORDO_ASSIGN_OR_RETURN(ResourceName name, ParseResourceName(text));
  if (name.kind == ResourceName::Kind::kAlias) {
    ORDO_ASSIGN_OR_RETURN(const Alias alias,
                          GetAlias(context, name.ToString()));
    return alias.checkpoint();
  }
  if (name.kind == ResourceName::Kind::kJob) {
    name.kind = ResourceName::Kind::kCheckpoint;
    name.id = "latest";
  }
  if (name.kind != ResourceName::Kind::kCheckpoint) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text,
                     "' is no checkpoint; see 'ordo list "
                     "checkpoints'"));
  }
  if (name.id != "latest" && name.id != "last") return name.ToString();
  checkpoints::v1::GetCheckpointRequest request;
  request.set_name(name.ToString());
  ORDO_ASSIGN_OR_RETURN(
      const Checkpoint checkpoint,
      context.client.Call(context.client.checkpoints(),
                          &CheckpointsService::Stub::GetCheckpoint, request));
  return checkpoint.name();
}

std::string NotesOf(const Checkpoint& checkpoint) {
  std::vector<std::string> notes;
  for (const std::string& alias : checkpoint.aliases()) {
    notes.push_back(ShortName(alias));
  }
  if (checkpoint.has_pin()) notes.push_back("pinned");
  if (checkpoint.has_thin_time()) notes.push_back("thinned");
  return absl::StrJoin(notes, ", ");
}

}  // namespace ordo::services::cli
