#include "model/evaluation/item_pairs.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/digest/digest.h"
#include "base/files/file_util.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "model/catalog/catalog.h"
#include "model/evaluation/items.h"
#include "model/evaluation/report.h"
#include "model/training/durable_folder.h"
#include "nlohmann/json.hpp"

namespace ordo::model::evaluation {
namespace {

using Json = nlohmann::json;

constexpr char kBaseline[] = "baseline";
constexpr size_t kMaxResultBytes = 64 << 20;

// What the items of a report are of.
struct Origin {
  std::string task;
  int64_t version = 0;
  uint64_t seed = 0;
  Json params;
  size_t num_items = 0;
  // Of the data that it was evaluated on; empty: it was generated.
  std::string data_fingerprint;
  // Of files with questions: the version of what they ask and how it is scored,
  // whatever tokenizer reads them. Empty: there was none.
  std::string questions_sha256;
  // As the report has them; empty: it does not say.
  std::string precision;
  std::string kernel;
};

absl::StatusOr<Origin> ReadOrigin(base::Filesystem& files,
                                  const std::string& folder) {
  const std::string path = base::JoinPath(folder, kResultFile);
  ORDO_ASSIGN_OR_RETURN(const std::string text,
                        base::ReadFile(files, path, kMaxResultBytes));
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return training::DamagedFile(path, "it is no JSON object");
  }
  if (json.find("task_version") == json.end()) {
    return absl::FailedPreconditionError(
        absl::StrCat(folder,
                     " has no scores of single items: an older trainer "
                     "wrote it; evaluate the checkpoint again"));
  }
  Origin origin;
  try {
    json.at("task").get_to(origin.task);
    json.at("task_version").get_to(origin.version);
    json.at("seed").get_to(origin.seed);
    json.at("items").get_to(origin.num_items);
    origin.params = json.at("params");
    origin.data_fingerprint = json.value("data_fingerprint", std::string());
    origin.questions_sha256 = json.value("questions_sha256", std::string());
    origin.precision = json.value("precision", std::string());
    origin.kernel = json.value("kernel", std::string());
  } catch (const Json::exception& error) {
    return training::DamagedFile(path, error.what());
  }
  return origin;
}

absl::Status Differ(const std::string& what, const std::string& candidate,
                    const std::string& baseline) {
  return base::InvalidField(
      kBaseline,
      absl::StrCat("has ", what, " ", baseline, ", the candidate ", candidate,
                   "; evaluate one of them as the other"));
}

// Whether items of a task are pieces of a text that only their places name, so
// that those of another text, or of other tokens, are called the same.
bool NamesItemsByPlace(const std::string& task) {
  const catalog::Entry* entry =
      catalog::Find(catalog::Kind::kEvaluationTask, task);
  return entry != nullptr &&
         entry->evaluation.item_scores == catalog::ItemScores::kLogLikelihoods;
}

absl::Status CheckSameQuestions(const Origin& candidate,
                                const Origin& baseline) {
  if (candidate.task != baseline.task) {
    return Differ("task", candidate.task, baseline.task);
  }
  if (candidate.version != baseline.version) {
    return Differ(absl::StrCat("version of ", candidate.task),
                  absl::StrCat(candidate.version),
                  absl::StrCat(baseline.version));
  }
  if (candidate.params != baseline.params) {
    return Differ("params", candidate.params.dump(), baseline.params.dump());
  }
  if (candidate.seed != baseline.seed) {
    return Differ("seed", absl::StrCat(candidate.seed),
                  absl::StrCat(baseline.seed));
  }
  if (NamesItemsByPlace(candidate.task) &&
      candidate.data_fingerprint != baseline.data_fingerprint) {
    return Differ("data", candidate.data_fingerprint,
                  baseline.data_fingerprint);
  }
  if (candidate.questions_sha256 != baseline.questions_sha256) {
    return Differ("questions of version", candidate.questions_sha256,
                  baseline.questions_sha256);
  }
  return absl::OkStatus();
}

std::string Or(const std::string& name, const char* nothing) {
  return name.empty() ? nothing : name;
}

// How the answers were computed, where that is not the same.
std::vector<std::string> DifferencesOf(const Origin& candidate,
                                       const Origin& baseline) {
  std::vector<std::string> differences;
  if (candidate.precision != baseline.precision) {
    differences.push_back(absl::StrCat(
        "the candidate was evaluated in ",
        Or(candidate.precision, "an unknown precision"), ", the baseline in ",
        Or(baseline.precision, "an unknown precision")));
  }
  if (candidate.kernel != baseline.kernel) {
    differences.push_back(
        absl::StrCat("the candidate was evaluated with kernel ",
                     Or(candidate.kernel, "of the device's choice"),
                     ", the baseline with kernel ",
                     Or(baseline.kernel, "of the device's choice")));
  }
  return differences;
}

// Of the baseline.
struct Scored {
  std::string unit;
  double score = 0;
  bool has_pair = false;
};

// The items of one report, each once, and as many as it says.
class Items {
 public:
  static absl::StatusOr<Items> Open(base::Filesystem& files,
                                    const std::string& folder,
                                    size_t num_items) {
    const std::string path = base::JoinPath(folder, kItemsFile);
    ORDO_ASSIGN_OR_RETURN(ItemReader reader, ItemReader::Open(files, path));
    return Items(path, num_items, std::move(reader));
  }

  absl::StatusOr<std::optional<Item>> Next() {
    ORDO_ASSIGN_OR_RETURN(std::optional<Item> item, reader_.Next());
    if (!item && num_read_ != num_items_) {
      return training::DamagedFile(
          path_, absl::StrCat("it has ", num_read_, " items, the report ",
                              num_items_));
    }
    ++num_read_;
    return item;
  }

  absl::Status Twice(const std::string& id) const {
    return training::DamagedFile(path_,
                                 absl::StrCat("it has item ", id, " twice"));
  }

 private:
  Items(std::string path, size_t num_items, ItemReader reader)
      : path_(std::move(path)),
        num_items_(num_items),
        reader_(std::move(reader)) {}

  std::string path_;
  size_t num_items_;
  size_t num_read_ = 0;
  ItemReader reader_;
};

using ScoredById = std::unordered_map<std::string, Scored>;

absl::StatusOr<ScoredById> ReadScored(Items items) {
  ScoredById scored;
  while (true) {
    ORDO_ASSIGN_OR_RETURN(const std::optional<Item> item, items.Next());
    if (!item) return scored;
    const bool is_new =
        scored.insert({item->id, {item->unit, item->score}}).second;
    if (!is_new) return items.Twice(item->id);
  }
}

// Items that one report has and the other lacks.
struct Alone {
  size_t num_items = 0;
  // Of the candidate the first.
  std::string example;

  void Add(const std::string& id) {
    if (num_items++ == 0) example = id;
  }
};

absl::Status NotInBoth(const Alone& of_candidate, const Alone& of_baseline) {
  std::string text;
  if (of_candidate.num_items > 0) {
    text =
        absl::StrCat("lacks ", of_candidate.num_items,
                     " items of the candidate, such as ", of_candidate.example);
  }
  if (of_baseline.num_items > 0) {
    absl::StrAppend(&text, text.empty() ? "" : " and ", "has ",
                    of_baseline.num_items,
                    " that the candidate lacks, such as ", of_baseline.example);
  }
  return base::InvalidField(
      kBaseline, absl::StrCat(text, "; evaluate both on the same items"));
}

// Pairs what is left of the candidate with the baseline.
absl::StatusOr<std::vector<ItemPair>> Pair(Items candidate,
                                           ScoredById baseline) {
  std::vector<ItemPair> pairs;
  Alone of_candidate;
  while (true) {
    ORDO_ASSIGN_OR_RETURN(const std::optional<Item> item, candidate.Next());
    if (!item) break;
    const auto found = baseline.find(item->id);
    if (found == baseline.end()) {
      of_candidate.Add(item->id);
      continue;
    }
    Scored& scored = found->second;
    if (scored.has_pair) return candidate.Twice(item->id);
    scored.has_pair = true;
    if (scored.unit != item->unit) {
      return Differ(absl::StrCat("unit of item ", item->id), item->unit,
                    scored.unit);
    }
    pairs.push_back({item->id, item->unit, scored.score, item->score});
  }
  Alone of_baseline;
  of_baseline.num_items = baseline.size() - pairs.size();
  if (of_baseline.num_items == 0 && of_candidate.num_items == 0) return pairs;
  // The least, since the table has no order.
  for (const auto& [id, scored] : baseline) {
    if (scored.has_pair) continue;
    if (of_baseline.example.empty() || id < of_baseline.example) {
      of_baseline.example = id;
    }
  }
  return NotInBoth(of_candidate, of_baseline);
}

}  // namespace

absl::StatusOr<PairedItems> PairItems(base::Filesystem& files,
                                      const PairedReports& reports) {
  ORDO_ASSIGN_OR_RETURN(const Origin candidate,
                        ReadOrigin(files, reports.candidate));
  ORDO_ASSIGN_OR_RETURN(const Origin baseline,
                        ReadOrigin(files, reports.baseline));
  ORDO_RETURN_IF_ERROR(CheckSameQuestions(candidate, baseline));
  ORDO_ASSIGN_OR_RETURN(Items of_baseline, Items::Open(files, reports.baseline,
                                                       baseline.num_items));
  ORDO_ASSIGN_OR_RETURN(ScoredById scored, ReadScored(std::move(of_baseline)));
  ORDO_ASSIGN_OR_RETURN(
      Items of_candidate,
      Items::Open(files, reports.candidate, candidate.num_items));
  PairedItems paired;
  ORDO_ASSIGN_OR_RETURN(paired.items,
                        Pair(std::move(of_candidate), std::move(scored)));
  paired.differences = DifferencesOf(candidate, baseline);
  return paired;
}

absl::StatusOr<std::string> QuestionsDigest(base::Filesystem& files,
                                            const std::string& folder) {
  ORDO_ASSIGN_OR_RETURN(const Origin origin, ReadOrigin(files, folder));
  ORDO_ASSIGN_OR_RETURN(Items items,
                        Items::Open(files, folder, origin.num_items));
  base::Sha256 digest;
  const auto add = [&digest](const Json& json) {
    digest.Update(json.dump(-1, ' ', false, Json::error_handler_t::replace));
    digest.Update("\n");
  };
  add(Json::array({origin.task, origin.version, origin.seed, origin.params,
                   origin.data_fingerprint}));
  while (true) {
    ORDO_ASSIGN_OR_RETURN(const std::optional<Item> item, items.Next());
    if (!item) return digest.FinishHex();
    add(Json::array({item->id, item->unit}));
  }
}

}  // namespace ordo::model::evaluation
