#ifndef ORDO_SERVICES_CLI_APP_H_
#define ORDO_SERVICES_CLI_APP_H_

#include <functional>
#include <istream>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "base/clock/clock.h"
#include "base/files/files.h"
#include "services/cli/client.h"
#include "services/cli/interrupt.h"
#include "services/cli/terminal.h"

namespace ordo::services::cli {

// What the process gives to `ordo`; a test gives its own.
struct App {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  // Of `out`, and whether `err` takes colours.
  Terminal terminal;
  Terminal error_terminal;
  Interrupt& interrupt;
  base::Filesystem& files;
  const base::Clock& clock;
  std::function<std::optional<std::string>(const std::string&)> environment;
  // The address comes from --server, ORDO_SERVER, or stands here.
  ClientOptions client = {};
};

// Runs the command that `args` (without the program's name) asks for, and
// prints its error. Returns the exit code.
int RunApp(App& app, const std::vector<std::string>& args);

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_APP_H_
