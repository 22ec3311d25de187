#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "pkg/http/tls.h"
#include "pkg/kube/authorizer.h"
#include "pkg/kube/config/client_config.h"
#include "pkg/kube/executor.h"
#include "pkg/util/clock.h"

namespace hekla::kube {

// Token (fixed or from a file), basic auth and impersonation. A token file is read at most every
// 50 s, by the request that needs it; if that fails the old token stays.
// Source:  spec 1.5.
// Threads: any.
class StaticAuthorizer final : public Authorizer {
 public:
  // `clock` must outlive this. Errors of the first read of the token file are returned.
  static absl::StatusOr<std::unique_ptr<StaticAuthorizer>> Create(const ClientConfig& config,
                                                                  const util::Clock* clock);

  std::shared_ptr<const http::Headers> Current() override;
  void Refresh(std::function<void(absl::Status)> done) override { done(absl::OkStatus()); }
  void OnUnauthorized(const std::shared_ptr<const http::Headers>&) override {}

 private:
  StaticAuthorizer(const ClientConfig& config, const util::Clock* clock);
  absl::Status Read() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const util::Clock* const clock_;
  const std::string token_file_;
  const http::Headers impersonation_;
  absl::Mutex mutex_;
  absl::Duration read_ ABSL_GUARDED_BY(mutex_) = util::kNotYet;
  std::shared_ptr<const http::Headers> current_ ABSL_GUARDED_BY(mutex_);
};

// Impersonate-* fields.
http::Headers ImpersonationHeaders(const ClientConfig& config);

// Looks every five minutes whether the certificate files have changed, and hands new contents on.
// Passive: a timer of the executor.
class CertificateReloader {
 public:
  using Apply = std::function<absl::Status(const http::ClientTls&)>;

  // `executor` must outlive this. Does nothing where the configuration names no files.
  CertificateReloader(const ClientConfig& config, Executor* executor, Apply apply);
  ~CertificateReloader();

  // Replaces the client certificate, for instance by that of an exec plugin.
  void SetClientCertificate(const std::string& cert_pem, const std::string& key_pem);

 private:
  class Core;
  const std::shared_ptr<Core> core_;
};

}  // namespace hekla::kube
