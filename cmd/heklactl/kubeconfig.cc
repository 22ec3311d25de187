#include "cmd/heklactl/kubeconfig.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace hekla::cmd::heklactl {
namespace {

absl::Status SystemError(absl::string_view what, const std::string& path) {
  return absl::UnavailableError(absl::StrCat(what, " ", path, ": ", std::strerror(errno)));
}

bool WriteAll(int fd, absl::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

std::string KubeconfigText(absl::string_view url, absl::string_view token,
                           absl::string_view debug_url) {
  const std::string extension = debug_url.empty()
                                    ? ""
                                    : absl::StrCat(
                                          "\n    extensions:\n    - name: hekla.dev/debug\n      "
                                          "extension:\n        address: ",
                                          debug_url);
  const std::string user = token.empty() ? " {}" : absl::StrCat("\n    token: \"", token, "\"");
  return absl::StrCat(
      "apiVersion: v1\nkind: Config\ncurrent-context: playground\nclusters:\n- name: playground\n"
      "  cluster:\n    server: ",
      url, extension,
      "\ncontexts:\n- name: playground\n  context:\n    cluster: playground\n    user: playground\n"
      "users:\n- name: playground\n  user:",
      user, "\n");
}

absl::Status WritePrivateFile(const std::string& path, absl::string_view text) {
  const std::string draft = absl::StrCat(path, ".", ::getpid());
  const int fd = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return SystemError("cannot create", draft);
  const bool written = WriteAll(fd, text) && ::fsync(fd) == 0;
  if (::close(fd) != 0 || !written) {
    const absl::Status error = SystemError("cannot write", draft);
    ::unlink(draft.c_str());
    return error;
  }
  if (std::rename(draft.c_str(), path.c_str()) != 0) return SystemError("cannot write", path);
  return absl::OkStatus();
}

}  // namespace hekla::cmd::heklactl
