// Measures Ordo; kHelp says how.

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "tests/bench/measure.h"
#include "tests/bench/outputs.h"

namespace {

using ordo::tests::bench::Benchmark;
using ordo::tests::bench::BenchmarkOptions;
using ordo::tests::bench::Benchmarks;
using ordo::tests::bench::Measurement;

constexpr char kHelp[] =
    "Measures Ordo. Programs are taken from $ORDO_BIN. Example:\n"
    "  tools/bench control --json figures.jsonl\n"
    "\n"
    "  NAME...              those; with none, all; control: all of the control "
    "plane\n"
    "  --json FILE          writes each figure as a line of JSON\n"
    "  --dir DIR            where what is measured lies, on the disk in "
    "question\n"
    "                       (unless given: the current folder)\n"
    "  --quick              a few samples of each, to see that it works\n"
    "  --list               names them, and measures nothing\n"
    "  --help               prints this\n";

int Fail(const std::string& message) {
  std::fprintf(stderr, "bench: %s\n", message.c_str());
  return 2;
}

void PrintNames() {
  for (const Benchmark& benchmark : Benchmarks()) {
    std::printf("%-18s %s\n", benchmark.name.c_str(), benchmark.text.c_str());
  }
}

// Those of a name, or of a group's.
std::vector<const Benchmark*> Find(const std::string& name) {
  std::vector<const Benchmark*> found;
  for (const Benchmark& benchmark : Benchmarks()) {
    if (benchmark.name == name || benchmark.group == name) {
      found.push_back(&benchmark);
    }
  }
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<const Benchmark*> chosen;
  std::string json_file;
  std::string parent = ".";
  BenchmarkOptions options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--list") {
      PrintNames();
      return 0;
    }
    if (argument == "--help") {
      std::fputs(kHelp, stdout);
      return 0;
    }
    if (argument == "--json" || argument == "--dir") {
      if (++i == argc) return Fail(argument + " needs a path");
      (argument == "--json" ? json_file : parent) = argv[i];
    } else if (argument == "--quick") {
      options.quick = true;
    } else if (const auto found = Find(argument); !found.empty()) {
      chosen.insert(chosen.end(), found.begin(), found.end());
    } else {
      return Fail(absl::StrCat("unknown benchmark '", argument,
                               "'; --list names them"));
    }
  }
  if (chosen.empty()) {
    for (const Benchmark& benchmark : Benchmarks()) {
      chosen.push_back(&benchmark);
    }
  }
  ordo::base::PosixFilesystem files;
  const auto made = files.MakeFolders(parent);
  if (!made.ok()) return Fail(std::string(made.message()));
  if (const auto writable = ordo::tests::bench::CheckJsonFile(json_file);
      !writable.ok()) {
    return Fail(std::string(writable.message()));
  }
  parent = std::filesystem::absolute(parent);
  std::vector<Measurement> all;
  std::string lines;
  int exit_code = 0;
  for (const Benchmark* benchmark : chosen) {
    const ordo::base::testing::TemporaryFolder folder(parent);
    options.folder = folder.path();
    const auto measured = RunBenchmark(*benchmark, options);
    if (!measured.ok()) {
      std::fprintf(stderr, "bench: %s: %s\n", benchmark->name.c_str(),
                   std::string(measured.status().message()).c_str());
      exit_code = 1;
      continue;
    }
    for (const Measurement& m : *measured) {
      absl::StrAppend(&lines, ToJson(m), "\n");
      all.push_back(m);
    }
  }
  std::fputs(ToTable(all).c_str(), stdout);
  if (json_file.empty()) return exit_code;
  const auto written = ordo::base::AtomicWrite(files, json_file, lines);
  if (!written.ok()) return Fail(std::string(written.message()));
  return exit_code;
}
