#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "pkg/apis/json/value.h"
#include "pkg/http/message.h"
#include "pkg/kube/authorizer.h"
#include "pkg/kube/config/client_config.h"
#include "pkg/kube/config/environment.h"
#include "pkg/kube/executor.h"

// Credentials from a program that the kubeconfig names (spec 1.5).
namespace hekla::kube {

struct ExecCredential {
  std::string token = {};
  std::string cert_pem = {};
  std::string key_pem = {};
  absl::Time expires = absl::InfiniteFuture();
};

// The value of KUBERNETES_EXEC_INFO.
std::string ExecInfo(const ExecEntry& exec, const ClusterEntry& cluster);
// Errors: kInvalidArgument: no ExecCredential of the wanted version, neither token nor certificate,
//         only one half of a certificate.
absl::StatusOr<ExecCredential> ParseExecCredential(absl::string_view output,
                                                   const std::string& api_version);
// Runs the program and waits for it, up to a limit; then, or when it is told to stop, the program
// and all it has started are killed.
// Errors: `exec: executable X not found`, `exec: executable X failed with exit code N`; those of
//         ParseExecCredential; `exec plugin: invalid apiVersion "X"`; kDeadlineExceeded: it had not
//         ended in time; kCancelled.
inline constexpr absl::Duration kPluginTimeLimit = absl::Minutes(1);
absl::StatusOr<ExecCredential> RunExecPlugin(const ExecEntry& exec, const ClusterEntry& cluster,
                                             absl::Duration limit = kPluginTimeLimit,
                                             std::stop_token stop = {});

// Keeps a plugin's credential until it expires, or until a 401 for it asks for another; that is
// done once per credential. Programs run on `background`, which may block; one that runs when this
// is destroyed is told to stop. Threads: any.
class ExecAuthorizer final : public Authorizer {
 public:
  using Run = std::function<absl::StatusOr<ExecCredential>(std::stop_token stop)>;
  // Called before the credential is used, where the plugin gives a certificate.
  using OnCertificate =
      std::function<void(const std::string& cert_pem, const std::string& key_pem)>;

  // `background` and its clock must outlive this.
  ExecAuthorizer(http::Headers always, Executor* background, Run run, OnCertificate on_certificate);
  ~ExecAuthorizer() override;

  std::shared_ptr<const http::Headers> Current() override;
  void Refresh(std::function<void(absl::Status)> done) override;
  void OnUnauthorized(const std::shared_ptr<const http::Headers>& used) override;

 private:
  class Core;
  const std::shared_ptr<Core> core_;
};

}  // namespace hekla::kube
