package copier

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// The cluster is that of KUBECONFIG: offshoot up, kind or any other.
func TestCopies(t *testing.T) {
	manager, err := ctrl.NewManager(config.GetConfigOrDie(), ctrl.Options{
		LeaderElection:          true,
		LeaderElectionID:        "copier",
		LeaderElectionNamespace: "default",
		// Whoever comes next need not wait until the lease has run out.
		LeaderElectionReleaseOnCancel: true,
		Metrics:                       server.Options{BindAddress: "0"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := Start(manager); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	stopped := make(chan error)
	go func() { stopped <- manager.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	})
	c := manager.GetClient()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "copies-"}}
	if err := c.Create(ctx, namespace); err != nil {
		t.Fatal(err)
	}
	original := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName: "settings-",
			Namespace:    "default",
			Annotations:  map[string]string{CopyTo: namespace.Name},
		},
		Data: map[string]string{"colour": "green"},
	}
	if err := c.Create(ctx, original); err != nil {
		t.Fatal(err)
	}
	key := types.NamespacedName{Namespace: namespace.Name, Name: original.Name}
	for {
		var copied corev1.ConfigMap
		if err := manager.GetAPIReader().Get(ctx, key, &copied); err == nil && copied.Data["colour"] == "green" {
			return
		}
		if ctx.Err() != nil {
			t.Fatal("there is no copy")
		}
		time.Sleep(20 * time.Millisecond)
	}
}
