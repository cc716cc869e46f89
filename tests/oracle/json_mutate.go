// SPDX-License-Identifier: Apache-2.0

// Writes random texts that are JSON or nearly JSON.

package main

import (
	"bufio"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

func init() {
	commands["json-mutate"] = jsonMutate
}

// jsonMutate FOLDER N SEED writes N numbered texts that are JSON or nearly
// JSON: random values, two thirds of them with a few changed bytes.
func jsonMutate(args []string, out *bufio.Writer) error {
	if len(args) != 3 {
		return fmt.Errorf("json-mutate FOLDER N SEED")
	}
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	seed, err := strconv.ParseInt(args[2], 10, 64)
	if err != nil {
		return err
	}
	random := rand.New(rand.NewSource(seed))
	for i := 0; i < n; i++ {
		text := randomValue(random, 5)
		for k := random.Intn(3); k > 0; k-- {
			text = mutate(random, text)
		}
		name := filepath.Join(args[0], fmt.Sprintf("%07d", i))
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// Parts of scalars, and texts that mutations insert, including invalid ones.
var (
	numberParts = []string{"-", "0", "1", "12", ".", ".5", "e", "E+3", "e-2",
		"e308", "e400", "9007199254740993", "00", "+", "_", "1.7976931348623157"}
	stringParts = []string{"a", "Z", " ", "é", "€", "😀", "\\n", "\\\"", "\\\\",
		"\\/", "\\u0000", "\\u0041", "\\ud83d", "\\ude00", "\\ud83d\\ude00",
		"\\uFFFF", "nvidia.com/gpu", "\x7f", "/"}
	words   = []string{"true", "false", "null", "[]", "{}", "0", "\"\""}
	bytesIn = []string{"{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "0",
		"-", ".", "e", "t", "n", " ", "\t", "\n", "\r", "\x00", "\x1f", "\v",
		"é", "\\x", "/", "'", "//", "\u00a0", "\u2028", "true", "null"}
	spaces = []string{"", "", "", " ", "\n", "\t", "\r\n", "  "}
)

func pick(random *rand.Rand, from []string) string {
	return from[random.Intn(len(from))]
}

func joined(random *rand.Rand, from []string, most int) string {
	var text strings.Builder
	for k := random.Intn(most + 1); k > 0; k-- {
		text.WriteString(pick(random, from))
	}
	return text.String()
}

func randomValue(random *rand.Rand, depth int) string {
	kind := random.Intn(6)
	if depth == 0 {
		kind %= 3
	}
	switch kind {
	case 0:
		return pick(random, words)
	case 1:
		return randomNumber(random)
	case 2:
		return randomString(random)
	case 3:
		return randomList(random, "[", "]", func() string {
			return randomValue(random, depth-1)
		})
	default:
		return randomList(random, "{", "}", func() string {
			return randomString(random) + pick(random, spaces) + ":" +
				pick(random, spaces) + randomValue(random, depth-1)
		})
	}
}

func randomNumber(random *rand.Rand) string {
	if random.Intn(4) == 0 {
		return "1" + joined(random, numberParts, 3)
	}
	return strconv.FormatFloat(random.NormFloat64()*1e6, 'g', -1, 64)
}

// randomString often repeats a few short keys, so that duplicates occur.
func randomString(random *rand.Rand) string {
	if random.Intn(2) == 0 {
		return "\"" + joined(random, stringParts[:2], 1) + "\""
	}
	return "\"" + joined(random, stringParts, 12) + "\""
}

func randomList(random *rand.Rand, open, end string, item func() string) string {
	var text strings.Builder
	text.WriteString(open)
	for i, n := 0, random.Intn(5); i < n; i++ {
		if i > 0 {
			text.WriteString(pick(random, spaces) + ",")
		}
		text.WriteString(pick(random, spaces) + item())
	}
	text.WriteString(pick(random, spaces) + end)
	return text.String()
}

func mutate(random *rand.Rand, text string) string {
	at := random.Intn(len(text) + 1)
	end := min(at+random.Intn(3), len(text))
	switch random.Intn(4) {
	case 0:
		return text[:at] + text[end:]
	case 1:
		return text[:at] + text[at:end] + text[at:]
	case 2:
		return text[:at]
	default:
		return text[:at] + pick(random, bytesIn) + text[end:]
	}
}
