#include "pkg/sim/ray/ray_world.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "pkg/apiserver/shipped/shipped_crds.h"

namespace hekla::sim {
namespace {

using apis::json::Value;

// More at one moment of virtual time is a loop without end.
constexpr int64_t kMostStepsAtOnce = 5000000;

apiserver::Options ServerOptions(const util::Clock* clock, const RayWorld::Options& options) {
  apiserver::Options out;
  out.clock = clock;
  out.seed = options.seed;
  out.cluster_controllers = options.cluster_controllers;
  return out;
}

}  // namespace

RayWorld::RayWorld(Options options)
    : clock_(absl::FromCivil(absl::CivilHour(2026, 1, 1, 0), absl::UTCTimeZone())),
      server_(ServerOptions(&clock_, options)) {
  const absl::Status loaded = apiserver::shipped::LoadCrds(server_);
  CHECK(loaded.ok()) << loaded;
  for (const Value& crd : options.crds) {
    const absl::Status extra = server_.LoadCrd(crd);
    CHECK(extra.ok()) << extra;
  }
  if (options.start_life) AddLife(std::move(options.life));
  RunUntil(now());
}

RayWorld::~RayWorld() = default;

void RayWorld::AddLife(OperatorLife::Options options) {
  lives_.push_back(std::make_unique<OperatorLife>(&clock_, &server_, std::move(options)));
}

void RayWorld::AddNamespace(const std::string& name) {
  (void)server_.Create(
      Value::MakeObject({{"apiVersion", "v1"},
                         {"kind", "Namespace"},
                         {"metadata", Value::MakeObject({{"name", Value(name)}})}}));
}

bool RayWorld::StepOnce() {
  bool did = false;
  for (const auto& life : lives_) did = life->Step() || did;
  for (const auto& pump : pumps_) did = pump() || did;
  if (did && after_step_) after_step_();
  return did;
}

void RayWorld::RunUntil(absl::Time end) {
  server_.Tick();
  int64_t steps = 0;
  while (clock_.Now() <= end && StepOnce()) {
    CHECK_LT(++steps, kMostStepsAtOnce) << "the world does not come to rest";
  }
}

void RayWorld::Advance(absl::Duration d) {
  const absl::Time end = clock_.Now() + d;
  for (;;) {
    RunUntil(end);
    absl::Time next = std::min(end, server_.Tick());
    for (const auto& life : lives_) next = std::min(next, life->NextDue());
    if (next > clock_.Now()) clock_.Set(next);
    if (clock_.Now() >= end) break;
  }
  RunUntil(end);
}

Value SchemalessCrd(const std::string& group, const std::string& version, const std::string& kind,
                    const std::string& plural) {
  Value schema = Value::MakeObject(
      {{"openAPIV3Schema",
        Value::MakeObject({{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}})}});
  Value served =
      Value::MakeObject({{"name", version},
                         {"served", true},
                         {"storage", true},
                         {"subresources", Value::MakeObject({{"status", Value::MakeObject()}})},
                         {"schema", std::move(schema)}});
  Value names = Value::MakeObject({{"kind", kind},
                                   {"listKind", absl::StrCat(kind, "List")},
                                   {"plural", plural},
                                   {"singular", absl::AsciiStrToLower(kind)}});
  return Value::MakeObject(
      {{"apiVersion", "apiextensions.k8s.io/v1"},
       {"kind", "CustomResourceDefinition"},
       {"metadata",
        Value::MakeObject(
            {{"name", absl::StrCat(plural, ".", group)},
             {"annotations", Value::MakeObject({{"api-approved.kubernetes.io",
                                                 "unapproved, stands for a kind of others"}})}})},
       {"spec", Value::MakeObject({{"group", group},
                                   {"scope", "Namespaced"},
                                   {"names", std::move(names)},
                                   {"versions", Value::MakeArray({std::move(served)})}})}});
}

}  // namespace hekla::sim
