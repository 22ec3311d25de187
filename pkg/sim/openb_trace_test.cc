#include "pkg/sim/openb_trace.h"

#include <gtest/gtest.h>

#include "pkg/util/testing/status_matchers.h"

namespace hekla::sim {
namespace {

using util::testing::StatusIs;

constexpr absl::string_view kPodHeader =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
    "deletion_time,scheduled_time\n";

TEST(OpenbTraceTest, PodsComeByCreationTimeWithTheirRunTime) {
  auto pods = ParseOpenbPods(std::string(kPodHeader) +
                                 "late,1000,1024,1,460,V100M16|V100M32,LS,Running,50,90,60\n"
                                 "early,2000,512,0,0,,BE,Pending,7,9,\r\n",
                             "p.csv", false);
  HEKLA_ASSERT_OK(pods);
  ASSERT_EQ(pods->size(), 2u);
  EXPECT_EQ((*pods)[0].name, "early");
  EXPECT_EQ((*pods)[0].run_seconds, -1);  // never scheduled there: runs for ever here
  EXPECT_EQ((*pods)[1].run_seconds, 30);  // 90 - 60
  EXPECT_EQ((*pods)[1].models, (std::vector<std::string>{"V100M16", "V100M32"}));
}

TEST(OpenbTraceTest, ForeverLetsNothingEnd) {
  auto pods =
      ParseOpenbPods(std::string(kPodHeader) + "a,1,1,0,0,,LS,Running,0,90,60\n", "p.csv", true);
  HEKLA_ASSERT_OK(pods);
  EXPECT_EQ((*pods)[0].run_seconds, -1);
}

TEST(OpenbTraceTest, CompressedArrivalsKeepOrderAndRunTime) {
  std::vector<TracePod> pods = {{.name = "a", .creation_second = 999, .run_seconds = 50},
                                {.name = "b", .creation_second = 1000, .run_seconds = 60},
                                {.name = "c", .creation_second = 12500}};
  CompressArrivals(pods, 1000);
  EXPECT_EQ(pods[0].creation_second, 0);
  EXPECT_EQ(pods[1].creation_second, 1);
  EXPECT_EQ(pods[1].run_seconds, 60);
  EXPECT_EQ(pods[2].creation_second, 12);
}

TEST(OpenbTraceTest, ObjectsAskForSharesOfGpusAndModels) {
  TracePod pod{.name = "p",
               .cpu_milli = 500,
               .memory_mib = 64,
               .num_gpu = 2,
               .gpu_milli = 1000,
               .models = {"T4"},
               .run_seconds = 5};
  const apis::json::Value object = ToObject(pod, absl::FromUnixSeconds(0));
  const auto& container = object.At("spec").At("containers").as_array()[0];
  EXPECT_EQ(apis::json::Dump(container.At("resources").At("requests")),
            R"({"cpu":"500m","memory":"64Mi","alibabacloud.com/gpu-milli":"2000"})");
  EXPECT_EQ(object.At("metadata").At("annotations").GetString("hekla.dev/run-seconds"), "5");
  EXPECT_NE(object.FindPath({"spec", "affinity", "nodeAffinity"}), nullptr);

  TraceNode node{.name = "n", .cpu_milli = 32000, .memory_mib = 262144, .gpus = 4, .model = "T4"};
  const apis::json::Value n = ToObject(node, absl::FromUnixSeconds(0));
  EXPECT_EQ(n.At("status").At("allocatable").GetString("alibabacloud.com/gpu-milli"), "4000");
  EXPECT_EQ(n.At("status").At("allocatable").GetString("pods"), "110");
  EXPECT_EQ(n.At("metadata").At("labels").GetString("alibabacloud.com/gpu-card-model"), "T4");
}

TEST(OpenbTraceTest, ErrorsNameFileRowAndColumn) {
  const auto code = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(ParseOpenbNodes("sn,cpu_milli,memory_mib,model\n", "n.csv"),
              StatusIs(code, "n.csv: row 1: column gpu: missing"));
  EXPECT_THAT(ParseOpenbNodes("sn,cpu_milli,memory_mib,gpu,model\nn,1,x,0,\n", "n.csv"),
              StatusIs(code, "n.csv: row 2: column memory_mib: \"x\" is no whole number"));
  EXPECT_THAT(ParseOpenbNodes("sn,cpu_milli,memory_mib,gpu,model\nn,1\n", "n.csv"),
              StatusIs(code, "n.csv: row 2: column memory_mib: missing"));
  EXPECT_THAT(
      ParseOpenbPods(std::string(kPodHeader) + "a,1,1,0,0,,LS,Running,-4,,\n", "p.csv", false),
      StatusIs(code, "p.csv: row 2: column creation_time: \"-4\""));
  EXPECT_THAT(ParseOpenbPods("", "p.csv", false), StatusIs(code, "p.csv: row 1: no header line"));
}

}  // namespace
}  // namespace hekla::sim
