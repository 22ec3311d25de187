#include "pkg/framework/room_columns.h"

#include <algorithm>
#include <limits>

#include "pkg/framework/column_math.h"

namespace hekla::framework {

using model::NodeId;

void RoomColumns::CatchUp() {
  const model::NodeTable& nodes = cluster_->tables().nodes;
  const size_t width = nodes.idle.width();
  if (idle_.size() != width) cursor_.Reset();
  if (cursor_.CatchUp(*cluster_, [this](NodeId node, bool) { Read(node); })) return;
  idle_.assign(width, std::vector<double>(nodes.leaves.size(), 0));
  future_ = idle_;
  for (NodeId node : nodes.leaves) Read(node);
}

void RoomColumns::Read(NodeId node) {
  const model::NodeTable& nodes = cluster_->tables().nodes;
  if (nodes.live[node] == 0) return;
  const uint32_t leaf = nodes.leaf_position[node];
  const int64_t* idle = nodes.idle.row(node.index());
  const int64_t* releasing = nodes.releasing.row(node.index());
  const int64_t* pipelined = nodes.pipelined.row(node.index());
  for (size_t d = 0; d < idle_.size(); ++d) {
    idle_[d][leaf] = static_cast<double>(idle[d]);
    future_[d][leaf] = static_cast<double>(idle[d] + releasing[d] - pipelined[d]);
  }
}

void RoomColumns::Slack(const Columns& room, const model::Resource& request, size_t begin,
                        absl::Span<double> slack) {
  std::fill(slack.begin(), slack.end(), std::numeric_limits<double>::max());
  for (size_t d = 0; d < request.size(); ++d) {
    const auto amount = static_cast<double>(request[static_cast<model::ResourceDim>(d)]);
    if (d < room.size()) {
      LowerToRest(room[d].data() + begin, amount, slack.data(), slack.size());
    } else if (amount > 0) {  // no node has any of it
      std::fill(slack.begin(), slack.end(), -amount);
    }
  }
}

void RoomColumns::IdleSlack(const model::Resource& request, size_t begin,
                            absl::Span<double> slack) const {
  Slack(idle_, request, begin, slack);
}

void RoomColumns::FutureSlack(const model::Resource& request, size_t begin,
                              absl::Span<double> slack) const {
  Slack(future_, request, begin, slack);
}

}  // namespace hekla::framework
