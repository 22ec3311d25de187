#pragma once

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "pkg/http/message.h"

namespace hekla::kube {

// Where a client's credentials come from. Header fields only; certificates belong to the transport.
// Threads: any.
class Authorizer {
 public:
  virtual ~Authorizer() = default;
  // The fields to add to a request now; nullptr when they have to be fetched first.
  virtual std::shared_ptr<const http::Headers> Current() = 0;
  // Fetches; `done` comes later, never from inside the call.
  virtual void Refresh(std::function<void(absl::Status)> done) = 0;
  // A request with `used` was answered 401.
  virtual void OnUnauthorized(const std::shared_ptr<const http::Headers>& used) = 0;
};

}  // namespace hekla::kube
