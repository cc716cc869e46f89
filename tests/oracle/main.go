// SPDX-License-Identifier: Apache-2.0

// Command oracle answers, for the tests only, how the Go libraries of
// Kubernetes read an input. Each subcommand is in a separate file and registers
// itself in init().
package main

import (
	"bufio"
	"fmt"
	"os"
	"sort"
	"strings"
)

// A command gets its arguments and writes its answers to out.
type command func(args []string, out *bufio.Writer) error

var commands = map[string]command{}

func main() {
	var run command
	if len(os.Args) > 1 {
		run = commands[os.Args[1]]
	}
	if run == nil {
		var names []string
		for name := range commands {
			names = append(names, name)
		}
		sort.Strings(names)
		fmt.Fprintf(os.Stderr, "usage: oracle %s ...\n",
			strings.Join(names, "|"))
		os.Exit(2)
	}
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	err := run(os.Args[2:], out)
	if flush := out.Flush(); err == nil {
		err = flush
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "oracle: %v\n", err)
		os.Exit(2)
	}
}
