// Package copier is a small operator: it keeps a copy of every ConfigMap that asks for one in another namespace.
package copier

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// CopyTo names the namespace that a ConfigMap is copied to.
const CopyTo = "example.com/copy-to"

// Copier copies ConfigMaps.
type Copier struct{ client.Client }

// Reconcile makes the copy what its original is.
func (c *Copier) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var original corev1.ConfigMap
	if err := c.Get(ctx, request.NamespacedName, &original); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	namespace, wanted := original.Annotations[CopyTo]
	if !wanted {
		return ctrl.Result{}, nil
	}
	copied := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: original.Name, Namespace: namespace}}
	_, err := controllerutil.CreateOrUpdate(ctx, c.Client, copied, func() error {
		copied.Data = original.Data
		return nil
	})
	return ctrl.Result{}, err
}

// Start adds the operator to a manager.
func Start(manager ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(manager).For(&corev1.ConfigMap{}).Complete(&Copier{manager.GetClient()})
}
