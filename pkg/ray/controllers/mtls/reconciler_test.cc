#include "pkg/ray/controllers/mtls/reconciler.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "absl/strings/str_cat.h"
#include "pkg/apis/json/value.h"
#include "pkg/controller/object_helpers.h"
#include "pkg/ray/controllers/common/kinds.h"
#include "pkg/util/clock.h"

namespace hekla::ray::controllers::mtls {
namespace {

using apis::json::Value;
using controller::ObjectPtr;

// Objects by kind and name; a cache that never lags.
class MapClient final : public controller::Client {
 public:
  std::map<std::string, Value> objects;
  std::string refused;  // key of what cannot be created

  static std::string Key(const kube::Resource& resource, absl::string_view name) {
    return absl::StrCat(resource.kind, " ", name);
  }
  absl::StatusOr<ObjectPtr> Get(const kube::Resource& resource, absl::string_view,
                                absl::string_view name) override {
    const auto it = objects.find(Key(resource, name));
    if (it == objects.end()) return absl::NotFoundError(name);
    return std::make_shared<const Value>(it->second);
  }
  absl::StatusOr<std::vector<ObjectPtr>> List(const kube::Resource&,
                                              const controller::ListFilter&) override {
    return std::vector<ObjectPtr>();
  }
  absl::StatusOr<Value> GetLive(const kube::Resource& resource, absl::string_view ns,
                                absl::string_view name) override {
    const absl::StatusOr<ObjectPtr> object = Get(resource, ns, name);
    if (!object.ok()) return object.status();
    return **object;
  }
  absl::StatusOr<std::vector<Value>> ListLive(const kube::Resource&, absl::string_view,
                                              const kube::ListOptions&) override {
    return std::vector<Value>();
  }
  absl::StatusOr<Value> Create(const kube::Resource& resource, const Value& object) override {
    const std::string key = Key(resource, controller::NameOf(object));
    if (key == refused) return absl::PermissionDeniedError("no");
    return objects[key] = object;
  }
  absl::StatusOr<Value> Update(const kube::Resource& resource, const Value& object) override {
    return objects[Key(resource, controller::NameOf(object))] = object;
  }
  absl::StatusOr<Value> UpdateStatus(const kube::Resource&, const Value& object) override {
    return object;
  }
  absl::StatusOr<Value> Patch(const kube::Resource&, const kube::ObjectName&, kube::PatchType,
                              const Value& patch) override {
    return patch;
  }
  absl::Status Delete(const kube::Resource&, absl::string_view, absl::string_view,
                      const kube::DeleteOptions&) override {
    return absl::OkStatus();
  }
  absl::Status DeleteCollection(const kube::Resource&, absl::string_view,
                                const kube::ListOptions&) override {
    return absl::OkStatus();
  }
};

class Notes final : public EventSink {
 public:
  std::vector<std::string> all;
  void Emit(const Value&, const EventNote& event) override {
    all.push_back(absl::StrCat(event.type, " ", event.reason, ": ", event.note));
  }
};

class MtlsTest : public ::testing::Test {
 protected:
  MtlsTest() {
    client_.objects["RayCluster c"] = *apis::json::Parse(
        R"({"apiVersion":"ray.io/v1","kind":"RayCluster","metadata":{"name":"c","namespace":"ns",)"
        R"("uid":"0123456789"},"spec":{"tlsOptions":{"enabled":true},"headGroupSpec":{"template":)"
        R"({"spec":{"containers":[{"name":"h"}]}}}}})");
  }
  absl::StatusOr<controller::Result> Reconcile() {
    notes_.all.clear();
    return reconciler_.Reconcile({"ns", "c"});
  }
  void Issue(const std::string& certificate, const std::string& expiry) {
    client_.objects.at("Certificate " + certificate)
        .Set("status", *apis::json::Parse(absl::StrCat(
                           R"({"conditions":[{"type":"Ready","status":"True"}],"notAfter":")",
                           expiry, "\"}")));
  }

  MapClient client_;
  Notes notes_;
  util::FakeClock clock_{absl::FromCivil(absl::CivilHour(2026, 1, 1), absl::UTCTimeZone())};
  Reconciler reconciler_{{.client = &client_, .events = &notes_, .clock = &clock_}, {}};
};

TEST_F(MtlsTest, LeavesAloneMakeACertainCluster) {
  ASSERT_TRUE(Reconcile().ok());
  const auto waiting = Reconcile();
  ASSERT_TRUE(waiting.ok());
  EXPECT_EQ(waiting->requeue_after, absl::Seconds(30));
  EXPECT_EQ(notes_.all,
            (std::vector<std::string>{
                "Normal MTLSCertsNotReady: Waiting for cert-manager to issue mTLS certificates"}));
  EXPECT_EQ(
      apis::json::Dump(client_.objects.at("Certificate ray-head-cert-c").At("spec").At("dnsNames")),
      R"(["c-head-svc.ns.svc.cluster.local","localhost"])")
      << "sorted";
  Issue("ray-head-cert-c", "2026-01-02T00:00:00Z");
  Issue("ray-worker-cert-c", "2026-01-01T12:18:00Z");
  const auto ready = Reconcile();
  ASSERT_TRUE(ready.ok());
  EXPECT_EQ(ready->requeue_after, absl::Seconds(60));
  EXPECT_EQ(notes_.all,
            (std::vector<std::string>{
                "Normal MTLSPKIReady: mTLS PKI is ready: CA, head, and worker certificates issued",
                "Warning MTLSCertificateExpiringSoon: TLS certificate ray-worker-cert-c expires in "
                "12.3 hours; Ray does not hot-reload certs so a pod restart will be needed after "
                "renewal"}))
      << "exactly a day is not soon";
}

TEST_F(MtlsTest, AFailureNamesItsStep) {
  const std::pair<const char*, const char*> steps[] = {
      {"Issuer ray-selfsigned-issuer-c", "self-signed issuer"},
      {"Certificate ray-ca-certificate-c", "CA certificate"},
      {"Issuer ray-ca-issuer-c", "CA issuer"},
      {"Certificate ray-head-cert-c", "head certificate"},
      {"Certificate ray-worker-cert-c", "worker certificate"}};
  for (const auto& [key, step] : steps) {
    client_.refused = key;
    EXPECT_FALSE(Reconcile().ok());
    EXPECT_EQ(notes_.all,
              (std::vector<std::string>{absl::StrCat(
                  "Warning MTLSFailedToReconcile: Failed to reconcile mTLS ", step, ": no")}));
  }
}

}  // namespace
}  // namespace hekla::ray::controllers::mtls
