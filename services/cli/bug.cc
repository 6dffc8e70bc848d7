#include "services/cli/bug.h"

#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cxxabi.h>
#include <exception>
#include <string_view>
#include <typeinfo>
#include <unistd.h>

#include "services/cli/exit_code.h"

namespace ordo::services::cli {
namespace {

constexpr int kBug = static_cast<int>(ExitCode::kBug);

// Of the handlers, so that a stack that has overflowed can be told.
constexpr size_t kStackBytes = 64 << 10;

struct Crash {
  int signal;
  std::string_view line;
};

constexpr Crash kCrashes[] = {
    {SIGABRT, "ordo: a bug of ours, please report it: aborted (SIGABRT)\n"},
    {SIGSEGV, "ordo: a bug of ours, please report it: crashed (SIGSEGV)\n"},
    {SIGBUS, "ordo: a bug of ours, please report it: crashed (SIGBUS)\n"},
    {SIGFPE, "ordo: a bug of ours, please report it: crashed (SIGFPE)\n"},
    {SIGILL, "ordo: a bug of ours, please report it: crashed (SIGILL)\n"},
};

// Only what is safe in a signal handler.
void OnCrash(int signal) {
  for (const Crash& crash : kCrashes) {
    if (crash.signal != signal) continue;
    static_cast<void>(
        !write(STDERR_FILENO, crash.line.data(), crash.line.size()));
  }
  _exit(kBug);
}

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
  static char handler_stack[kStackBytes];
  stack_t stack{};
  stack.ss_sp = handler_stack;
  stack.ss_size = sizeof(handler_stack);
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_handler = OnCrash;
  action.sa_flags = SA_ONSTACK;
  for (const Crash& crash : kCrashes) sigaction(crash.signal, &action, nullptr);
  std::set_terminate(OnTerminate);
}

}  // namespace ordo::services::cli
