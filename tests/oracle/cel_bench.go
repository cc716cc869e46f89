// SPDX-License-Identifier: Apache-2.0

// Measures the CPU time that cel-go needs for an expression.

package main

import (
	"bufio"
	"fmt"
	"strconv"
	"syscall"

	"github.com/google/cel-go/cel"
)

func init() {
	commands["cel-bench"] = measureAll
}

// measureAll answers each case with the mean CPU time of N evaluations in
// nanoseconds, including that of the garbage collector.
func measureAll(args []string, out *bufio.Writer) error {
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	return eachCase(36, func(env *cel.Env, c *celCase) error {
		nanos, err := measure(env, c, n)
		if err == nil {
			fmt.Fprintln(out, nanos)
		}
		return err
	})
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
