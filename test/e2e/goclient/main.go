// A session of Go's typed client against an API server: what operators and schedulers written in Go
// do. Prints a line per step; exit code 0 when all of them held.
//
// usage: goclient KUBECONFIG
package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/retry"
)

type session struct {
	config *rest.Config
	client *kubernetes.Clientset
	ns     string
}

func pod(name string) *corev1.Pod {
	zero := int64(0)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "go"}},
		Spec: corev1.PodSpec{
			SchedulerName: "nobody", TerminationGracePeriodSeconds: &zero,
			Containers: []corev1.Container{{
				Name: "main", Image: "busybox",
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
					corev1.ResourceCPU: resource.MustParse("1500m"), corev1.ResourceMemory: resource.MustParse("1Gi")}},
			}},
		},
	}
}

func expect(holds bool, format string, args ...any) error {
	if holds {
		return nil
	}
	return fmt.Errorf(format, args...)
}

func within(seconds int, what func() bool) error {
	return wait.PollUntilContextTimeout(context.Background(), 20*time.Millisecond, time.Duration(seconds)*time.Second,
		true, func(context.Context) (bool, error) { return what(), nil })
}

func (s *session) typedObjects(ctx context.Context) error {
	pods := s.client.CoreV1().Pods(s.ns)
	made, err := pods.Create(ctx, pod("typed"), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if cpu := made.Spec.Containers[0].Resources.Requests.Cpu().String(); cpu != "1500m" {
		return fmt.Errorf("cpu came back as %s", cpu)
	}
	if _, err = pods.Create(ctx, pod("typed"), metav1.CreateOptions{}); !errors.IsAlreadyExists(err) {
		return fmt.Errorf("second create: %v", err)
	}
	err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		read, err := pods.Get(ctx, "typed", metav1.GetOptions{})
		if err != nil {
			return err
		}
		read.Annotations = map[string]string{"step": "2"}
		_, err = pods.Update(ctx, read, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return err
	}
	if _, err = pods.Update(ctx, made, metav1.UpdateOptions{}); !errors.IsConflict(err) {
		return fmt.Errorf("update of a stale object: %v", err)
	}
	patched, err := pods.Patch(ctx, "typed", types.StrategicMergePatchType,
		[]byte(`{"spec":{"containers":[{"name":"main","image":"busybox:2"}]}}`), metav1.PatchOptions{})
	if err != nil {
		return err
	}
	if err = expect(len(patched.Spec.Containers) == 1 && patched.Spec.Containers[0].Image == "busybox:2",
		"strategic patch: %v", patched.Spec.Containers); err != nil {
		return err
	}
	patched.Status.Phase = corev1.PodRunning
	patched.Status.Conditions = append(patched.Status.Conditions,
		corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue})
	updated, err := pods.UpdateStatus(ctx, patched, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	if err = expect(updated.Status.Phase == corev1.PodRunning, "status: %v", updated.Status); err != nil {
		return err
	}
	if err = pods.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "app=go"}); err != nil {
		return err
	}
	return within(20, func() bool {
		_, err := pods.Get(ctx, "typed", metav1.GetOptions{})
		return errors.IsNotFound(err)
	})
}

func (s *session) informer(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	factory := informers.NewSharedInformerFactoryWithOptions(s.client, 0, informers.WithNamespace(s.ns))
	informer := factory.Core().V1().Pods()
	var mutex sync.Mutex
	counts := map[string]int{}
	count := func(what string) {
		mutex.Lock()
		counts[what]++
		mutex.Unlock()
	}
	informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { count("add") },
		UpdateFunc: func(any, any) { count("update") },
		DeleteFunc: func(any) { count("delete") },
	})
	pods := s.client.CoreV1().Pods(s.ns)
	if _, err := pods.Create(ctx, pod("before"), metav1.CreateOptions{}); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.Informer().HasSynced) {
		return fmt.Errorf("the cache did not fill")
	}
	for i := 0; i < 50; i++ {
		if _, err := pods.Create(ctx, pod(fmt.Sprintf("p%d", i)), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	for i := 0; i < 50; i += 2 {
		if err := pods.Delete(ctx, fmt.Sprintf("p%d", i), metav1.DeleteOptions{}); err != nil {
			return err
		}
	}
	err := within(30, func() bool {
		mutex.Lock()
		defer mutex.Unlock()
		return counts["add"] == 51 && counts["delete"] == 25
	})
	if err != nil {
		return fmt.Errorf("events: %v", counts)
	}
	listed, err := informer.Lister().Pods(s.ns).Get("p1")
	return expect(err == nil && listed.Name == "p1", "lister: %v", err)
}

func (s *session) binding(ctx context.Context) error {
	nodes := s.client.CoreV1().Nodes()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: s.ns + "-node"}}
	if _, err := nodes.Create(ctx, node, metav1.CreateOptions{}); err != nil {
		return err
	}
	defer nodes.Delete(ctx, node.Name, metav1.DeleteOptions{})
	pods := s.client.CoreV1().Pods(s.ns)
	if _, err := pods.Create(ctx, pod("bound"), metav1.CreateOptions{}); err != nil {
		return err
	}
	bind := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "bound", Namespace: s.ns},
		Target: corev1.ObjectReference{Kind: "Node", Name: node.Name}}
	if err := pods.Bind(ctx, bind, metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := pods.Bind(ctx, bind, metav1.CreateOptions{}); !errors.IsConflict(err) {
		return fmt.Errorf("second binding: %v", err)
	}
	read, err := pods.Get(ctx, "bound", metav1.GetOptions{})
	if err != nil {
		return err
	}
	zero := int64(0)
	defer pods.Delete(ctx, "bound", metav1.DeleteOptions{GracePeriodSeconds: &zero})
	return expect(read.Spec.NodeName == node.Name, "bound to %q", read.Spec.NodeName)
}

func (s *session) serverSideApply(ctx context.Context) error {
	maps := s.client.CoreV1().ConfigMaps(s.ns)
	apply := func(owner string, data map[string]string, force bool) (*corev1.ConfigMap, error) {
		return maps.Apply(ctx, applycorev1.ConfigMap("shared", s.ns).WithData(data),
			metav1.ApplyOptions{FieldManager: owner, Force: force})
	}
	if _, err := apply("one", map[string]string{"a": "1"}, false); err != nil {
		return err
	}
	if _, err := apply("two", map[string]string{"a": "2"}, false); !errors.IsConflict(err) {
		return fmt.Errorf("a field of another owner: %v", err)
	}
	forced, err := apply("two", map[string]string{"a": "2", "b": "3"}, true)
	if err != nil {
		return err
	}
	return expect(forced.Data["a"] == "2" && len(forced.ManagedFields) >= 1, "forced: %v", forced)
}

func (s *session) pages(ctx context.Context) error {
	maps := s.client.CoreV1().ConfigMaps(s.ns)
	for i := 0; i < 10; i++ {
		made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("page-%d", i), Labels: map[string]string{"book": "yes"}}}
		if _, err := maps.Create(ctx, made, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	seen, options := 0, metav1.ListOptions{LabelSelector: "book=yes", Limit: 4}
	for {
		list, err := maps.List(ctx, options)
		if err != nil {
			return err
		}
		seen += len(list.Items)
		if options.Continue = list.Continue; options.Continue == "" {
			return expect(seen == 10, "%d objects on all pages", seen)
		}
	}
}

func (s *session) customObjects(ctx context.Context) error {
	client, err := dynamic.NewForConfig(s.config)
	if err != nil {
		return err
	}
	groups := client.Resource(schema.GroupVersionResource{
		Group: "scheduling.volcano.sh", Version: "v1beta1", Resource: "podgroups"}).Namespace(s.ns)
	group := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup",
		"metadata": map[string]any{"name": "crew"},
		"spec":     map[string]any{"minMember": int64(2), "queue": "default"}}}
	if _, err = groups.Create(ctx, group, metav1.CreateOptions{}); err != nil {
		return err
	}
	patched, err := groups.Patch(ctx, "crew", types.MergePatchType, []byte(`{"spec":{"minMember":3}}`), metav1.PatchOptions{})
	if err != nil {
		return err
	}
	members, _, _ := unstructured.NestedInt64(patched.Object, "spec", "minMember")
	if err = expect(members == 3, "minMember %d", members); err != nil {
		return err
	}
	_, err = groups.Patch(ctx, "crew", types.MergePatchType, []byte(`{"spec":{"minMember":"x"}}`), metav1.PatchOptions{})
	if !errors.IsInvalid(err) {
		return fmt.Errorf("a text for a number: %v", err)
	}
	return groups.Delete(ctx, "crew", metav1.DeleteOptions{})
}

func (s *session) leaderElection(ctx context.Context) error {
	var mutex sync.Mutex
	var leaders []string
	elect := func(ctx context.Context, name string) {
		lock := &resourcelock.LeaseLock{
			LeaseMeta: metav1.ObjectMeta{Name: "leader", Namespace: s.ns}, Client: s.client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: name}}
		leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
			Lock: lock, ReleaseOnCancel: true, LeaseDuration: 3 * time.Second,
			RenewDeadline: 2 * time.Second, RetryPeriod: 200 * time.Millisecond,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(ctx context.Context) {
					mutex.Lock()
					leaders = append(leaders, name)
					mutex.Unlock()
					<-ctx.Done()
				},
				OnStoppedLeading: func() {}}})
	}
	led := func(count int) func() bool {
		return func() bool {
			mutex.Lock()
			defer mutex.Unlock()
			return len(leaders) == count
		}
	}
	first, stopFirst := context.WithCancel(ctx)
	second, stopSecond := context.WithCancel(ctx)
	defer stopSecond()
	go elect(first, "first")
	if err := within(20, led(1)); err != nil {
		return fmt.Errorf("nobody leads: %w", err)
	}
	go elect(second, "second")
	time.Sleep(time.Second)
	if !led(1)() {
		return fmt.Errorf("two leaders: %v", leaders)
	}
	stopFirst()
	if err := within(20, led(2)); err != nil {
		return fmt.Errorf("the lease was not released: %w", err)
	}
	var lease *coordinationv1.Lease
	lease, err := s.client.CoordinationV1().Leases(s.ns).Get(ctx, "leader", metav1.GetOptions{})
	if err != nil {
		return err
	}
	return expect(*lease.Spec.HolderIdentity == "second" && *lease.Spec.LeaseTransitions >= 1, "lease: %v", lease.Spec)
}

func (s *session) discovery(context.Context) error {
	_, lists, err := s.client.Discovery().ServerGroupsAndResources()
	if err != nil {
		return err
	}
	found := false
	for _, list := range lists {
		for _, r := range list.APIResources {
			found = found || list.GroupVersion == "scheduling.volcano.sh/v1beta1" && r.Kind == "Queue"
		}
	}
	return expect(found, "no Queue in %d group versions", len(lists))
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: goclient KUBECONFIG")
		os.Exit(2)
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	config.QPS, config.Burst = 1000, 1000
	// As controllers do: requests in protobuf, answers in what the server prefers.
	typed := rest.CopyConfig(config)
	typed.ContentType = "application/vnd.kubernetes.protobuf"
	typed.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	s := &session{config: config, client: kubernetes.NewForConfigOrDie(typed),
		ns: fmt.Sprintf("go-%d", time.Now().UnixNano()%1_000_000_000)}
	ctx := context.Background()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.ns}}
	if _, err := s.client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
		fmt.Fprintln(os.Stderr, "namespace:", err)
		os.Exit(1)
	}
	failed := 0
	for _, step := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"discovery", s.discovery}, {"typed objects", s.typedObjects}, {"informer", s.informer},
		{"binding", s.binding}, {"server-side apply", s.serverSideApply}, {"pages", s.pages},
		{"custom objects", s.customObjects}, {"leader election", s.leaderElection},
	} {
		if err := step.run(ctx); err != nil {
			failed++
			fmt.Printf("FAILED %s: %v\n", step.name, err)
			continue
		}
		fmt.Printf("ok %s\n", step.name)
	}
	s.client.CoreV1().Namespaces().Delete(ctx, s.ns, metav1.DeleteOptions{})
	if failed > 0 {
		os.Exit(1)
	}
}
