// SPDX-License-Identifier: Apache-2.0

// Parses quantities with apimachinery, and writes random ones.

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"math/rand"
	"os"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

func init() {
	commands["quantity"] = quantityLines
	commands["quantity-cases"] = quantityCases
}

// quantityLines answers every line of standard input with the result of
// ParseQuantity and, after a bar, whether the same text is accepted in a JSON
// string: "ok CANONICAL VALUE MILLI | ok" or "error | error". A number that
// exceeds Value or MilliValue is "range".
func quantityLines(args []string, out *bufio.Writer) error {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		q, err := resource.ParseQuantity(in.Text())
		if err != nil {
			fmt.Fprint(out, "error")
		} else {
			fmt.Fprint(out, "ok ", describe(q))
		}
		text, _ := json.Marshal(in.Text())
		if q.UnmarshalJSON(text) != nil {
			fmt.Fprintln(out, " | error")
		} else {
			fmt.Fprintln(out, " | ok")
		}
	}
	return in.Err()
}

func describe(q resource.Quantity) string {
	most := resource.NewQuantity(math.MaxInt64, resource.DecimalSI)
	size := q.DeepCopy()
	if q.Sign() < 0 {
		size.Neg()
	}
	if size.Cmp(*most) > 0 {
		return "range"
	}
	// String() is not used, because it returns the original text if it
	// looks canonical ("+1", "1.500").
	number, suffix := q.CanonicalizeBytes(nil)
	// Value rounds some negative numbers towards zero and others away from
	// it, depending on their internal form; gpugate rounds away from zero,
	// as for positive numbers.
	milli := "range"
	if size.CmpInt64(math.MaxInt64/1000) <= 0 {
		milli = strconv.FormatInt(int64(q.Sign())*size.MilliValue(), 10)
	}
	return fmt.Sprintf("%s%s %d %s", number, suffix,
		int64(q.Sign())*size.Value(), milli)
}

var numbers = []string{
	"", ".", "0", "00", "0.", ".0", "0.0", "1", "01", "1.", ".1", "1.0",
	"1.1", "1.5", "0.5", ".001", "9", "10", "12.", "12.5", "100", "999",
	"1000", "1001", "1023", "1024", "1025", "1500", "1536", "4096",
	"1000000", "1048576", "123456789", "1000000000", "1073741824",
	"0.9999999999", "0.000000001", "0.0000000001", "0.0000000009999",
	"1.000000000", "1.0000000001", "123.456789012", "123.4567890123",
	"0.1111111111111111111", "7.999999999999999999999", "8388607.999",
	"999999999999999999", "1000000000000000000", "9223372036854775807",
	"9223372036854775808", "9223372036854775806.9999999999",
	"92233720368547758070", "18446744073709551616",
	"100000000000000000000000000000", "0000000000000000000000000001",
	"0.00000000000000000000000000001",
	"1.1.1", "1 ", " 1", "1_000", "1,5", "0x10", "1-1", "-1", "+1", "a1",
	"1a", "١", "1\t", "\u00a01", "1\u2003", "\u20281", "\u0085 1", "\"1\"",
}

var suffixes = []string{
	"", "n", "u", "m", "k", "M", "G", "T", "P", "E",
	"Ki", "Mi", "Gi", "Ti", "Pi", "Ei",
	"e0", "e1", "e2", "e3", "e6", "e9", "e18", "e19", "e+3", "e-3", "e-9",
	"e-10", "e-20", "E0", "E3", "E+3", "E-3", "E-10", "e03", "e-003",
	"e4294967297", "E-4294967297", "e300", "e-300",
	"e", "e+", "e-", "E+", "E-", "e1.5", "e9223372036854775808", "ee3",
	"e3m", "m3", "k-1", "+3", "i", "K", "g", "t", "p", "ki", "mi", "KI",
	"MI", "MiB", "Mb", "GB", "Zi", "Z", "Yi", "mm", "kk", "im", "Em", "Ee3",
	"ei", "am", " Mi", "Mi ", "%", "µ",
}

// quantityCases prints all combinations of signs, numbers and suffixes, then
// random texts of the same parts and characters. Usage: COUNT SEED.
func quantityCases(args []string, out *bufio.Writer) error {
	if len(args) != 2 {
		return fmt.Errorf("usage: quantity-cases COUNT SEED")
	}
	count, _ := strconv.Atoi(args[0])
	seed, _ := strconv.ParseInt(args[1], 10, 64)
	random := rand.New(rand.NewSource(seed))
	for _, sign := range []string{"", "-", "+", "--", "-+"} {
		for _, number := range numbers {
			for _, suffix := range suffixes {
				fmt.Fprintf(out, "%s%s%s\n", sign, number, suffix)
			}
		}
	}
	for i := 0; i < count; i++ {
		fmt.Fprintln(out, randomQuantity(random))
	}
	return nil
}

func randomQuantity(random *rand.Rand) string {
	const characters = "0123456789.+-eEinumkKMGTP "
	var text strings.Builder
	digits := func(most int) {
		for n := random.Intn(most + 1); n > 0; n-- {
			// Long runs of one digit test rounding and carrying.
			digit := "0099512348"[random.Intn(10)]
			for ; n > 0 && random.Intn(3) > 0; n-- {
				text.WriteByte(digit)
			}
			text.WriteByte(digit)
		}
	}
	text.WriteString([]string{"", "", "", "-", "+"}[random.Intn(5)])
	digits([]int{3, 8, 20, 40}[random.Intn(4)])
	if random.Intn(2) == 0 {
		text.WriteByte('.')
		digits([]int{3, 10, 30, 80}[random.Intn(4)])
	}
	switch random.Intn(8) {
	case 0:
		fmt.Fprintf(&text, "e%d", random.Intn(61)-30)
	case 1:
		for n := random.Intn(4); n > 0; n-- {
			text.WriteByte(characters[random.Intn(len(characters))])
		}
	default:
		text.WriteString(suffixes[random.Intn(16)])
	}
	return text.String()
}
