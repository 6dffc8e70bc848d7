#include "services/cli/commands/up_options.h"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <optional>
#include <string>

#include "base/rpc/address.h"
#include "base/status/status.h"
#include "services/cli/remembered.h"

namespace ordo::services::cli {
namespace {

absl::StatusOr<std::string> AbsolutePath(const std::string& path) {
  char resolved[PATH_MAX];
  if (realpath(path.c_str(), resolved) == nullptr) {
    return base::SystemError(errno, "--trainer " + path);
  }
  return std::string(resolved);
}

}  // namespace

absl::StatusOr<UpOptions> ReadUpOptions(Context& context,
                                        const Arguments& arguments) {
  UpOptions up;
  up.fresh = arguments.Has("fresh-settings");
  DeploymentOptions& options = up.given;
  options.insecure = arguments.Has("insecure");
  if (arguments.Has("trainer")) {
    ORDO_ASSIGN_OR_RETURN(options.trainer,
                          AbsolutePath(arguments.Get("trainer", "")));
  }
  options.trainer_environment = arguments.All("trainer-env");
  options.settings = arguments.All("set");
  ORDO_RETURN_IF_ERROR(CheckSettings(options));
  for (const std::string& path : arguments.All("data-root")) {
    ORDO_ASSIGN_OR_RETURN(options.data_roots.emplace_back(), DataRoot(path));
  }
  const std::string named =
      arguments.Get("dir", context.environment("ORDO_DIR").value_or(""));
  const std::optional<std::string> data_home = DataHome(context.environment);
  const absl::StatusOr<std::string> existing =
      DeploymentFolder(context.files, named, data_home, /*create=*/false);
  const std::string before =
      existing.ok() ? ConfiguredListen(context.files, *existing) : "";
  // One that comes up again is found where it was.
  const bool as_before = !before.empty() && !up.fresh;
  options.listen = arguments.Get("listen", as_before ? before : options.listen);
  ORDO_RETURN_IF_ERROR(base::AddContext(
      base::CheckListen(options.listen, options.insecure, "give --insecure"),
      "--listen"));
  // A first `up` that cannot serve leaves nothing behind.
  if (before.empty()) ORDO_RETURN_IF_ERROR(CheckPortFree(options.listen));
  ORDO_ASSIGN_OR_RETURN(
      options.folder,
      DeploymentFolder(context.files, named, data_home, /*create=*/true));
  up.all = options;
  if (!up.fresh) {
    ORDO_ASSIGN_OR_RETURN(const DeploymentOptions remembered,
                          ReadRemembered(context.files, options.folder));
    up.all = WithRemembered(remembered, options);
    ORDO_RETURN_IF_ERROR(
        base::AddContext(CheckSettings(up.all),
                         "with what is remembered (forget it with "
                         "--fresh-settings)"));
  }
  return up;
}

}  // namespace ordo::services::cli
