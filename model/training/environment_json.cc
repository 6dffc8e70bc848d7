#include "model/training/environment_json.h"

namespace ordo::model::training {

nlohmann::ordered_json ToJson(const Environment& environment) {
  return {{"build_digest", environment.build_digest},
          {"threads", environment.threads},
          {"cpu_capability", environment.cpu_capability},
          {"torch_version", environment.torch_version},
          {"kernels", environment.kernels},
          {"settings", environment.settings},
          {"gpu", environment.gpu},
          {"ranks", environment.ranks}};
}

Environment EnvironmentOf(const nlohmann::ordered_json& json) {
  Environment environment;
  environment.build_digest = json.at("build_digest");
  environment.threads = json.at("threads");
  environment.cpu_capability = json.at("cpu_capability");
  environment.torch_version = json.at("torch_version");
  environment.kernels = json.at("kernels");
  environment.settings = json.at("settings");
  // In checkpoints from before there were GPUs.
  environment.gpu = json.value("gpu", "");
  // In checkpoints from before there could be several.
  environment.ranks = json.value("ranks", 1);
  return environment;
}

}  // namespace ordo::model::training
