// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"
)

func init() {
	commands["cel-bench"] = measureAll
}

// measureAll answers each case with the nanoseconds of CPU, those of the
// garbage collector included, that one of N evaluations takes.
func measureAll(args []string, out *bufio.Writer) error {
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	base := environment.MustBaseEnvSet(version.MajorMinor(1, 36))
	env, err := base.Env(environment.NewExpressions)
	if err != nil {
		return err
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		var c celCase
		if err := json.Unmarshal(in.Bytes(), &c); err != nil {
			return err
		}
		nanos, err := measure(env, &c, n)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, nanos)
	}
	return in.Err()
}

func measure(env *cel.Env, c *celCase, n int) (int64, error) {
	values := map[string]any{}
	for name, v := range c.Vars {
		value, err := variable(env, &v)
		if err != nil {
			return 0, err
		}
		values[name] = value
	}
	env, err := extended(env, c.Vars)
	if err != nil {
		return 0, err
	}
	ast, issues := env.Compile(c.Expr)
	if issues.Err() != nil {
		return 0, issues.Err()
	}
	program, err := env.Program(ast, cel.CostLimit(1000000))
	if err != nil {
		return 0, err
	}
	start := usedNanos()
	for i := 0; i < n; i++ {
		if _, _, err := program.Eval(values); err != nil {
			return 0, err
		}
	}
	return (usedNanos() - start) / int64(n), nil
}

func usedNanos() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}
