#include "test/harness/world.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "pkg/actions/registry.h"
#include "pkg/apis/apps/workloads.h"
#include "pkg/apis/core/node.h"
#include "pkg/apis/core/objects.h"
#include "pkg/apis/core/pod.h"
#include "pkg/apis/core/volume.h"
#include "pkg/apis/scheduling/pod_group.h"
#include "pkg/apis/scheduling/queue.h"
#include "pkg/apis/storage/storage.h"
#include "pkg/cache/ingest/object_compiler.h"
#include "pkg/cache/ingest/pod_compiler.h"
#include "pkg/cache/ingest/volume_compiler.h"
#include "pkg/plugins/registry.h"
#include "pkg/util/status_macros.h"
#include "test/harness/builders.h"

namespace hekla::harness {
namespace {

constexpr char kBefore[] = "harness-before";
constexpr char kAfter[] = "harness-after";

std::string KeyOf(const Value& object) {
  const Value& meta = object.At("metadata");
  const absl::string_view space = meta.GetString("namespace");
  return space.empty() ? std::string(meta.GetString("name"))
                       : absl::StrCat(space, "/", meta.GetString("name"));
}

// Something that takes an object of one kind and puts it into the cluster, or takes it out.
struct KindEntry {
  std::function<absl::Status(const Value&)> apply;
  std::function<void(const Value&)> remove;
};

}  // namespace

// The decoders and compilers of the cache, by kind.
struct World::Decoders {
  cache::ObjectCompiler objects;
  cache::PodCompiler pods;
  cache::VolumeCompiler volumes;
  std::map<std::string, KindEntry> kinds;

  Decoders(std::shared_ptr<model::Dictionary> dictionary, const Options& options)
      : objects(dictionary),
        pods(dictionary, {.scheduler_names = {"volcano"}, .default_queue = options.default_queue}),
        volumes(dictionary) {}

  template <typename Spec, typename Decode, typename Compile>
  void Add(model::Cluster& cluster, const char* kind, Decode decode, Compile compile) {
    kinds[kind] = {
        [&cluster, decode, compile](const Value& object) {
          HEKLA_ASSIGN_OR_RETURN(auto decoded, decode(object));
          cluster.Apply(model::Upsert<Spec>{compile(decoded, object)});
          return absl::OkStatus();
        },
        [&cluster](const Value& object) { cluster.Apply(model::Remove<Spec>{KeyOf(object)}); }};
  }

  void AddObjects(model::Cluster& cluster);
  void AddOwners(model::Cluster& cluster);
  void AddPods(model::Cluster& cluster);
  void AddVolumes(model::Cluster& cluster);
};

void World::Decoders::AddObjects(model::Cluster& cluster) {
  Add<model::NodeSpec>(cluster, "Node", apis::core::DecodeNode,
                       [this](const auto& o, const Value&) { return objects.Node(o); });
  Add<model::JobSpec>(cluster, "PodGroup", apis::scheduling::DecodePodGroup,
                      [this](const auto& o, const Value&) { return objects.Job(o); });
  Add<model::QueueSpec>(cluster, "Queue", apis::scheduling::DecodeQueue,
                        [this](const auto& o, const Value& raw) {
                          const Value* affinity = raw.FindPath({"spec", "affinity"});
                          return objects.Queue(o, affinity != nullptr ? *affinity : Value());
                        });
  Add<model::PriorityClassSpec>(
      cluster, "PriorityClass", apis::scheduling::DecodePriorityClass,
      [this](const auto& o, const Value&) { return objects.PriorityClass(o); });
  Add<model::NamespaceSpec>(cluster, "Namespace", apis::core::DecodeNamespace,
                            [this](const auto& o, const Value&) { return objects.Namespace(o); });
}

void World::Decoders::AddOwners(model::Cluster& cluster) {
  const auto owner = [this](const auto& o, const Value&) { return objects.Owner(o); };
  Add<model::PodOwnerSpec>(cluster, "Service", apis::core::DecodeService, owner);
  Add<model::PodOwnerSpec>(cluster, "ReplicationController",
                           apis::core::DecodeReplicationController, owner);
  Add<model::PodOwnerSpec>(cluster, "ReplicaSet", apis::apps::DecodeReplicaSet, owner);
  Add<model::PodOwnerSpec>(cluster, "StatefulSet", apis::apps::DecodeStatefulSet, owner);
  for (const char* kind : {"Service", "ReplicationController", "ReplicaSet", "StatefulSet"}) {
    kinds[kind].remove = [&cluster, kind](const Value& object) {
      cluster.Apply(model::Remove<model::PodOwnerSpec>{absl::StrCat(kind, "/", KeyOf(object))});
    };
  }
}

void World::Decoders::AddPods(model::Cluster& cluster) {
  kinds["Pod"] = {[this, &cluster](const Value& object) {
                    HEKLA_ASSIGN_OR_RETURN(auto task, pods.Compile(object));
                    if (task == nullptr) return absl::OkStatus();
                    cluster.Apply(model::Upsert<model::TaskSpec>{std::move(task)});
                    return absl::OkStatus();
                  },
                  [&cluster](const Value& object) {
                    cluster.Apply(model::Remove<model::TaskSpec>{
                        std::string(object.At("metadata").GetString("uid"))});
                  }};
}

void World::Decoders::AddVolumes(model::Cluster& cluster) {
  Add<model::ClaimSpec>(cluster, "PersistentVolumeClaim", apis::core::DecodePersistentVolumeClaim,
                        [this](const auto& o, const Value&) { return volumes.Claim(o); });
  Add<model::VolumeSpec>(cluster, "PersistentVolume", apis::core::DecodePersistentVolume,
                         [this](const auto& o, const Value&) { return volumes.Volume(o); });
  Add<model::StorageClassSpec>(
      cluster, "StorageClass", apis::storage::DecodeStorageClass,
      [this](const auto& o, const Value&) { return volumes.StorageClass(o); });
  Add<model::CsiNodeSpec>(cluster, "CSINode", apis::storage::DecodeCsiNode,
                          [this](const auto& o, const Value&) { return volumes.CsiNode(o); });
  Add<model::CsiDriverSpec>(cluster, "CSIDriver", apis::storage::DecodeCsiDriver,
                            [this](const auto& o, const Value&) { return volumes.CsiDriver(o); });
  Add<model::CsiCapacitySpec>(
      cluster, "CSIStorageCapacity", apis::storage::DecodeCsiStorageCapacity,
      [this](const auto& o, const Value&) { return volumes.CsiCapacity(o); });
  Add<model::VolumeAttachmentSpec>(
      cluster, "VolumeAttachment", apis::storage::DecodeVolumeAttachment,
      [this](const auto& o, const Value&) { return volumes.Attachment(o); });
}

// Runs a hook as if it were an action.
class World::HookAction final : public framework::Action {
 public:
  HookAction(const char* name, const Hook* hook) : name_(name), hook_(hook) {}
  absl::string_view name() const override { return name_; }
  void Execute(framework::Session& session, const framework::Arguments&) override {
    if (*hook_) (*hook_)(session);
  }

 private:
  const char* name_;
  const Hook* hook_;
};

class World::SilentPlugin final : public framework::Plugin {
 public:
  void OnSessionOpen(framework::SessionBuilder&) override {}
};

World::World(Options options)
    : options_(std::move(options)), dictionary_(std::make_shared<model::Dictionary>()) {
  cluster_ = std::make_unique<model::Cluster>(
      dictionary_, model::Cluster::Options{options_.default_queue, options_.seed});
  decoders_ = std::make_unique<Decoders>(dictionary_, options_);
  decoders_->AddObjects(*cluster_);
  decoders_->AddOwners(*cluster_);
  decoders_->AddPods(*cluster_);
  decoders_->AddVolumes(*cluster_);
  MakeRegistries();
}

World::~World() { scheduler_.reset(); }

void World::MakeRegistries() {
  plugins_ = plugins::AllPlugins();
  for (const std::string& name : options_.silent_plugins) {
    plugins_.push_back({name, [](const framework::PluginOption&, const framework::PluginDeps&) {
                          return std::make_unique<SilentPlugin>();
                        }});
  }
  actions_ = actions::AllActions();
  actions_.push_back({kBefore, [this] { return std::make_unique<HookAction>(kBefore, &before_); }});
  actions_.push_back({kAfter, [this] { return std::make_unique<HookAction>(kAfter, &after_); }});
}

absl::Status World::Apply(const Value& object) {
  const std::string kind(object.GetString("kind"));
  const auto it = decoders_->kinds.find(kind);
  if (it == decoders_->kinds.end()) {
    return absl::UnimplementedError(absl::StrCat("kind ", kind, " is not read by the scheduler"));
  }
  HEKLA_RETURN_IF_ERROR(it->second.apply(object));
  if (kind == "Pod") pods_[KeyOf(object)] = object;
  return absl::OkStatus();
}

absl::Status World::Remove(const Value& object) {
  const auto it = decoders_->kinds.find(std::string(object.GetString("kind")));
  if (it == decoders_->kinds.end()) return absl::UnimplementedError("no such kind");
  it->second.remove(object);
  pods_.erase(KeyOf(object));
  return absl::OkStatus();
}

absl::Status World::Configure(absl::string_view yaml, const std::vector<std::string>& actions) {
  if (scheduler_ == nullptr) {
    scheduler::Scheduler::Deps deps;
    deps.source = this;
    deps.sink = &sink_;
    deps.clock = &clock_;
    deps.plugins = &plugins_;
    deps.actions = &actions_;
    deps.plugin_deps.clock = &clock_;
    deps.plugin_deps.default_queue = options_.default_queue;
    deps.plugin_deps.csi_storage = options_.csi_storage;
    deps.metrics = &metrics_;
    deps.seed = options_.seed;
    scheduler_ = std::make_unique<scheduler::Scheduler>(deps);
  }
  HEKLA_ASSIGN_OR_RETURN(conf::Config config,
                         conf::ParseConfig(yaml, "config", scheduler_->known()));
  if (!actions.empty()) config.actions = actions;
  config.actions.insert(config.actions.begin(), kBefore);
  config.actions.emplace_back(kAfter);
  scheduler_->SetConfig(std::move(config));
  return absl::OkStatus();
}

void World::Run(Hook before, Hook after) {
  before_ = std::move(before);
  after_ = std::move(after);
  scheduler_->RunOnce();
  before_ = nullptr;
  after_ = nullptr;
}

absl::StatusOr<framework::explain::Explanation> World::Explain(framework::explain::Subject subject,
                                                               absl::string_view key) {
  return scheduler_->Explain(subject, key);
}

void World::Echo() {
  for (; echoed_binds_ < sink_.binds.size(); ++echoed_binds_) {
    const ports::BindRequest& bind = sink_.binds[echoed_binds_];
    const auto it = pods_.find(absl::StrCat(bind.namespace_name, "/", bind.name));
    if (it == pods_.end()) continue;
    it->second.Ensure({"spec"}).Set("nodeName", bind.node);
    it->second.Ensure({"status"}).Set("phase", "Running");
    CHECK(Apply(Value(it->second)).ok());
  }
  for (; echoed_evictions_ < sink_.evictions.size(); ++echoed_evictions_) {
    const ports::EvictRequest& eviction = sink_.evictions[echoed_evictions_];
    const auto it = pods_.find(absl::StrCat(eviction.namespace_name, "/", eviction.name));
    if (it == pods_.end()) continue;
    it->second.Ensure({"metadata"}).Set("deletionTimestamp", TimeAt(3600));
    CHECK(Apply(Value(it->second)).ok());
  }
}

std::string World::TaskName(model::TaskId task) const {
  const model::TaskSpec& spec = *tables().tasks.spec[task];
  return absl::StrCat(spec.namespace_name, "/", spec.name);
}

std::string World::NodeName(model::NodeId node) const {
  if (!node.valid()) return "";
  const absl::string_view name = dictionary_->symbols.Text(tables().nodes.name[node]);
  return std::string(name);
}

model::TaskId World::FindTask(absl::string_view ns_and_name) const {
  const auto it = pods_.find(std::string(ns_and_name));
  if (it == pods_.end()) return {};
  return cluster_->FindTask(it->second.At("metadata").GetString("uid"));
}

}  // namespace hekla::harness
