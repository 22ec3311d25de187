#include "pkg/apis/nodeinfo/numatopology.h"

#include <algorithm>

#include "absl/strings/numbers.h"

namespace hekla::apis::nodeinfo {

using meta::Reader;

absl::StatusOr<Numatopology> DecodeNumatopology(const json::Value& value) {
  Numatopology out;
  const Reader root(value);
  meta::ReadObjectMeta(root, out.metadata);
  root.Object("spec", [&](Reader& spec) {
    spec.Map("policies", out.policies);
    spec.Map("resReserved", out.reserved);
    spec.Objects("numares", [&](const std::string& name, Reader& r) {
      NumaResource& resource = out.resources.emplace_back();
      resource.name = name;
      r.String("allocatable", resource.allocatable);
      r.Int("capacity", resource.capacity);
    });
    spec.Objects("cpuDetail", [&](const std::string& cpu, Reader& r) {
      CpuInfo& info = out.cpu_detail.emplace_back();
      if (!absl::SimpleAtoi(cpu, &info.cpu)) r.Fail("", "the key must be a CPU number");
      r.Int("core", info.core);
      r.Int("socket", info.socket);
      r.Int("numa", info.numa);
    });
    spec.List("podAllocations", [&](Reader& item) {
      PodAllocation& pod = out.pod_allocations.emplace_back();
      item.String("namespace", pod.ns);
      item.String("name", pod.name);
      item.String("uid", pod.uid);
      item.List("containerAllocations", [&](Reader& c) {
        ContainerAllocation& container = pod.containers.emplace_back();
        c.String("name", container.name);
        c.Map("allocations", container.allocations);
      });
    });
  });
  if (!root.status().ok()) return root.status();
  std::sort(out.cpu_detail.begin(), out.cpu_detail.end(),
            [](const CpuInfo& a, const CpuInfo& b) { return a.cpu < b.cpu; });
  std::sort(out.resources.begin(), out.resources.end(),
            [](const NumaResource& a, const NumaResource& b) { return a.name < b.name; });
  return out;
}

}  // namespace hekla::apis::nodeinfo
