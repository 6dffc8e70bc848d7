#include "worker/trainer/gate_texts.h"

#include <optional>
#include <unordered_map>

#include "absl/strings/strip.h"
#include "base/files/file_util.h"
#include "base/status/status.h"
#include "model/evaluation/items.h"
#include "nlohmann/json.hpp"

namespace ordo::worker::trainer {
namespace {

using model::evaluation::Item;
using model::evaluation::ItemReader;
using report::gate::WorseItem;

using ByItem = std::unordered_map<std::string, WorseItem*>;

ByItem PlacesOf(std::vector<WorseItem>* items) {
  ByItem places;
  for (WorseItem& item : *items) places[item.id] = &item;
  return places;
}

// At most kMaxOutputBytes of it, well-formed.
std::string Shown(const std::string& text) {
  using Json = nlohmann::json;
  Item cut;
  model::evaluation::SetOutput(text, &cut);
  const std::string line =
      Json(cut.output).dump(-1, ' ', false, Json::error_handler_t::replace);
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  return json.get<std::string>() + (cut.output_cut ? " ..." : "");
}

absl::Status FillFrom(base::Filesystem& files, const std::string& folder,
                      std::string WorseItem::*output, const ByItem& places) {
  ORDO_ASSIGN_OR_RETURN(
      ItemReader reader,
      ItemReader::Open(files,
                       base::JoinPath(folder, model::evaluation::kItemsFile)));
  while (true) {
    ORDO_ASSIGN_OR_RETURN(const std::optional<Item> item, reader.Next());
    if (!item) return absl::OkStatus();
    const auto place = places.find(item->id);
    if (place == places.end()) continue;
    place->second->*output = item->output;
    if (item->output_cut) place->second->*output += " ...";
  }
}

}  // namespace

absl::Status FillOutputs(base::Filesystem& files, const ReportFolders& folders,
                         std::vector<WorseItem>* items) {
  const ByItem places = PlacesOf(items);
  for (const std::string& folder : folders.candidate) {
    ORDO_RETURN_IF_ERROR(
        FillFrom(files, folder, &WorseItem::candidate_output, places));
  }
  for (const std::string& folder : folders.reference) {
    ORDO_RETURN_IF_ERROR(
        FillFrom(files, folder, &WorseItem::reference_output, places));
  }
  return absl::OkStatus();
}

absl::Status FillPrompts(const model::tasks::EvaluationTask& task,
                         uint64_t seed, std::vector<WorseItem>* items) {
  const ByItem places = PlacesOf(items);
  for (int64_t index = 0; index < task.size(); ++index) {
    const std::string id = task.ItemId(seed, index);
    // Rows of choices are called <item>/<choice>.
    auto place = places.find(id);
    if (place == places.end()) {
      place = places.find(std::string(absl::StripSuffix(id, "/0")));
    }
    if (place == places.end()) continue;
    ORDO_ASSIGN_OR_RETURN(const model::tasks::Question question,
                          task.Generate(seed, index));
    place->second->prompt = Shown(task.tokenizer().Decode(question.prompt));
  }
  return absl::OkStatus();
}

}  // namespace ordo::worker::trainer
