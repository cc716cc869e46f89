// SPDX-License-Identifier: Apache-2.0

// Argo CD's plugin server, and a client that asks it as the repo server does.
//
//	argocd-cmp server --config-dir-path DIR
//	argocd-cmp ask SOCKET REPOSITORY APPLICATION [NAME=VALUE...]
//
// ask prints "match: true" or "match: false" and then the manifests, one JSON
// object a line; what goes wrong is on standard error, with exit status 1.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/argoproj/argo-cd/v3/cmd/argocd-cmp-server/commands"
	"github.com/argoproj/argo-cd/v3/cmpserver/apiclient"
	"github.com/argoproj/argo-cd/v3/util/cmp"
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

func main() {
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
