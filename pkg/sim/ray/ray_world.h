#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "pkg/apis/json/value.h"
#include "pkg/apiserver/server.h"
#include "pkg/sim/ray/operator_life.h"
#include "pkg/util/clock.h"

namespace hekla::sim {

// An API server and the Ray operator under virtual time, on one thread.
class RayWorld {
 public:
  struct Options {
    OperatorLife::Options life = {};
    bool start_life = true;
    uint64_t seed = 1;
    // Off: nothing but the API server and the operator.
    bool cluster_controllers = true;
    // Custom kinds beside those that are shipped.
    std::vector<apis::json::Value> crds = {};
  };
  explicit RayWorld(Options options);
  ~RayWorld();

  // Something else that lives in the world: does what is due and says whether there was anything.
  void AddPump(std::function<bool()> pump) { pumps_.push_back(std::move(pump)); }
  // Called after everything that one life has done at a time.
  void SetAfterStep(std::function<void()> after) { after_step_ = std::move(after); }

  // Moves virtual time, running everything that is due in its order.
  void Advance(absl::Duration d);

  // Operators beside each other; the first is there from the beginning unless it was told not to.
  void AddLife(OperatorLife::Options options);
  // A crash.
  void EndLife(size_t i) { lives_.erase(lives_.begin() + static_cast<std::ptrdiff_t>(i)); }
  size_t lives() const { return lives_.size(); }
  OperatorLife& life(size_t i = 0) { return *lives_[i]; }

  void AddNamespace(const std::string& name);

  apiserver::ApiServer& server() { return server_; }
  util::FakeClock& clock() { return clock_; }
  absl::Time now() const { return clock_.Now(); }

 private:
  bool StepOnce();
  // What is due at this moment; calls that take time end it at `end`.
  void RunUntil(absl::Time end);

  util::FakeClock clock_;
  apiserver::ApiServer server_;
  std::vector<std::function<bool()>> pumps_;
  std::function<void()> after_step_;
  std::vector<std::unique_ptr<OperatorLife>> lives_;
};

// A custom kind without a schema that keeps everything it is given; for kinds of other projects.
apis::json::Value SchemalessCrd(const std::string& group, const std::string& version,
                                const std::string& kind, const std::string& plural);

}  // namespace hekla::sim
