#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "pkg/apis/json/value.h"
#include "pkg/cache/bind/context.h"
#include "pkg/ports/decision_sink.h"

namespace hekla::cache {

// Writes what has to be written about volumes before a pod is bound, and waits until its claims are
// bound. Objects are read by a list of one, since upstream's roles do not allow to get them.
// Threads: the io executor.
// Source:  spec scheduler-node-plugins 2.9 (Reserve, PreBind).
class VolumeBinder {
 public:
  using Done = std::function<void(const absl::Status&)>;

  explicit VolumeBinder(const WriteContext* context) : context_(context) {}

  // Errors: `binding volumes: ...`: a write that failed, a claim that went away or was handed back
  //         by its provisioner, or the time-out.
  void Bind(const ports::BindRequest& request, Done done);

 private:
  struct Work;
  void Step(const std::shared_ptr<Work>& work);
  void BindOne(const std::shared_ptr<Work>& work);
  void SelectOne(const std::shared_ptr<Work>& work);
  void CheckOne(const std::shared_ptr<Work>& work);
  void End(const std::shared_ptr<Work>& work, const absl::Status& status);
  // Reads one object, lets `change` alter it (false: leave it), writes it back; three tries where
  // somebody else wrote in between.
  void Modify(const kube::Resource& resource, const std::string& ns, const std::string& name,
              std::function<absl::StatusOr<bool>(apis::json::Value&)> change, int tries,
              std::function<void(const absl::Status&)> done);
  void Read(const kube::Resource& resource, const std::string& ns, const std::string& name,
            std::function<void(absl::StatusOr<apis::json::Value>)> done);

  const WriteContext* const context_;
};

}  // namespace hekla::cache
