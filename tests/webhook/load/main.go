// SPDX-License-Identifier: Apache-2.0

// Command load puts load on the real gpugated while things fail as they do in
// clusters. Usage: load GPUGATED FOLDER SCENARIO...
//
// FOLDER contains the reviews allow.json and deny.json, whose names are the
// expected answers; logs are written there. Each check prints its figures. The
// last line has the numbers of passed and failed checks.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// A bench contains values that all scenarios share.
type bench struct {
	gpugated, dir  string
	allow, deny    *review
	passed, failed int
	table          []string
}

func (b *bench) check(good bool, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if good {
		b.passed++
		fmt.Println("  ok:", text)
	} else {
		b.failed++
		fmt.Println("  FAILED:", text)
	}
}

// figure prints a time or a rate. It is checked only with TIMES=strict, on an
// idle machine.
func (b *bench) figure(good bool, format string, args ...any) {
	if os.Getenv("TIMES") == "strict" {
		b.check(good, format, args...)
		return
	}
	word := "within"
	if !good {
		word = "NOT within"
	}
	fmt.Printf("  figure (%s its limit): %s\n", word, fmt.Sprintf(format, args...))
}

// row prints a line of the final table: the measurement, its value, and for
// comparison the maximum of this machine, or the required value.
func (b *bench) row(what, figure, beside string) {
	b.table = append(b.table,
		fmt.Sprintf("| %s | %s | %s |", what, figure, beside))
}

func (b *bench) must(err error) {
	if err != nil {
		b.check(false, "cannot go on: %v", err)
		b.end()
	}
}

func (b *bench) end() {
	stopAll()
	if len(b.table) > 0 {
		load, _ := os.ReadFile("/proc/loadavg")
		fmt.Printf("%d processors, load %.14s\n\n| what | figure | beside it |\n|---|---|---|\n%s\n\n",
			runtime.NumCPU(), load, strings.Join(b.table, "\n"))
	}
	fmt.Printf("%d passed, %d failed\n", b.passed, b.failed)
	if b.failed > 0 {
		os.Exit(1)
	}
	os.Exit(0)
}

// setting reads a number from the environment.
func setting(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

var scenarios = map[string]func(*bench){
	"rotation": rotation,
	"broken":   broken,
	"restart":  restart,
	"kill":     kill,
	"slow":     slow,
	"overload": overload,
	"faults":   faultsOfIO,
	"mixed":    mixed,
	"speed":    speed,
	"soak":     soak,
	"away":     away,
	"hostile":  hostile,
}

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: load GPUGATED FOLDER SCENARIO...")
		os.Exit(2)
	}
	if os.Args[1] == "attack" {
		attack(os.Args[2], os.Args[3])
		return
	}
	b := &bench{gpugated: os.Args[1], dir: os.Args[2]}
	var err error
	b.allow, err = readReview(b.dir, "allow")
	b.must(err)
	b.deny, err = readReview(b.dir, "deny")
	b.must(err)
	for _, name := range os.Args[3:] {
		scenario := scenarios[name]
		if scenario == nil {
			b.must(fmt.Errorf("%s: no such scenario", name))
		}
		begin := time.Now()
		fmt.Printf("%s\n", name)
		scenario(b)
		stopAll()
		fmt.Printf("  (%s took %.0f s)\n", name, time.Since(begin).Seconds())
	}
	b.end()
}
