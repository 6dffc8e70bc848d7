#ifndef ORDO_TESTS_BENCH_PROGRAM_H_
#define ORDO_TESTS_BENCH_PROGRAM_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "kernels/common/device_name.h"
#include "model/benchmark/measurement.h"

// What the programs that measure kernels share.

namespace ordo::tests::bench {

// What a command line may say.
class Flags {
 public:
  // What is done with a flag's value.
  using Told = std::function<absl::Status(const std::string& value)>;

  // `about`: lines for people, what the program does and an example.
  explicit Flags(std::string about) : about_(std::move(about)) {}

  // `help`: for people, what it says. A switch has no value; switches are told
  // before the others, wherever they stand, and these in the order of the
  // command line.
  void AddSwitch(const std::string& flag, const std::string& help,
                 std::function<void()> told);
  // `value`: for people, a word for it, such as FILE.
  void Add(const std::string& flag, const std::string& value,
           const std::string& help, Told told);
  // A flag whose value is kept as it is, in `text`.
  void AddText(const std::string& flag, const std::string& value,
               const std::string& help, std::string* text);
  // A flag whose value is a number in 1..max.
  void AddNumber(const std::string& flag, int max, const std::string& help,
                 int* number);

  // INVALID_ARGUMENT names the first argument that is no flag or lacks its
  // value; other errors are those of the flag's function.
  absl::Status Read(const std::vector<std::string>& arguments) const;

  // What it is about, and a line for each flag in the order of adding.
  std::string Help() const;

 private:
  struct Flag {
    std::string name;
    std::string value;
    std::string help;
    // The one that it has.
    std::function<void()> switched;
    Told told;
  };

  const Flag* Find(const std::string& name) const;

  const std::string about_;
  std::vector<Flag> flags_;
};

// Prints the help where --help stands among the arguments, and whether it did.
bool GaveHelp(const Flags& flags, const std::vector<std::string>& arguments);

// INVALID_ARGUMENT names the flag unless the value is a number in 1..max.
absl::Status ReadNumber(const std::string& flag, const std::string& value,
                        int max, int* number);

// --json and --plots: where what is found goes; empty: nowhere.
struct Outputs {
  std::string json_file;
  std::string plots_folder;

  void AddTo(Flags* flags);
  // Whether both can be written, before anything is measured:
  // FAILED_PRECONDITION names the flag and what is wrong.
  absl::Status Check() const;
  // A line of JSON for each, where --json says so.
  absl::Status WriteJson(
      const std::vector<model::benchmark::Measurement>& measurements) const;
};

// --device, as workers name devices.
void AddDevice(Flags* flags, kernels::DeviceName* device);

// Before anything runs there: of a GPU, the libraries and the rows of the
// tables that it needs; the process sees no other. FAILED_PRECONDITION names
// the flag and what is missing.
absl::Status OpenDevice(const kernels::DeviceName& device);

// What a program leaves with, after it has said what went wrong: 0, 2 where
// another command line or machine would help, else 1.
int ExitCodeOf(const std::string& program, const absl::Status& status);

}  // namespace ordo::tests::bench

#endif  // ORDO_TESTS_BENCH_PROGRAM_H_
