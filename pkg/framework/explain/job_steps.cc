#include "pkg/framework/explain/job_steps.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "pkg/framework/evidence.h"
#include "pkg/framework/explain/amounts.h"
#include "pkg/framework/session_state.h"

namespace hekla::framework::explain {
namespace {

using apis::json::Value;
using model::JobId;
using model::JobTable;
using model::QueueId;
using model::QueueTable;

constexpr size_t kExamples = 3;

// The cause of the first limit that is exceeded; `otherwise` where none is.
Cause CauseOf(const std::vector<LimitCheck>& checks, Cause otherwise) {
  const auto first = std::find_if(checks.begin(), checks.end(),
                                  [](const LimitCheck& check) { return check.exceeded(); });
  return first == checks.end() ? otherwise : first->cause;
}

std::string ParentOf(const QueueTable& queues, QueueId queue) {
  if (queues.name[queue] == "root") return "";
  const std::string& parent = queues.spec[queue]->parent;
  return parent.empty() ? "root" : parent;
}

}  // namespace

std::string JobName(const JobTable& jobs, JobId job) {
  if (jobs.spec[job] == nullptr) return jobs.key[job];
  return absl::StrCat(jobs.spec[job]->namespace_name, "/", jobs.spec[job]->name);
}

Step& JobSteps::Add(absl::string_view name, Verdict verdict, std::string text) {
  chain_.push_back({std::string(name), verdict, std::move(text), Value()});
  return chain_.back();
}

void JobSteps::No(Step& step, Cause cause, std::string text) {
  step.verdict = Verdict::kNo;
  step.text = text;
  finding_.Say(cause, std::move(text));
}

const std::string& JobSteps::PluginName(int32_t plugin) const {
  return session_.state().plugins[static_cast<size_t>(plugin)].option->name;
}

Witness* JobSteps::WitnessOf(int32_t plugin) const {
  return dynamic_cast<Witness*>(session_.state().plugins[static_cast<size_t>(plugin)].plugin);
}

bool JobSteps::Ask() {
  const JobTable& jobs = session_.tables().jobs;
  if (jobs.spec[job_] == nullptr) {
    No(Add("podgroup", Verdict::kNo, ""), Cause::kPodGroupMissing,
       absl::StrCat("PodGroup ", jobs.key[job_], " does not exist (yet)"));
    return false;
  }
  if (!queue().valid()) {
    const std::string& named = jobs.spec[job_]->queue;
    No(Add("queue", Verdict::kNo, ""), Cause::kQueueNotFound,
       absl::StrCat("queue ", named.empty() ? session_.cluster().options().default_queue : named,
                    " does not exist"));
    return false;
  }
  AskQueue();
  AskEnqueue();
  AskGang();
  AskTopology();
  AskActions();
  return true;
}

// State, amounts and ancestors. A state other than open is a cause only where somebody minds it;
// that shows at admission and share.
void JobSteps::AskQueue() {
  const QueueTable& queues = session_.tables().queues;
  const model::ResourceLayout& layout = session_.dictionary().resources;
  const QueueId q = queue();
  const absl::string_view state = QueueStateName(queues.spec[q]->state);
  std::string text = absl::StrCat(QueueName(), " is ", queues.IsOpen(q) ? "open" : state,
                                  ", holds ", AmountsText(layout, queues.allocated[q]));
  Value details = Value::MakeObject({{"name", QueueName()},
                                     {"state", state},
                                     {"weight", queues.spec[q]->weight},
                                     {"priority", queues.spec[q]->priority},
                                     {"allocated", AmountsJson(layout, queues.allocated[q])},
                                     {"pending", AmountsJson(layout, queues.pending[q])}});
  Value ancestors = Value::MakeArray();
  std::string parent = ParentOf(queues, q);
  for (size_t steps = 0; !parent.empty() && steps <= queues.size(); ++steps) {
    ancestors.Append(parent);
    const QueueId up = session_.cluster().FindQueue(parent);
    if (!up.valid()) break;
    parent = ParentOf(queues, up);
  }
  details.Set("ancestors", std::move(ancestors));
  Value facts = Value::MakeObject();
  std::string problem, deserved;
  for (size_t i = 0; i < session_.state().plugins.size(); ++i) {
    const auto plugin = static_cast<int32_t>(i);
    Witness* witness = WitnessOf(plugin);
    if (witness == nullptr) continue;
    QueueFacts known;
    witness->DescribeQueue(q, known);
    if (!known.problem.empty()) {
      problem =
          absl::StrCat(PluginName(plugin), " cannot use queue ", QueueName(), ": ", known.problem);
    }
    if (!known.known) continue;
    Value numbers = Value::MakeObject({{"share", known.share}});
    for (const QueueFacts::Amount& amount : known.amounts) {
      numbers.Set(amount.name, AmountsJson(layout, amount.amounts));
      if (amount.name != "deserved") continue;
      deserved =
          absl::StrFormat(" of deserved %s (%s, share %.2f)", AmountsText(layout, amount.amounts),
                          PluginName(plugin), known.share);
    }
    facts.Set(PluginName(plugin), std::move(numbers));
  }
  details.Set("plugins", std::move(facts));
  Step& step = Add("queue", queues.IsOpen(q) ? Verdict::kOk : Verdict::kNote, text + deserved);
  step.details = std::move(details);
  if (!problem.empty()) No(step, Cause::kQueueNotUsable, problem);
}

int32_t JobSteps::RefusingPlugin() const {
  session_.state().quiet = true;
  int32_t refusing = -1, tier = -1;
  bool permitted = false;
  for (const auto& entry : session_.points().job_enqueueable.entries()) {
    if (entry.tier != tier) {
      if (permitted) break;
      tier = entry.tier;
    }
    const Vote vote = entry.call(job_);
    permitted = permitted || vote == Vote::kPermit;
    if (vote != Vote::kReject) continue;
    refusing = entry.plugin;
    break;
  }
  session_.state().quiet = false;
  return refusing;
}

void JobSteps::SayRefused(int32_t plugin) {
  const model::ResourceLayout& layout = session_.dictionary().resources;
  const std::string& name = PluginName(plugin);
  std::vector<LimitCheck> checks;
  if (Witness* witness = WitnessOf(plugin); witness != nullptr) {
    witness->ExplainEnqueue(job_, checks);
  }
  const std::string numbers =
      ExceededText(layout, session_.tables().nodes.total_allocatable, checks);
  Step& step = Add("enqueue", Verdict::kNo, "");
  step.details = Value::MakeObject({{"plugin", name}, {"checks", ChecksJson(layout, checks)}});
  const QueueTable& queues = session_.tables().queues;
  const Cause cause = CauseOf(checks, Cause::kEnqueueRefused);
  if (cause != Cause::kClusterOvercommitted && !queues.IsOpen(queue())) {
    return No(step, Cause::kQueueNotOpen,
              absl::StrCat("queue ", QueueName(), " is not open (state ",
                           QueueStateName(queues.spec[queue()]->state), ")"));
  }
  if (numbers.empty()) {
    return No(step, cause,
              absl::StrCat("plugin ", name, " does not let the group into queue ", QueueName()));
  }
  No(step, cause, absl::StrCat("not admitted by ", name, ": minResources ", numbers));
}

void JobSteps::AskEnqueue() {
  const JobTable& jobs = session_.tables().jobs;
  if (!jobs.IsPendingPhase(job_)) {
    Add("enqueue", Verdict::kOk,
        absl::StrCat("admitted, phase ", model::PhaseName(jobs.phase[job_])));
    return;
  }
  if (!session_.HasAction("enqueue")) {
    // allocate admits everything, and has not come to it.
    if (session_.HasAction("allocate")) {
      Add("enqueue", Verdict::kNote, "phase Pending; the next cycle takes it in");
      return;
    }
    return No(Add("enqueue", Verdict::kNo, ""), Cause::kActionMissing,
              "the configuration has neither of the actions enqueue and allocate");
  }
  if (jobs.spec[job_]->min_resources.has_value()) {
    if (const int32_t plugin = RefusingPlugin(); plugin >= 0) return SayRefused(plugin);
  }
  No(Add("enqueue", Verdict::kNo, ""), Cause::kNotAdmittedYet,
     "nobody refuses its admission; the next cycle admits it");
}

std::string JobSteps::RolesText() const {
  const JobTable& jobs = session_.tables().jobs;
  std::vector<std::string> parts;
  for (const model::RoleRow& row : jobs.roles[job_]) {
    const int32_t valid = row.counts.Sum(model::kValidStatuses);
    if (row.minimum == 0 || valid >= row.minimum) continue;
    parts.push_back(absl::StrCat("role ", session_.dictionary().symbols.Text(row.role), " has ",
                                 valid, " of the ", row.minimum, " pods it needs"));
  }
  std::sort(parts.begin(), parts.end());
  return absl::StrJoin(parts, ", ");
}

std::string JobSteps::SubGroupsText() const {
  const model::Tables& t = session_.tables();
  std::vector<std::string> parts;
  const auto& policies = t.jobs.spec[job_]->sub_groups;
  for (size_t p = 0; p < policies.size(); ++p) {
    int32_t have = 0;
    for (model::SubJobId s : t.jobs.sub_jobs[job_]) {
      if (t.sub_jobs.policy[s] == static_cast<int32_t>(p)) ++have;
    }
    if (have >= policies[p].min_sub_groups) continue;
    parts.push_back(absl::StrCat("policy ", policies[p].name, " has ", have, " of the ",
                                 policies[p].min_sub_groups, " sub-groups it needs"));
  }
  return absl::StrJoin(parts, ", ");
}

std::string JobSteps::GangText() const {
  const JobTable& jobs = session_.tables().jobs;
  const int32_t valid = jobs.counts[job_].Sum(model::kValidStatuses);
  std::string text = absl::StrCat(valid, valid == 1 ? " valid pod" : " valid pods", ", needs ",
                                  jobs.min_available[job_]);
  if (const int32_t gated = jobs.pending_gated[job_]; gated > 0) {
    absl::StrAppend(&text, ", ", gated, " gated");
  }
  if (const int32_t others = jobs.task_count[job_] - valid; others > 0) {
    absl::StrAppend(&text, ", ", others, " failed, ending or unknown");
  }
  return text;
}

void JobSteps::AskGang() {
  const JobTable& jobs = session_.tables().jobs;
  const ValidResult result = session_.points().job_valid(job_);
  Step& step = Add("gang", Verdict::kOk, GangText());
  Value roles = Value::MakeArray();
  for (const model::RoleRow& row : jobs.roles[job_]) {
    roles.Append(Value::MakeObject({{"role", session_.dictionary().symbols.Text(row.role)},
                                    {"minimum", row.minimum},
                                    {"valid", row.counts.Sum(model::kValidStatuses)}}));
  }
  const int32_t valid = jobs.counts[job_].Sum(model::kValidStatuses);
  const int32_t missing = std::max(0, jobs.min_available[job_] - valid);
  step.details = Value::MakeObject({{"minMember", jobs.min_available[job_]},
                                    {"valid", valid},
                                    {"missing", missing},
                                    {"gated", jobs.pending_gated[job_]},
                                    {"ready", jobs.Ready(job_)},
                                    {"roles", std::move(roles)}});
  if (result.pass) return;
  switch (result.cause) {
    case Cause::kNotEnoughPods:
      return No(step, result.cause,
                absl::StrCat("the gang has ", GangText(), ": ", missing,
                             missing == 1 ? " is missing" : " are missing"));
    case Cause::kNotEnoughPodsOfRole:
      return No(step, result.cause, RolesText());
    case Cause::kNotEnoughSubGroups:
      return No(step, result.cause, SubGroupsText());
    default:
      return No(step, result.cause, absl::StrCat(result.reason, ": ", result.message));
  }
}

void JobSteps::AskTopology() {
  const model::JobSpec& spec = *session_.tables().jobs.spec[job_];
  bool wants = spec.topology.has_value();
  for (const model::SubGroupPolicy& policy : spec.sub_groups) {
    wants = wants || policy.topology.has_value();
  }
  if (!wants) return;
  No(Add("topology", Verdict::kNo, ""), Cause::kHyperNodesNotReady,
     "it asks for a network topology, and hyperNodes are not ready");
}

void JobSteps::AskActions() {
  const JobTable& jobs = session_.tables().jobs;
  const int32_t pending = jobs.counts[job_][model::TaskStatus::kPending];
  const int32_t best_effort = jobs.pending_best_effort[job_];
  for (const auto& [action, count] : {std::make_pair("allocate", pending - best_effort),
                                      std::make_pair("backfill", best_effort)}) {
    if (count == 0 || session_.HasAction(action)) continue;
    No(Add("actions", Verdict::kNo, ""), Cause::kActionMissing,
       absl::StrCat("the configuration lacks the action ", action, ", which places pods ",
                    action[0] == 'b' ? "without requests" : "with requests"));
    return;
  }
}

void JobSteps::AskOverused() {
  const JobTable& jobs = session_.tables().jobs;
  if (jobs.counts[job_][model::TaskStatus::kPending] <= jobs.pending_best_effort[job_]) return;
  for (const auto& entry : session_.points().overused.entries()) {
    if (!entry.call(queue())) continue;
    return No(Add("overused", Verdict::kNo, ""), Cause::kQueueOverused,
              absl::StrCat("queue ", QueueName(), " holds all it deserves (",
                           PluginName(entry.plugin), "): ",
                           AmountsText(session_.dictionary().resources,
                                       session_.tables().queues.allocated[queue()])));
  }
}

void JobSteps::SayQueueRefuses(int32_t plugin, std::vector<LimitCheck> checks) {
  const QueueTable& queues = session_.tables().queues;
  const model::ResourceLayout& layout = session_.dictionary().resources;
  Step& step = Add("share", Verdict::kNo, "");
  step.details =
      Value::MakeObject({{"plugin", PluginName(plugin)}, {"checks", ChecksJson(layout, checks)}});
  if (!queues.IsOpen(queue())) {
    return No(step, Cause::kQueueNotOpen,
              absl::StrCat("queue ", QueueName(), " is not open (state ",
                           QueueStateName(queues.spec[queue()]->state), ")"));
  }
  const std::string numbers =
      ExceededText(layout, session_.tables().nodes.total_allocatable, checks);
  const Cause cause = CauseOf(checks, Cause::kQueueRefused);
  if (numbers.empty()) {
    return No(step, cause,
              absl::StrCat("plugin ", PluginName(plugin), " lets queue ", QueueName(),
                           " take nothing more"));
  }
  No(step, cause, numbers);
}

void JobSteps::AskShare(model::TaskId task, const model::Resource& siblings) {
  const auto entries = session_.points().allocatable.entries();
  model::Resource together = session_.tables().tasks.pod[task]->request;
  together += siblings;
  for (const auto& entry : entries) {
    std::vector<LimitCheck> checks;
    if (Witness* witness = WitnessOf(entry.plugin); witness != nullptr) {
      witness->ExplainAllocatable(queue(), together, checks);
    }
    bool exceeded = false;
    for (const LimitCheck& check : checks) exceeded = exceeded || check.exceeded();
    if (entry.call(queue(), task) && !exceeded) continue;
    return SayQueueRefuses(entry.plugin, std::move(checks));
  }
  if (!entries.empty()) {
    Add("share", Verdict::kOk, absl::StrCat("queue ", QueueName(), " may take the request"));
  }
}

void JobSteps::AddOrder() {
  const JobTable& jobs = session_.tables().jobs;
  std::vector<JobId> before;
  for (JobId other : session_.cluster().waiting_jobs()) {
    if (other == job_ || !jobs.live[other] || jobs.spec[other] == nullptr) continue;
    if (jobs.queue[other] != queue()) continue;
    if (jobs.counts[other][model::TaskStatus::kPending] == 0) continue;
    if (session_.JobBefore(other, job_)) before.push_back(other);
  }
  std::sort(before.begin(), before.end(),
            [&](JobId a, JobId b) { return session_.JobBefore(a, b); });
  std::vector<std::string> names;
  for (JobId other : before) {
    if (names.size() < kExamples) names.push_back(JobName(jobs, other));
  }
  std::string text = absl::StrCat("priority ", jobs.priority[job_]);
  if (before.empty()) {
    absl::StrAppend(&text, ", first of its queue");
  } else {
    absl::StrAppend(&text, ", behind ", before.size(), " of its queue (",
                    absl::StrJoin(names, ", "), before.size() > names.size() ? ", …)" : ")");
  }
  Step& step = Add("order", Verdict::kNote, std::move(text));
  step.details = Value::MakeObject(
      {{"priority", jobs.priority[job_]}, {"ahead", static_cast<long>(before.size())}});
}

}  // namespace hekla::framework::explain
