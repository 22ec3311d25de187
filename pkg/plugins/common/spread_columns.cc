#include "pkg/plugins/common/spread_columns.h"

namespace hekla::plugins {

PodQuery SpreadQuery(const model::Selector& selector, model::Symbol owner_namespace) {
  PodQuery query;
  query.skip_deleting = true;
  query.parts = {{selector, {owner_namespace}, false, {}}};
  if (selector.empty()) query.parts[0].selector.nothing = true;
  return query;
}

bool SelectsItself(const model::Selector& selector, model::TaskId task,
                   const model::Cluster& cluster) {
  return model::Matches(selector, *cluster.tables().tasks.spec[task]->labels,
                        cluster.dictionary().symbols);
}

}  // namespace hekla::plugins
