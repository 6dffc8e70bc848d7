#include "report/source.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace ordo::report {
namespace {

constexpr size_t kShownDigits = 12;

// What all names begin with, up to the `-` behind which only their last parts
// differ; resource names stay whole.
size_t SharedLength(const std::vector<SourceModel>& models) {
  if (models.size() < 2) return 0;
  std::string_view shared = models.front().name;
  for (const SourceModel& model : models) {
    size_t length = 0;
    while (length < shared.size() && length < model.name.size() &&
           shared[length] == model.name[length]) {
      ++length;
    }
    shared = shared.substr(0, length);
  }
  const size_t last = shared.find_last_of("-/");
  return last != std::string_view::npos && shared[last] == '-' ? last + 1 : 0;
}

}  // namespace

std::string SourceText(const FigureSource& source) {
  std::string text = absl::StrCat("job ", source.job);
  const size_t num_named = std::min(source.models.size(), kMaxSourceModels);
  const size_t shared = SharedLength(source.models);
  if (num_named > 0) {
    absl::StrAppend(
        &text, source.models.size() == 1 ? "; checkpoint" : "; checkpoints",
        shared > 0 ? " of " : "", source.models[0].name.substr(0, shared),
        ": ");
  }
  for (size_t i = 0; i < num_named; ++i) {
    const SourceModel& model = source.models[i];
    absl::StrAppend(&text, i > 0 ? ", " : "", model.name.substr(shared), " ",
                    model.checkpoint_sha256.empty()
                        ? "unknown"
                        : model.checkpoint_sha256.substr(0, kShownDigits));
  }
  if (source.models.size() > num_named) {
    absl::StrAppend(&text, " and ", source.models.size() - num_named, " more");
  }
  return absl::StrCat(text, "; again: ", source.command);
}

}  // namespace ordo::report
