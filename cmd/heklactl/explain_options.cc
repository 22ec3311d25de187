#include "cmd/heklactl/explain_options.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "pkg/apis/meta/lookup.h"
#include "pkg/kube/config/private_yaml.h"
#include "pkg/util/flag_set.h"
#include "pkg/util/status_macros.h"

namespace hekla::cmd::heklactl {
namespace {

using apis::json::Value;
using Kind = ExplainOptions::Kind;

absl::Status SetOutput(absl::string_view text, ExplainOptions::Output* output) {
  if (text == "text") {
    *output = ExplainOptions::Output::kText;
  } else if (text == "json") {
    *output = ExplainOptions::Output::kJson;
  } else {
    return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" is not one of text, json"));
  }
  return absl::OkStatus();
}

void AddFlags(util::FlagSet& flags, ExplainOptions& o, std::string& ns) {
  flags.String("namespace", &ns, "Namespace of the pod or PodGroup.");
  flags.Alias("n", "namespace");
  flags.String("address", &o.address,
               "Where the running scheduler answers; without it the address in the kubeconfig "
               "(the playground writes one), else http://127.0.0.1:11252.");
  flags.String("kubeconfig", &o.kubeconfig, "Kubeconfig of a playground.");
  flags.String("scheduler-conf", &o.scheduler_conf,
               "Configuration of the scheduler; for manifests only.");
  flags.Custom(
      "output", "text", [&o](absl::string_view text) { return SetOutput(text, &o.output); },
      "text or json.");
  flags.Alias("o", "output");
  util::AddLogFlags(flags, &o.log);
}

// "pod/NAME", "podgroup/NAME", "NS/NAME" or "NAME".
void ReadName(absl::string_view text, absl::string_view ns, ExplainOptions& o) {
  static constexpr std::pair<absl::string_view, Kind> kPrefixes[] = {
      {"pod/", Kind::kPod},           {"pods/", Kind::kPod},
      {"podgroup/", Kind::kPodGroup}, {"podgroups/", Kind::kPodGroup},
      {"pg/", Kind::kPodGroup},
  };
  for (const auto& [prefix, kind] : kPrefixes) {
    if (!absl::StartsWith(text, prefix)) continue;
    o.kind = kind;
    text.remove_prefix(prefix.size());
    break;
  }
  o.name = absl::StrContains(text, '/') ? std::string(text) : absl::StrCat(ns, "/", text);
}

}  // namespace

absl::StatusOr<ExplainOptions> ParseExplainOptions(const std::vector<std::string>& arguments) {
  ExplainOptions options;
  options.log.min_severity = 2;
  std::string ns = "default";
  util::FlagSet flags;
  AddFlags(flags, options, ns);
  HEKLA_ASSIGN_OR_RETURN(std::vector<std::string> rest, flags.Parse(arguments));
  options.help = flags.help();
  if (flags.Given("v")) options.log.min_severity = 0;
  if (options.help) return options;
  if (rest.empty() || rest[0].empty()) {
    return absl::InvalidArgumentError("name a pod or a PodGroup");
  }
  ReadName(rest[0], ns, options);
  options.manifests.assign(rest.begin() + 1, rest.end());
  if (options.manifests.empty() && !options.scheduler_conf.empty()) {
    return absl::InvalidArgumentError("--scheduler-conf needs manifests");
  }
  if (!options.manifests.empty() && !(options.address.empty() && options.kubeconfig.empty())) {
    return absl::InvalidArgumentError(
        "manifests are decided here; --address and --kubeconfig ask a running scheduler");
  }
  if (!options.address.empty() && !absl::StrContains(options.address, "://")) {
    options.address = absl::StrCat("http://", options.address);
  }
  return options;
}

std::string ExplainUsage() {
  ExplainOptions options;
  std::string ns = "default";
  util::FlagSet flags;
  AddFlags(flags, options, ns);
  return absl::StrCat(
      "Usage: heklactl explain [pod/|podgroup/][NAMESPACE/]NAME [flags] [MANIFEST...]\n\n"
      "Says why a pod or PodGroup waits: asks the running scheduler, or decides the manifests\n"
      "here. On a cluster: kubectl -n volcano-system port-forward deploy/volcano-scheduler "
      "11252\n\n"
      "Exit codes: 0, 1 (not known, no answer), 2 (bad input).\n\nFlags:\n",
      flags.Usage());
}

absl::StatusOr<std::string> DebugUrlOf(absl::string_view kubeconfig) {
  HEKLA_ASSIGN_OR_RETURN(const auto document, kube::ParsePrivateYaml(kubeconfig));
  const Value& config = document.value;
  const Value* context =
      apis::meta::FindNamed(config.At("contexts"), config.GetString("current-context"));
  if (context == nullptr) return std::string();
  const Value* cluster =
      apis::meta::FindNamed(config.At("clusters"), context->At("context").GetString("cluster"));
  if (cluster == nullptr) return std::string();
  const Value* extension =
      apis::meta::FindNamed(cluster->At("cluster").At("extensions"), "hekla.dev/debug");
  if (extension == nullptr) return std::string();
  return std::string(extension->At("extension").GetString("address"));
}

}  // namespace hekla::cmd::heklactl
