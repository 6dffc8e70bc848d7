#include "worker/trainer/cost.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/text/nearest.h"
#include "model/catalog/catalog.h"
#include "model/cost/cost.h"
#include "nlohmann/json.hpp"
#include "proto/ordo/training/v1/spec.pb.h"
#include "worker/trainer/spec_file.h"

namespace ordo::worker::trainer {
namespace {

namespace catalog = ::ordo::model::catalog;
namespace cost = ::ordo::model::cost;
using Json = nlohmann::ordered_json;
using ordo::training::v1::TrainSpec;

constexpr int64_t kDefaultTokens = 1024;

struct Counted {
  std::string convention;
  cost::Cost cost;
};

absl::Status CheckChoice(const std::string& flag, const std::string& value,
                         const std::vector<std::string>& choices) {
  if (value.empty() ||
      std::find(choices.begin(), choices.end(), value) != choices.end()) {
    return absl::OkStatus();
  }
  return base::InvalidField(flag,
                            absl::StrCat("'", value, "' is not known",
                                         base::SuggestName(value, choices)));
}

absl::StatusOr<int64_t> TokensOf(const TrainSpec& spec, int64_t given) {
  const auto* task =
      catalog::Find(catalog::Kind::kTrainingTask, spec.data().task());
  int64_t tokens = kDefaultTokens;
  if (task != nullptr && task->row_length != nullptr) {
    tokens = task->row_length(spec.data().params());
  }
  if (given != 0) tokens = given;
  const int64_t limit = catalog::MaxLength(spec.encoding());
  if (limit == 0 || tokens <= limit) return tokens;
  return base::InvalidField(
      "--tokens", absl::StrCat("is ", tokens, ", the encoding has room for ",
                               limit, "; give fewer or raise its limit"));
}

Json ToJson(const cost::PartCost& part) {
  return {{"name", part.name},
          {"parameters", part.parameters},
          {"macs", part.macs},
          {"flops", part.flops},
          {"state_bytes", part.state_bytes}};
}

std::string AsJson(int64_t tokens, const std::vector<Counted>& all) {
  Json json;
  json["tokens"] = tokens;
  json["conventions"] = Json::array();
  for (const Counted& counted : all) {
    Json one;
    one["convention"] = counted.convention;
    one["parts"] = Json::array();
    for (const cost::PartCost& part : counted.cost.parts) {
      one["parts"].push_back(ToJson(part));
    }
    one["whole"] = ToJson(counted.cost.whole);
    json["conventions"].push_back(std::move(one));
  }
  return json.dump(2) + "\n";
}

std::string Row(const cost::PartCost& part) {
  return absl::StrFormat("%-10s %14d %18d %18d %14d\n", part.name,
                         part.parameters, part.macs, part.flops,
                         part.state_bytes);
}

std::string AsTable(int64_t tokens, const std::vector<Counted>& all) {
  std::string text;
  for (const Counted& counted : all) {
    const cost::PartCost& whole = counted.cost.whole;
    absl::StrAppend(&text, text.empty() ? "" : "\n",
                    "convention: ", counted.convention,
                    ", one forward pass over ", tokens, " tokens\n");
    absl::StrAppendFormat(&text, "%-10s %14s %18s %18s %14s\n", "PART",
                          "PARAMETERS", "MACS", "FLOPS", "STATE BYTES");
    for (const cost::PartCost& part : counted.cost.parts) {
      absl::StrAppend(&text, Row(part));
    }
    absl::StrAppend(&text, Row(whole));
    absl::StrAppendFormat(&text,
                          "%.2f Mi parameters, %.3f G MACs, %.3f G FLOPs\n",
                          static_cast<double>(whole.parameters) / (1 << 20),
                          static_cast<double>(whole.macs) / 1e9,
                          static_cast<double>(whole.flops) / 1e9);
  }
  return text;
}

}  // namespace

absl::StatusOr<std::string> CostText(base::Filesystem& files,
                                     const CostOptions& options) {
  std::vector<std::string> names;
  for (const auto convention : cost::Conventions()) {
    names.push_back(cost::ConventionName(convention));
  }
  ORDO_RETURN_IF_ERROR(CheckChoice("--convention", options.convention, names));
  ORDO_RETURN_IF_ERROR(CheckChoice("-o", options.output, {"table", "json"}));
  ORDO_ASSIGN_OR_RETURN(const TrainSpec spec,
                        ReadModelSpec(files, options.spec));
  ORDO_ASSIGN_OR_RETURN(const int64_t tokens, TokensOf(spec, options.tokens));
  const cost::CostSubject subject{
      spec.model(), spec.encoding(),
      spec.training().has_lora() ? &spec.training().lora() : nullptr};
  std::vector<Counted> all;
  for (const auto convention : cost::Conventions()) {
    const std::string name = cost::ConventionName(convention);
    if (!options.convention.empty() && name != options.convention) continue;
    cost::CostOptions count;
    count.convention = convention;
    count.tokens = tokens;
    all.push_back({name, cost::CountCost(subject, count)});
  }
  return options.output == "json" ? AsJson(tokens, all) : AsTable(tokens, all);
}

}  // namespace ordo::worker::trainer
