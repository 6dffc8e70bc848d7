#include "services/cli/commands/request_paths.h"

#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace ordo::services::cli {
namespace {

constexpr char kRequest[] = "requests[";

// Behind "requests[I]": the part of a path that says nothing to a person.
size_t LengthOfRest(const std::string& text, size_t at) {
  for (const std::string rest : {".job.spec.", ".job.", ".", ": "}) {
    if (text.compare(at, rest.size(), rest) == 0) return rest.size();
  }
  return 0;
}

}  // namespace

std::string WithSources(const std::string& text,
                        const std::vector<JobSource>& sources) {
  for (const JobSource& source : sources) {
    const std::string prefix = absl::StrCat("jobs/", source.job, ": ");
    if (!absl::StartsWith(text, prefix)) continue;
    return absl::StrCat(source.source, ": ", text.substr(prefix.size()));
  }
  std::string result;
  size_t done = 0;
  size_t begin = 0;
  while ((begin = text.find(kRequest, begin)) != std::string::npos) {
    const size_t number = begin + sizeof(kRequest) - 1;
    const size_t end = text.find(']', number);
    if (end == std::string::npos) break;
    uint64_t index = 0;
    if (!absl::SimpleAtoi(text.substr(number, end - number), &index) ||
        index >= sources.size()) {
      begin = number;
      continue;
    }
    const size_t rest = LengthOfRest(text, end + 1);
    absl::StrAppend(&result, text.substr(done, begin - done),
                    sources[index].source, rest == 0 ? "" : ": ");
    begin = done = end + 1 + rest;
  }
  return result + text.substr(done);
}

}  // namespace ordo::services::cli
