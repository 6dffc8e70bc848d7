#ifndef ORDO_TESTS_BENCH_PROGRAM_H_
#define ORDO_TESTS_BENCH_PROGRAM_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "kernels/common/type.h"

// What the programs that measure kernels share.

namespace ordo::tests::bench {

// What a command line may say.
struct Flags {
  // Without a value. Told before the others, wherever they stand.
  std::map<std::string, std::function<void()>> switches;
  // With one; told in the order of the command line.
  std::map<std::string, std::function<absl::Status(const std::string& value)>>
      values;

  // A flag whose value is kept as it is, in `text`.
  void AddText(const std::string& flag, std::string* text);
};

// INVALID_ARGUMENT names the first argument that is no flag or lacks its value;
// other errors are those of the flag's function.
absl::Status ReadFlags(const std::vector<std::string>& arguments,
                       const Flags& flags);

// INVALID_ARGUMENT names the flag unless the value is a number in 1..max.
absl::Status ReadNumber(const std::string& flag, const std::string& value,
                        int max, int* number);

// What --device says: cpu, cuda or cuda:0. INVALID_ARGUMENT for anything else.
absl::Status ReadDevice(const std::string& value, kernels::Device* device);

// Before anything runs there: of a GPU, the libraries and the rows of the
// tables that it needs. FAILED_PRECONDITION names the flag and what is missing.
absl::Status OpenDevice(kernels::Device device);

// What a program leaves with, after it has said what went wrong: 0, 2 where
// another command line or machine would help, else 1.
int ExitCodeOf(const std::string& program, const absl::Status& status);

}  // namespace ordo::tests::bench

#endif  // ORDO_TESTS_BENCH_PROGRAM_H_
