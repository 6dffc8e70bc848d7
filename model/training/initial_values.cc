#include "model/training/initial_values.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/digest/digest.h"

namespace ordo::model::training {

InitialValues DigestValues(const transformer::Transformer& model) {
  InitialValues values;
  for (const auto& [name, tensor] : model.Parameters()) {
    if (model.IsOfEncoding(name)) continue;
    const at::Tensor whole = tensor.detach().cpu().contiguous();
    base::Sha256 digest;
    digest.Update(absl::StrCat(c10::toString(whole.scalar_type()), "\n"));
    digest.Update(
        {static_cast<const char*>(whole.const_data_ptr()), whole.nbytes()});
    values[name] = {whole.sizes().vec(), digest.FinishHex()};
  }
  return values;
}

std::string CombinedDigest(const InitialValues& values) {
  if (values.empty()) return "";
  base::Sha256 digest;
  for (const auto& [name, value] : values) {
    digest.Update(absl::StrCat(name, " ", absl::StrJoin(value.shape, ","), " ",
                               value.sha256, "\n"));
  }
  return digest.FinishHex();
}

nlohmann::ordered_json ToJson(const InitialValues& values) {
  auto parameters = nlohmann::ordered_json::object();
  for (const auto& [name, value] : values) {
    parameters[name] = {{"shape", value.shape}, {"sha256", value.sha256}};
  }
  return {{"digest", CombinedDigest(values)}, {"parameters", parameters}};
}

InitialValues InitialValuesOf(const nlohmann::ordered_json& json) {
  InitialValues values;
  for (const auto& [name, value] : json.at("parameters").items()) {
    values[name] = {value.at("shape").get<std::vector<int64_t>>(),
                    value.at("sha256").get<std::string>()};
  }
  return values;
}

}  // namespace ordo::model::training
