#include "pkg/apis/storage/storage.h"

#include <gtest/gtest.h>

#include "pkg/util/testing/status_matchers.h"

namespace hekla::apis::storage {
namespace {

TEST(StorageCodecTest, ReadsEveryKind) {
  absl::StatusOr<StorageClass> sc = DecodeStorageClass(*json::Parse(
      R"({"metadata":{"name":"fast"},"provisioner":"p","volumeBindingMode":"WaitForFirstConsumer",
          "parameters":{"csi.storage.k8s.io/csi-driver-name":"d"},
          "allowedTopologies":[{"matchLabelExpressions":[{"key":"zone","values":["a","b"]}]}]})"));
  HEKLA_ASSERT_OK(sc);
  EXPECT_EQ(sc->volume_binding_mode, "WaitForFirstConsumer");
  ASSERT_EQ(sc->allowed_topologies.size(), 1u);
  EXPECT_TRUE(sc->allowed_topologies[0].Matches({{"zone", "b"}}, "n"));
  EXPECT_FALSE(sc->allowed_topologies[0].Matches({{"zone", "c"}}, "n"));

  absl::StatusOr<CsiNode> node = DecodeCsiNode(*json::Parse(
      R"({"spec":{"drivers":[{"name":"d","nodeID":"i","allocatable":{"count":5}},{"name":"e"}]}})"));
  HEKLA_ASSERT_OK(node);
  EXPECT_EQ(node->drivers.at(0).allocatable_count, 5);
  EXPECT_FALSE(node->drivers.at(1).allocatable_count.has_value());

  EXPECT_TRUE(
      DecodeCsiDriver(*json::Parse(R"({"spec":{"storageCapacity":true}})"))->storage_capacity);
  absl::StatusOr<CsiStorageCapacity> capacity = DecodeCsiStorageCapacity(*json::Parse(
      R"({"storageClassName":"fast","capacity":"10Gi","nodeTopology":{"matchLabels":{"z":"1"}}})"));
  HEKLA_ASSERT_OK(capacity);
  EXPECT_EQ(capacity->capacity->Value(), 10737418240);
  EXPECT_FALSE(capacity->maximum_volume_size.has_value());
  absl::StatusOr<VolumeAttachment> attachment = DecodeVolumeAttachment(*json::Parse(
      R"({"spec":{"attacher":"d","nodeName":"n","source":{"persistentVolumeName":"pv"}}})"));
  HEKLA_ASSERT_OK(attachment);
  EXPECT_EQ(attachment->volume_name, "pv");
}

}  // namespace
}  // namespace hekla::apis::storage
