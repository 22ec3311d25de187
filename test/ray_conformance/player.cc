#include "test/ray_conformance/player.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "pkg/apis/meta/time.h"
#include "pkg/apiserver/hollow/local_watch.h"
#include "pkg/sim/ray/ray_world.h"
#include "pkg/util/status_macros.h"
#include "pkg/yaml/yaml.h"
#include "test/ray_conformance/actions.h"
#include "test/ray_conformance/dump.h"

namespace hekla::ray_conformance {
namespace {

using apis::json::Value;
using GraphOptions = assembly::OperatorGraph::Options;

// A step is over when nothing has changed for this long …
constexpr absl::Duration kQuiet = absl::Milliseconds(2900);
constexpr absl::Duration kTick = absl::Milliseconds(100);
// … at the latest after this time, where something repeats for ever.
constexpr absl::Duration kLimit = absl::Seconds(20);
// A cluster that fails is given the time of one more try; one that is being deleted, of its polls.
constexpr absl::Duration kRetryLimit = absl::Seconds(200);
constexpr absl::Duration kDeletionPatience = absl::Seconds(12);
// What a call takes: without it a loop without end would never let time pass.
constexpr absl::Duration kCall = absl::Milliseconds(3);

absl::Status ReadConfig(const Case& recorded, absl::string_view file, GraphOptions& setup) {
  const std::string path = absl::StrCat(recorded.folder, "/", file);
  std::ifstream in(path);
  if (!in) return absl::NotFoundError(absl::StrCat("cannot read ", path));
  std::stringstream text;
  text << in.rdbuf();
  HEKLA_ASSIGN_OR_RETURN(const yaml::Document document, yaml::ParseOne(text.str()));
  HEKLA_ASSIGN_OR_RETURN(setup.config, ray::ParseOperatorConfig(document.value));
  return absl::OkStatus();
}

absl::StatusOr<GraphOptions> SetupOf(const Case& recorded) {
  GraphOptions setup;
  setup.environment = ray::OperatorEnvironment(
      [variables = recorded.env](const std::string& name) -> std::optional<std::string> {
        for (const auto& [key, value] : variables) {
          if (key == name) return value;
        }
        return std::nullopt;
      });
  for (const std::string& flag : recorded.flags) {
    absl::string_view rest = flag;
    absl::Status status;
    if (absl::ConsumePrefix(&rest, "--feature-gates=")) {
      status = setup.gates.Parse(rest);
    } else if (absl::ConsumePrefix(&rest, "--batch-scheduler=")) {
      setup.config.batch_scheduler = std::string(rest);
    } else if (absl::ConsumePrefix(&rest, "--config=")) {
      status = ReadConfig(recorded, rest, setup);
    } else if (rest == "--enable-batch-scheduler" || rest == "--enable-batch-scheduler=true") {
      setup.config.enable_batch_scheduler = true;
    } else if (rest != "--enable-metrics" && rest != "--enable-metrics=true") {
      status = absl::InvalidArgumentError(absl::StrCat("unknown flag ", flag));
    }
    HEKLA_RETURN_IF_ERROR(status);
  }
  setup.server.cert_manager = absl::StrContains(recorded.text, "cert-manager.io");
  return setup;
}

std::vector<Value> ForeignKinds(const GraphOptions& setup) {
  std::vector<Value> crds;
  if (setup.server.cert_manager) {
    crds.push_back(sim::SchemalessCrd("cert-manager.io", "v1", "Issuer", "issuers"));
    crds.push_back(sim::SchemalessCrd("cert-manager.io", "v1", "Certificate", "certificates"));
  }
  if (setup.config.batch_scheduler == "scheduler-plugins") {
    crds.push_back(sim::SchemalessCrd("scheduling.x-k8s.io", "v1alpha1", "PodGroup", "podgroups"));
  }
  return crds;
}

// Runs the world until the step is over.
void WaitUntilQuiet(sim::RayWorld& world, const Case& recorded, bool deletion) {
  const absl::Time start = world.now();
  const int64_t reconciles = world.life().reconciles();
  absl::Time last_change = start;
  int64_t version = world.server().resource_version();
  const std::string cluster(recorded.manifest.At("metadata").GetString("name"));
  const auto failing = [&] { return world.life().Failing({recorded.ns, cluster}); };
  // What fails waits for its back-off; after the last failure there is time to become quiet.
  absl::Time limit = start + kLimit;
  while (world.now() - start < kRetryLimit) {
    world.Advance(kTick);
    if (world.server().resource_version() != version) {
      version = world.server().resource_version();
      last_change = world.now();
    }
    if (failing()) limit = std::max(limit, world.now() + 2 * kQuiet);
    if (world.now() >= limit) break;
    if (world.now() - last_change < kQuiet) continue;
    if (failing() && world.life().reconciles() == reconciles) continue;
    if (deletion && world.now() - start < kDeletionPatience &&
        world.server().Get("ray.io/v1", "RayCluster", recorded.ns, cluster).ok()) {
      continue;
    }
    break;
  }
}

absl::StatusOr<std::vector<Difference>> PlayOnce(const Case& recorded, uint64_t surplus_seed) {
  HEKLA_ASSIGN_OR_RETURN(GraphOptions setup, SetupOf(recorded));
  sim::RayWorld::Options options;
  options.cluster_controllers = false;
  options.crds = ForeignKinds(setup);
  options.life.graph = std::move(setup);
  options.life.graph.surplus_seed = surplus_seed;
  util::FakeClock* clock = nullptr;
  options.life.intercept = [&clock](http::Request request, const auto& forward) {
    if (clock != nullptr) clock->Advance(kCall);
    return forward(std::move(request));
  };
  sim::RayWorld world(std::move(options));
  clock = &world.clock();
  Names names(apis::json::Dump(recorded.manifest));
  apiserver::hollow::LocalWatch pods(world.server(), "/api/v1/pods",
                                     [&names](absl::string_view type, const Value& pod) {
                                       if (type == "ADDED") names.SawPod(pod);
                                     });
  apiserver::hollow::LocalWatch clusters(world.server(), "/apis/ray.io/v1/rayclusters",
                                         [&names](absl::string_view type, const Value& cluster) {
                                           if (type == "ADDED") names.SawCluster(cluster);
                                         });
  world.AddPump([&pods, &clusters] { return pods.Pump() + clusters.Pump() > 0; });
  const std::string cluster(recorded.manifest.At("metadata").GetString("name"));
  Dumper dumper(world.server(), recorded.ns, cluster, names);
  Actions actions(world.server(), recorded, names,
                  [&world] { return apis::meta::TimeToString(world.now()); });
  HEKLA_RETURN_IF_ERROR(actions.Prepare());
  world.Advance(absl::Seconds(1));
  std::vector<Difference> differences;
  for (size_t i = 0; i < recorded.steps.size(); ++i) {
    HEKLA_ASSIGN_OR_RETURN(const Value response, actions.Do(recorded.steps[i].action));
    WaitUntilQuiet(world, recorded, recorded.steps[i].action.GetString("do") == "delete");
    CompareStep(recorded, i, dumper.Take(), response, differences);
  }
  return differences;
}

}  // namespace

absl::StatusOr<std::vector<Difference>> Play(const Case& recorded) {
  // Which surplus pod upstream deletes is chance: some choice must lead to what was recorded.
  constexpr uint64_t kChoices = 64;
  HEKLA_ASSIGN_OR_RETURN(std::vector<Difference> first, PlayOnce(recorded, 0));
  const bool deletes_pods =
      std::any_of(recorded.steps.begin(), recorded.steps.end(), [](const Step& step) {
        return absl::StrContains(apis::json::Dump(step.deleted), "\"pods/");
      });
  for (uint64_t seed = 1; !first.empty() && deletes_pods && seed < kChoices; ++seed) {
    HEKLA_ASSIGN_OR_RETURN(std::vector<Difference> found, PlayOnce(recorded, seed));
    if (found.empty()) return found;
  }
  return first;
}

}  // namespace hekla::ray_conformance
