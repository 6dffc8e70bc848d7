#include "services/cli/bug.h"

#include <csignal>
#include <cstdio>
#include <cxxabi.h>
#include <exception>
#include <typeinfo>
#include <unistd.h>

#include "services/cli/exit_code.h"

namespace ordo::services::cli {
namespace {

constexpr int kBug = static_cast<int>(ExitCode::kBug);

// Who aborts has said why.
void OnAbort(int /*signal*/) { _exit(kBug); }

// Nothing can be caught here: that is for the code around libraries that throw.
void OnTerminate() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  const char* name = type != nullptr ? type->name() : "none";
  int status = 0;
  // Not freed: the process ends.
  char* const readable = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  if (status == 0) name = readable;
  std::fprintf(stderr,
               "ordo: a bug of ours, please report it: uncaught exception %s\n",
               name);
  _exit(kBug);
}

}  // namespace

void ExitOnBug() {
  struct sigaction action {};
  action.sa_handler = OnAbort;
  sigaction(SIGABRT, &action, nullptr);
  std::set_terminate(OnTerminate);
}

}  // namespace ordo::services::cli
