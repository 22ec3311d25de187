#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "cmd/heklactl/explain_options.h"
#include "cmd/heklactl/subcommands.h"
#include "pkg/framework/explain/explanation.h"
#include "pkg/http/cpprest_transport.h"
#include "pkg/http/url.h"
#include "pkg/sim/manifests.h"
#include "pkg/sim/simulation.h"
#include "pkg/util/logging.h"
#include "pkg/util/status_macros.h"

namespace hekla::cmd::heklactl {
namespace {

using apis::json::Value;
using framework::explain::Subject;
using Kind = ExplainOptions::Kind;

constexpr int kFailed = 1;
constexpr int kBadInput = 2;
constexpr absl::Duration kPatience = absl::Seconds(10);

absl::StatusOr<std::string> ReadText(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return absl::InvalidArgumentError(absl::StrCat(path, ": cannot be read"));
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// Asks about a pod, then about a PodGroup, unless the kind was given.
template <typename Ask>
absl::StatusOr<Value> AskByKind(const ExplainOptions& options, const Ask& ask) {
  if (options.kind == Kind::kPodGroup) return ask(Subject::kPodGroup);
  absl::StatusOr<Value> pod = ask(Subject::kPod);
  if (options.kind == Kind::kPod || !absl::IsNotFound(pod.status())) return pod;
  absl::StatusOr<Value> group = ask(Subject::kPodGroup);
  if (!absl::IsNotFound(group.status())) return group;
  return absl::NotFoundError(
      absl::StrCat(pod.status().message(), "; nor is there a PodGroup of that name"));
}

absl::StatusOr<Value> AskManifests(const ExplainOptions& options) {
  sim::SimulationOptions run;
  if (!options.scheduler_conf.empty()) {
    HEKLA_ASSIGN_OR_RETURN(run.scheduler_conf, ReadText(options.scheduler_conf));
    run.scheduler_conf_name = options.scheduler_conf;
  }
  HEKLA_ASSIGN_OR_RETURN(std::vector<sim::Manifest> manifests,
                         sim::ReadManifests(options.manifests));
  sim::SortForLoading(manifests);
  sim::Simulation simulation(std::move(run));
  HEKLA_RETURN_IF_ERROR(simulation.Load(manifests));
  HEKLA_RETURN_IF_ERROR(simulation.Run());
  return AskByKind(options,
                   [&](Subject subject) { return simulation.Explain(subject, options.name); });
}

absl::StatusOr<Value> Get(http::Transport& transport, const std::string& url, Subject subject,
                          const std::string& name) {
  http::Request request;
  request.method = "GET";
  request.target =
      absl::StrCat("/debug/explain?",
                   subject == Subject::kPod ? "pod=" : "podgroup=", http::PercentEncode(name));
  absl::StatusOr<http::Response> response =
      http::SendAndWait(transport, std::move(request), kPatience);
  if (!response.ok()) {
    return absl::UnavailableError(
        absl::StrCat("no scheduler answers at ", url, " (", response.status().message(),
                     "); see heklactl explain --help for how to reach one"));
  }
  absl::StatusOr<Value> body = apis::json::Parse(response->body);
  if (response->status == 200) return body;
  const std::string error = body.ok() ? std::string(body->GetString("error")) : response->body;
  if (response->status == 404 && body.ok() && !error.empty()) return absl::NotFoundError(error);
  return absl::UnavailableError(absl::StrCat(url, " answers ", response->status, ": ", error));
}

// --address, else what the kubeconfig names, else the default. A kubeconfig that was given by a
// flag must name one.
absl::StatusOr<std::string> UrlOf(const ExplainOptions& options) {
  if (!options.address.empty()) return options.address;
  const char* const from_environment = std::getenv("KUBECONFIG");
  const bool given = !options.kubeconfig.empty();
  const std::string path = given                         ? options.kubeconfig
                           : from_environment != nullptr ? from_environment
                                                         : "";
  if (path.empty()) return std::string(kDefaultDebugUrl);
  const absl::StatusOr<std::string> text = ReadText(path);
  if (!text.ok() && given) return text.status();
  const absl::StatusOr<std::string> url = text.ok() ? DebugUrlOf(*text) : text;
  if (url.ok() && !url->empty()) return url;
  if (!given) return std::string(kDefaultDebugUrl);
  if (!url.ok()) return url.status();
  return absl::InvalidArgumentError(absl::StrCat(
      path, " names no scheduler; forward its port and use --address: kubectl -n volcano-system ",
      "port-forward deploy/volcano-scheduler 11252"));
}

absl::StatusOr<Value> AskScheduler(const ExplainOptions& options) {
  HEKLA_ASSIGN_OR_RETURN(const std::string url, UrlOf(options));
  // One or two questions in the life of the program: see docs/adr/0002.
  HEKLA_ASSIGN_OR_RETURN(auto transport, http::CpprestTransport::Create({.url = url}));
  HEKLA_ASSIGN_OR_RETURN(const http::Url parsed, http::ParseUrl(url));
  // Without a user part, which may hold a password.
  const std::string shown = absl::StrCat(parsed.scheme, "://", parsed.Authority());
  return AskByKind(options,
                   [&](Subject subject) { return Get(*transport, shown, subject, options.name); });
}

}  // namespace

int RunExplain(const Arguments& arguments) {
  const absl::StatusOr<ExplainOptions> options = ParseExplainOptions(arguments);
  if (!options.ok()) {
    std::cerr << "heklactl explain: " << options.status().message() << "\n\n" << ExplainUsage();
    return kBadInput;
  }
  if (options->help) {
    std::cout << ExplainUsage();
    return 0;
  }
  util::StartLogging("heklactl", options->log);
  const absl::StatusOr<Value> answer =
      options->manifests.empty() ? AskScheduler(*options) : AskManifests(*options);
  if (!answer.ok()) {
    std::cerr << "heklactl explain: " << answer.status().message() << "\n";
    return absl::IsInvalidArgument(answer.status()) ? kBadInput : kFailed;
  }
  if (options->output == ExplainOptions::Output::kJson) {
    std::cout << apis::json::DumpPretty(*answer, 1) << "\n";
  } else {
    std::cout << framework::explain::RenderText(*answer);
  }
  return 0;
}

}  // namespace hekla::cmd::heklactl
