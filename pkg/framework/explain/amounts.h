#pragma once

#include <string>
#include <utility>
#include <vector>

#include "pkg/apis/json/value.h"
#include "pkg/framework/evidence.h"
#include "pkg/model/dictionary.h"
#include "pkg/model/resource.h"

namespace hekla::framework::explain {

// One amount as a quantity: "500m", "2", "16Gi". Fractions of the smallest unit are cut; amounts
// beyond any real one are "unlimited".
std::string AmountText(const model::ResourceLayout& layout, model::ResourceDim dim, double amount);

// "cpu 4, memory 8Gi", without pods; "nothing" where all else is zero.
std::string AmountsText(const model::ResourceLayout& layout, const model::Resource& amounts);
std::string AmountsText(const model::ResourceLayout& layout,
                        const std::vector<std::pair<model::ResourceDim, double>>& amounts);

apis::json::Value AmountsJson(const model::ResourceLayout& layout, const model::Resource& amounts);
apis::json::Value AmountsJson(const model::ResourceLayout& layout,
                              const std::vector<std::pair<model::ResourceDim, double>>& amounts);

// "asks for cpu 8, 4 is taken or promised, the capability of queue q is 10": what is exceeded in
// the checks. Says so where a limit is all that the cluster (`total`) has.
std::string ExceededText(const model::ResourceLayout& layout, const model::ResourceTotal& total,
                         const std::vector<LimitCheck>& checks);
apis::json::Value ChecksJson(const model::ResourceLayout& layout,
                             const std::vector<LimitCheck>& checks);

}  // namespace hekla::framework::explain
