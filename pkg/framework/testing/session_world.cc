#include "pkg/framework/testing/session_world.h"

#include "glog/logging.h"

namespace hekla::framework::testing {

SessionWorld::SessionWorld(model::Cluster::Options options)
    : world(std::move(options)), search(std::make_unique<NodeSearch>(world.cluster())) {}

SessionWorld::~SessionWorld() { session_.reset(); }

Plugin& SessionWorld::AddPlugin(const std::string& name, std::unique_ptr<Plugin> plugin,
                                const PluginOption& option) {
  CHECK(session_ == nullptr);
  options_.push_back(std::make_unique<PluginOption>(option));
  options_.back()->name = name;
  plugins_.push_back(std::move(plugin));
  slots_.push_back({options_.back().get(), plugins_.back().get(), tier_});
  return *plugins_.back();
}

Session& SessionWorld::session() {
  if (session_ == nullptr) {
    SessionDeps deps;
    deps.cluster = &world.cluster();
    deps.sink = &sink;
    deps.clock = &clock;
    deps.reasons = &reasons;
    deps.search = search.get();
    session_ = std::make_unique<Session>(deps, slots_, actions_);
  }
  return *session_;
}

void SessionWorld::Cycle(const std::function<void(Session&)>& work) {
  session().Open("session-" + std::to_string(++cycles_));
  work(session());
  session().Close();
}

}  // namespace hekla::framework::testing
