#include "report/source.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace ordo::report {
namespace {

constexpr size_t kShownDigits = 12;

}  // namespace

std::string SourceText(const FigureSource& source) {
  std::string text = absl::StrCat("job ", source.job);
  const size_t num_named = std::min(source.models.size(), kMaxSourceModels);
  for (size_t i = 0; i < num_named; ++i) {
    const SourceModel& model = source.models[i];
    const char* before = i > 0                       ? ", "
                         : source.models.size() == 1 ? "; checkpoint: "
                                                     : "; checkpoints: ";
    absl::StrAppend(&text, before, model.name, " ",
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
