#include "pkg/apis/coordination/lease.h"

namespace hekla::apis::coordination {

absl::StatusOr<Lease> DecodeLease(const json::Value& value) {
  Lease lease;
  const meta::Reader root(value);
  meta::ReadObjectMeta(root, lease.metadata);
  root.Object("spec", [&](meta::Reader& spec) {
    spec.String("holderIdentity", lease.holder_identity);
    spec.Int("leaseDurationSeconds", lease.lease_duration_seconds);
    spec.Time("acquireTime", lease.acquire_time);
    spec.Time("renewTime", lease.renew_time);
    spec.Int("leaseTransitions", lease.lease_transitions);
  });
  if (!root.status().ok()) return root.status();
  return lease;
}

json::Value EncodeLease(const Lease& lease, json::Value base) {
  base.Set("apiVersion", Lease::kApiVersion);
  base.Set("kind", Lease::kKind);
  meta::WriteObjectMeta(lease.metadata, base);
  json::Value& spec = base.Ensure({"spec"});
  meta::SetOrRemove(spec, "holderIdentity", lease.holder_identity);
  if (lease.lease_duration_seconds) {
    spec.Set("leaseDurationSeconds", *lease.lease_duration_seconds);
  }
  meta::SetOrRemove(spec, "acquireTime", meta::MicroTimeToString(lease.acquire_time));
  meta::SetOrRemove(spec, "renewTime", meta::MicroTimeToString(lease.renew_time));
  if (lease.lease_transitions) spec.Set("leaseTransitions", *lease.lease_transitions);
  return base;
}

}  // namespace hekla::apis::coordination
