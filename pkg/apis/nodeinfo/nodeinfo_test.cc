#include <gtest/gtest.h>

#include "pkg/apis/nodeinfo/numatopology.h"
#include "pkg/util/testing/status_matchers.h"

namespace hekla::apis::nodeinfo {
namespace {

TEST(NumatopologyCodecTest, ReadsCpusInOrder) {
  absl::StatusOr<Numatopology> topology = DecodeNumatopology(*json::Parse(
      R"({"metadata":{"name":"n1"},"spec":{"policies":{"CPUManagerPolicy":"static"},
          "resReserved":{"cpu":"1"},"numares":{"cpu":{"allocatable":"0-3","capacity":4}},
          "cpuDetail":{"10":{"core":1,"numa":1},"2":{"core":0,"numa":0,"socket":0}},
          "podAllocations":[{"namespace":"n","name":"p","uid":"u","containerAllocations":[
            {"name":"c","allocations":{"cpu":"0-1"}}]}]}})"));
  HEKLA_ASSERT_OK(topology);
  ASSERT_EQ(topology->cpu_detail.size(), 2u);
  EXPECT_EQ(topology->cpu_detail[0].cpu, 2);
  EXPECT_EQ(topology->cpu_detail[1].numa, 1);
  EXPECT_EQ(topology->resources.at(0).allocatable, "0-3");
  EXPECT_EQ(topology->pod_allocations.at(0).containers.at(0).allocations.Get("cpu"), "0-1");
  EXPECT_EQ(
      DecodeNumatopology(*json::Parse(R"({"spec":{"cpuDetail":{"x":{}}}})")).status().message(),
      "spec.cpuDetail.x: the key must be a CPU number");
}

}  // namespace
}  // namespace hekla::apis::nodeinfo
