#ifndef ORDO_SERVICES_CLI_CONTEXT_H_
#define ORDO_SERVICES_CLI_CONTEXT_H_

#include <functional>
#include <istream>
#include <optional>
#include <ostream>
#include <string>

#include "base/clock/clock.h"
#include "base/files/files.h"
#include "services/cli/client.h"
#include "services/cli/interrupt.h"
#include "services/cli/terminal.h"

namespace ordo::services::cli {

enum class OutputForm { kTable, kJson, kYaml };

// All that a command may touch. References outlive the command.
struct Context {
  std::istream& in;
  // Results; a script reads these.
  std::ostream& out;
  // Remarks and errors, for people.
  std::ostream& err;
  // What `out` goes to.
  Terminal terminal;
  OutputForm output = OutputForm::kTable;
  Client& client;
  Interrupt& interrupt;
  base::Filesystem& files;
  const base::Clock& clock;
  // An environment variable; nothing when it is unset or empty.
  std::function<std::optional<std::string>(const std::string&)> environment;
};

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_CONTEXT_H_
