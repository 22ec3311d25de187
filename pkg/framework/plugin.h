#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "pkg/framework/plugin_option.h"
#include "pkg/util/clock.h"

namespace hekla::framework {

class Session;
class SessionBuilder;

// One policy. Built once per configuration and kept over cycles, so that it can remember derived
// data; what it remembers must follow from the tables alone (a fresh instance decides the same).
// Threads: the session thread.
class Plugin {
 public:
  virtual ~Plugin() = default;
  // Registers the plugin's functions; visits dirty rows only.
  virtual void OnSessionOpen(SessionBuilder& session) = 0;
  virtual void OnSessionClose(Session& session) { (void)session; }
  // True: answers change with time alone, so that what was refused must be asked again every cycle.
  virtual bool DependsOnTime() const { return false; }
};

// What plugins and actions get from the outside; extended by ports as plugins need them.
struct PluginDeps {
  const util::Clock* clock = nullptr;
  std::string scheduler_name = "volcano";
  std::string default_queue = "default";
  bool csi_storage = true;  // CSIDriver and CSIStorageCapacity are watched
};

using PluginFactory =
    std::function<std::unique_ptr<Plugin>(const PluginOption&, const PluginDeps&)>;

// Explicit tables handed to the scheduler; nothing registers itself.
struct PluginEntry {
  absl::string_view name;
  PluginFactory make;
};
using PluginRegistry = std::vector<PluginEntry>;

// One pass over the cluster within a session.
class Action {
 public:
  virtual ~Action() = default;
  virtual absl::string_view name() const = 0;
  virtual void Execute(Session& session, const Arguments& arguments) = 0;
};

struct ActionEntry {
  absl::string_view name;
  std::function<std::unique_ptr<Action>()> make;
};
using ActionRegistry = std::vector<ActionEntry>;

}  // namespace hekla::framework
