#include "pkg/kube/config/credentials.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "pkg/kube/config/environment.h"

namespace hekla::kube {
namespace {

constexpr absl::Duration kTokenLife = absl::Seconds(50);  // valid a minute, renewed 10 s early
constexpr absl::Duration kCertificateCheck = absl::Minutes(5);

std::shared_ptr<const http::Headers> WithAuthorization(const http::Headers& impersonation,
                                                       absl::string_view value) {
  auto headers = std::make_shared<http::Headers>(impersonation);
  if (!value.empty()) headers->Add("Authorization", value);
  return headers;
}

}  // namespace

http::Headers ImpersonationHeaders(const ClientConfig& config) {
  http::Headers out;
  if (config.as.empty()) return out;
  out.Add("Impersonate-User", config.as);
  if (!config.as_uid.empty()) out.Add("Impersonate-Uid", config.as_uid);
  for (const std::string& group : config.as_groups) out.Add("Impersonate-Group", group);
  for (const auto& [key, values] : config.as_extra) {
    const std::string name = absl::StrCat("Impersonate-Extra-", http::PercentEncode(key));
    for (const std::string& value : values) out.Add(name, value);
  }
  return out;
}

StaticAuthorizer::StaticAuthorizer(const ClientConfig& config, const util::Clock* clock)
    : clock_(clock), token_file_(config.token_file), impersonation_(ImpersonationHeaders(config)) {
  std::string value;
  if (!config.token.empty()) {
    value = absl::StrCat("Bearer ", config.token);
  } else if (!config.username.empty()) {
    value = absl::StrCat("Basic ",
                         absl::Base64Escape(absl::StrCat(config.username, ":", config.password)));
  }
  current_ = WithAuthorization(impersonation_, value);
}

absl::StatusOr<std::unique_ptr<StaticAuthorizer>> StaticAuthorizer::Create(
    const ClientConfig& config, const util::Clock* clock) {
  std::unique_ptr<StaticAuthorizer> out(new StaticAuthorizer(config, clock));
  if (!config.token_file.empty()) {
    absl::MutexLock lock(&out->mutex_);
    const absl::Status read = out->Read();
    if (!read.ok() && config.token.empty()) return read;
  }
  return out;
}

absl::Status StaticAuthorizer::Read() {
  read_ = clock_->Uptime();
  const absl::StatusOr<std::string> text = ReadFile(token_file_);
  if (!text.ok()) return text.status();
  const absl::string_view token = absl::StripAsciiWhitespace(*text);
  if (token.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("read empty token from file ", token_file_));
  }
  current_ = WithAuthorization(impersonation_, absl::StrCat("Bearer ", token));
  return absl::OkStatus();
}

std::shared_ptr<const http::Headers> StaticAuthorizer::Current() {
  absl::MutexLock lock(&mutex_);
  if (!token_file_.empty() && clock_->Uptime() - read_ >= kTokenLife) {
    const absl::Status read = Read();
    if (!read.ok()) {
      LOG(WARNING) << "token file cannot be read again, the old token stays error="
                   << read.message();
    }
  }
  return current_;
}

// ---------------------------------------------------------------- CertificateReloader

class CertificateReloader::Core : public std::enable_shared_from_this<Core> {
 public:
  Core(const ClientConfig& config, Executor* executor, Apply apply)
      : executor_(executor),
        apply_(std::move(apply)),
        ca_file_(config.ca_file),
        cert_file_(config.cert_file),
        key_file_(config.key_file),
        tls_(config.tls) {}

  void Arm() {
    if (ca_file_.empty() && cert_file_.empty() && key_file_.empty()) return;
    absl::MutexLock lock(&mutex_);
    if (stopped_) return;
    timer_ = executor_->PostAfter(kCertificateCheck, [weak = weak_from_this()] {
      auto self = weak.lock();
      if (self == nullptr) return;
      self->Check();
      self->Arm();
    });
  }
  void Stop() {
    absl::MutexLock lock(&mutex_);
    stopped_ = true;
    executor_->Cancel(timer_);
  }
  void SetClientCertificate(const std::string& cert_pem, const std::string& key_pem) {
    http::ClientTls tls;
    {
      absl::MutexLock lock(&mutex_);
      if (tls_.cert_pem == cert_pem && tls_.key_pem == key_pem) return;
      tls_.cert_pem = cert_pem;
      tls_.key_pem = key_pem;
      tls = tls_;
    }
    Use(tls);
  }

 private:
  // The new contents of a file; the old ones where it cannot be read or is empty.
  static void ReadAgain(const std::string& file, std::string& contents) {
    if (file.empty()) return;
    absl::StatusOr<std::string> text = ReadFile(file);
    if (!text.ok()) {
      LOG(WARNING) << "certificate file cannot be read again error=" << text.status().message();
    } else if (!text->empty()) {
      contents = *std::move(text);
    }
  }
  void Check() {
    http::ClientTls tls;
    {
      absl::MutexLock lock(&mutex_);
      tls = tls_;
    }
    const http::ClientTls before = tls;
    ReadAgain(ca_file_, tls.ca_pem);
    ReadAgain(cert_file_, tls.cert_pem);
    ReadAgain(key_file_, tls.key_pem);
    if (tls.ca_pem == before.ca_pem && tls.cert_pem == before.cert_pem &&
        tls.key_pem == before.key_pem) {
      return;
    }
    if (!Use(tls)) return;  // half written: tried again at the next check
    absl::MutexLock lock(&mutex_);
    tls_ = std::move(tls);
  }
  bool Use(const http::ClientTls& tls) {
    const absl::Status applied = apply_(tls);
    if (!applied.ok()) {
      LOG(WARNING) << "new certificates cannot be used error=" << applied.message();
    }
    return applied.ok();
  }

  Executor* const executor_;
  const Apply apply_;
  const std::string ca_file_;
  const std::string cert_file_;
  const std::string key_file_;
  absl::Mutex mutex_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  Executor::TimerId timer_ ABSL_GUARDED_BY(mutex_) = 0;
  http::ClientTls tls_ ABSL_GUARDED_BY(mutex_);
};

CertificateReloader::CertificateReloader(const ClientConfig& config, Executor* executor,
                                         Apply apply)
    : core_(std::make_shared<Core>(config, executor, std::move(apply))) {
  core_->Arm();
}

CertificateReloader::~CertificateReloader() { core_->Stop(); }

void CertificateReloader::SetClientCertificate(const std::string& cert_pem,
                                               const std::string& key_pem) {
  core_->SetClientCertificate(cert_pem, key_pem);
}

}  // namespace hekla::kube
