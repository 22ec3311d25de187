#pragma once

#include <string>
#include <utility>
#include <vector>

#include "pkg/framework/cause.h"
#include "pkg/model/ids.h"
#include "pkg/model/resource.h"

// The numbers behind a plugin's verdict on queues and jobs, for people who ask why a job waits.
namespace hekla::framework {

// Amounts held against one limit.
// Units: those of the resource layout (milli-cores, bytes, thousandths, counts), as fractions.
struct LimitCheck {
  struct Row {
    model::ResourceDim dim = 0;
    double asked = 0;    // by the job or pod at hand
    double counted = 0;  // already taken or promised
    double limit = 0;
    bool exceeded = false;
  };
  Cause cause = Cause::kQueueRefused;  // of a refusal by this limit
  std::string limit;                   // "deserved", "capability", "allocatable x 1.2 - used"
  std::string owner;                   // the queue; "": the whole cluster
  std::vector<Row> rows;               // of what is asked for, in order of dimensions

  bool exceeded() const {
    for (const Row& row : rows) {
      if (row.exceeded) return true;
    }
    return false;
  }
};

// What a plugin knows about one queue.
struct QueueFacts {
  struct Amount {
    std::string name;  // "deserved", "capability", "inqueue"
    std::vector<std::pair<model::ResourceDim, double>> amounts;  // what is not zero
  };
  bool known = false;   // the plugin has numbers for the queue
  std::string problem;  // why it can take no job at all; "" if it can
  double share = 0;
  std::vector<Amount> amounts;
};

// A plugin that can say with which numbers it decides. Asked between sessions, when the tables show
// what has been committed; answers like its votes do. Changes nothing.
// Threads: the session thread.
class Witness {
 public:
  virtual ~Witness() = default;
  virtual void DescribeQueue(model::QueueId queue, QueueFacts& out) { (void)queue, (void)out; }
  // What JobEnqueueable compares. Nothing appended: the plugin compares no amounts for this job.
  virtual void ExplainEnqueue(model::JobId job, std::vector<LimitCheck>& out) {
    (void)job, (void)out;
  }
  // What Allocatable compares for a request.
  virtual void ExplainAllocatable(model::QueueId queue, const model::Resource& request,
                                  std::vector<LimitCheck>& out) {
    (void)queue, (void)request, (void)out;
  }
};

}  // namespace hekla::framework
