#include "services/cli/commands/delete_data.h"

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "base/status/status.h"
#include "services/cli/names.h"
#include "services/cli/print.h"

namespace ordo::services::cli {
namespace {

using ordo::data::v1::Data;
using ordo::data::v1::DataService;
using ordo::data::v1::DeleteDataRequest;
using ordo::data::v1::DeleteDataResponse;

// Gone at the second try, when the answer to the first was lost, is done.
absl::StatusOr<DeleteDataResponse> Delete(Context& context,
                                          const std::string& name) {
  DeleteDataRequest request;
  request.set_name(name);
  bool maybe_done = false;
  auto deleted =
      context.client.Call(context.client.data(), &DataService::Stub::DeleteData,
                          request, &maybe_done);
  if (maybe_done && absl::IsNotFound(deleted.status())) {
    deleted.emplace();
    deleted->add_data()->set_name(name);
  }
  return deleted;
}

}  // namespace

bool NamesData(const std::string& argument) {
  return absl::StartsWith(argument, "data/");
}

absl::Status DeleteData(Context& context, const std::string& name) {
  ORDO_ASSIGN_OR_RETURN(const DeleteDataResponse deleted,
                        Delete(context, name));
  if (PrintStructured(context, deleted)) return absl::OkStatus();
  for (const Data& data : deleted.data()) {
    context.out << ShortName(data.name()) << " deleted\n";
  }
  return absl::OkStatus();
}

}  // namespace ordo::services::cli
