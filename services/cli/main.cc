// The command line of Ordo:
//
//   ordo submit examples/addition-tape.yaml --watch

#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <unistd.h>
#include <vector>

#include "base/clock/clock.h"
#include "base/files/files.h"
#include "services/cli/app.h"
#include "services/cli/bug.h"

int main(int argc, char** argv) {
  using ordo::services::cli::DetectTerminal;
  ordo::services::cli::ExitOnBug();
  ordo::services::cli::Interrupt interrupt;
  ordo::base::PosixFilesystem files;
  const ordo::base::RealClock clock;
  const auto environment =
      [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr || *value == '\0') return std::nullopt;
    return std::string(value);
  };
  ordo::services::cli::App app{std::cin,
                               std::cout,
                               std::cerr,
                               DetectTerminal(STDOUT_FILENO),
                               DetectTerminal(STDERR_FILENO),
                               interrupt,
                               files,
                               clock,
                               environment};
  return ordo::services::cli::RunApp(
      app, std::vector<std::string>(argv + 1, argv + argc));
}
