// SPDX-License-Identifier: Apache-2.0

// Argo CD's plugin server, a client that asks it as the repo server does, and the
// repo server's own generation of manifests.
//
//	argocd-cmp server --config-dir-path DIR
//	argocd-cmp ask SOCKET REPOSITORY APPLICATION [NAME=VALUE...]
//	argocd-cmp manifests APPLICATION.yaml REPOSITORY REVISION
//
// ask prints "match: true" or "match: false" and then the manifests, one JSON
// object a line; manifests prints them alone. Errors go to standard error, with
// exit status 1.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/argoproj/argo-cd/v3/cmd/argocd-cmp-server/commands"
	"github.com/argoproj/argo-cd/v3/cmpserver/apiclient"
	"github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	repo "github.com/argoproj/argo-cd/v3/reposerver/apiclient"
	"github.com/argoproj/argo-cd/v3/reposerver/repository"
	"github.com/argoproj/argo-cd/v3/util/cmp"
	utilio "github.com/argoproj/argo-cd/v3/util/io"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"
)

func ask(socket, repository, application string, env []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	closer, client, err := apiclient.NewConfigManagementPluginClientSet(socket).NewConfigManagementPluginClient()
	if err != nil {
		return err
	}
	defer closer.Close()
	folder := filepath.Join(repository, application)
	match, err := client.MatchRepository(ctx)
	if err != nil {
		return err
	}
	if err := cmp.SendRepoStream(ctx, folder, repository, match, env, nil); err != nil {
		return err
	}
	matched, err := match.CloseAndRecv()
	if err != nil {
		return err
	}
	fmt.Println("match:", matched.GetIsSupported())
	generate, err := client.GenerateManifest(ctx)
	if err != nil {
		return err
	}
	if err := cmp.SendRepoStream(ctx, folder, repository, generate, env, nil); err != nil {
		return err
	}
	answer, err := generate.CloseAndRecv()
	if err != nil {
		return err
	}
	for _, manifest := range answer.GetManifests() {
		fmt.Println(manifest)
	}
	return nil
}

// manifests prints the manifests of an Application whose repository is checked
// out.
func manifests(path, checkout, revision string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var app v1alpha1.Application
	if err := yaml.Unmarshal(text, &app); err != nil {
		return err
	}
	source := app.Spec.GetSource()
	answer, err := repository.GenerateManifests(context.Background(),
		filepath.Join(checkout, source.Path), checkout, revision,
		&repo.ManifestRequest{
			Repo:               &v1alpha1.Repository{Repo: source.RepoURL},
			AppName:            app.Name,
			Namespace:          app.Spec.Destination.Namespace,
			ApplicationSource:  &source,
			ProjectName:        app.Spec.Project,
			ProjectSourceRepos: []string{"*"},
			KubeVersion:        "v1.34.0",
		}, false, nil, resource.MustParse("0"), utilio.NewRandomizedTempPaths(os.TempDir()))
	if err != nil {
		return err
	}
	for _, manifest := range answer.Manifests {
		fmt.Println(manifest)
	}
	return nil
}

func main() {
	if len(os.Args) == 5 && os.Args[1] == "manifests" {
		if err := manifests(os.Args[2], os.Args[3], os.Args[4]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) > 4 && os.Args[1] == "ask" {
		if err := ask(os.Args[2], os.Args[3], os.Args[4], os.Args[5:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) > 1 {
		os.Args = append(os.Args[:1], os.Args[2:]...)
	}
	if commands.NewCommand().Execute() != nil {
		os.Exit(1)
	}
}
