#include "worker/agent/gpu_metrics.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/metrics/metrics.h"

namespace ordo::worker::agent {
namespace {

using ::ordo::workers::v1::Device;

// By label values.
using Values = std::map<std::vector<std::string>, double>;

void Put(const std::string& device, const std::optional<double>& value,
         Values* values) {
  if (value.has_value()) (*values)[{device}] = *value;
}

void CountErrors(const std::string& device, const GpuUse& use,
                 WorkerMetrics& metrics) {
  const std::pair<const char*, std::optional<int64_t>> kinds[] = {
      {"corrected", use.corrected_errors},
      {"uncorrected", use.uncorrected_errors}};
  for (const auto& [kind, count] : kinds) {
    if (!count.has_value()) continue;
    base::RaiseTo(static_cast<double>(*count),
                  metrics.gpu_ecc.With({device, kind}));
  }
}

}  // namespace

void ShowGpus(const std::vector<Device>& devices, const GpuLook& look,
              WorkerMetrics& metrics) {
  Values utilization, used, free, temperature, power;
  for (const Device& device : devices) {
    for (const GpuFault& fault : look.faults) {
      if (device.uuid().empty() || fault.uuid != device.uuid()) continue;
      metrics.gpu_faults.With({device.name(), FaultLabel(fault.fault)})
          .Increment();
    }
    const auto use = look.uses.find(device.uuid());
    if (use == look.uses.end() || !use->second.ok()) continue;
    Put(device.name(), use->second->utilization, &utilization);
    Put(device.name(), use->second->temperature_celsius, &temperature);
    Put(device.name(), use->second->power_watts, &power);
    Put(device.name(), static_cast<double>(use->second->used_bytes), &used);
    Put(device.name(), static_cast<double>(use->second->free_bytes), &free);
    CountErrors(device.name(), *use->second, metrics);
  }
  base::ShowOnly(metrics.gpu_utilization, utilization);
  base::ShowOnly(metrics.gpu_used, used);
  base::ShowOnly(metrics.gpu_free, free);
  base::ShowOnly(metrics.gpu_temperature, temperature);
  base::ShowOnly(metrics.gpu_power, power);
}

}  // namespace ordo::worker::agent
