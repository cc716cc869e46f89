// SPDX-License-Identifier: Apache-2.0

// Evaluates CEL expressions with cel-go, in the environment of Kubernetes.

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"sort"
	"strconv"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"
)

func init() {
	commands["cel"] = evaluateAll
}

// A celCase is a line of input: an expression, and its variables. A variable is
// either JSON, read as the API server reads an object, or the value of another
// expression.
type celCase struct {
	Expr   string                 `json:"expr"`
	Vars   map[string]celVariable `json:"vars"`
	Budget uint64                 `json:"budget"`
}

type celVariable struct {
	Type string          `json:"type"`
	Expr string          `json:"expr"`
	JSON json.RawMessage `json:"json"`
}

// Types of variables, by their texts; any other text is an error.
var celTypes = map[string]*cel.Type{
	"dyn": cel.DynType, "bool": cel.BoolType, "int": cel.IntType,
	"uint": cel.UintType, "double": cel.DoubleType,
	"string": cel.StringType, "bytes": cel.BytesType,
	"null_type": cel.NullType, "timestamp": cel.TimestampType,
	"duration": cel.DurationType, "type": cel.TypeType,
	"list(dyn)":       cel.ListType(cel.DynType),
	"list(int)":       cel.ListType(cel.IntType),
	"list(string)":    cel.ListType(cel.StringType),
	"map(string,dyn)": cel.MapType(cel.StringType, cel.DynType),
	"map(string,string)": cel.MapType(cel.StringType,
		cel.StringType),
	"map(string,int)": cel.MapType(cel.StringType, cel.IntType),
	"map(int,string)": cel.MapType(cel.IntType, cel.StringType),
	"optional(dyn)":   cel.OptionalType(cel.DynType),
}

// evaluateAll answers each line of standard input with a line: `refuse TEXT`,
// `error COST TEXT` or `ok COST VALUE`; COST is - if a constant part fails
// before the evaluation. An argument names a minor version of Kubernetes other
// than 37.
func evaluateAll(args []string, out *bufio.Writer) error {
	minor := uint64(37)
	if len(args) > 0 {
		var err error
		if minor, err = strconv.ParseUint(args[0], 10, 32); err != nil {
			return err
		}
	}
	return eachCase(uint(minor), func(env *cel.Env, c *celCase) error {
		answer := evaluate(env, c)
		fmt.Fprintln(out, strings.ReplaceAll(answer, "\n", "\\n"))
		return nil
	})
}

// eachCase calls judge for each line of standard input, with the environment of
// that minor version of Kubernetes.
func eachCase(minor uint, judge func(*cel.Env, *celCase) error) error {
	base := environment.MustBaseEnvSet(version.MajorMinor(1, minor))
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
		if err := judge(env, &c); err != nil {
			return err
		}
	}
	return in.Err()
}

// environments caches the environments by the names and types of their
// variables.
var environments = map[string]*cel.Env{}

func extended(env *cel.Env, vars map[string]celVariable) (*cel.Env, error) {
	var options []cel.EnvOption
	var key []string
	for name, v := range vars {
		t := celTypes[v.Type]
		if t == nil {
			return nil, fmt.Errorf("bad type %s", v.Type)
		}
		options = append(options, cel.Variable(name, t))
		key = append(key, name+" "+v.Type)
	}
	sort.Strings(key)
	text := strings.Join(key, ",")
	if environments[text] == nil {
		made, err := env.Extend(options...)
		if err != nil {
			return nil, err
		}
		environments[text] = made
	}
	return environments[text], nil
}

func evaluate(env *cel.Env, c *celCase) (answer string) {
	// The checks of cel-go 0.26 panic over `[1, ?x]`.
	defer func() {
		if p := recover(); p != nil {
			answer = fmt.Sprintf("panic %v", p)
		}
	}()
	values := map[string]any{}
	for name, v := range c.Vars {
		value, err := variable(env, &v)
		if err != nil {
			return "bad variable " + name + ": " + err.Error()
		}
		values[name] = value
	}
	env, err := extended(env, c.Vars)
	if err != nil {
		return "bad environment: " + err.Error()
	}
	ast, issues := env.Compile(c.Expr)
	if issues.Err() != nil {
		return "refuse " + issues.Errors()[0].Message
	}
	limit := c.Budget
	if limit == 0 {
		limit = 1000000
	}
	program, err := env.Program(ast, cel.CostLimit(limit))
	if err != nil {
		// A constant part of the expression fails.
		return "error - " + err.Error()
	}
	value, details, err := program.Eval(values)
	cost := uint64(0)
	if details != nil && details.ActualCost() != nil {
		cost = *details.ActualCost()
	}
	if err != nil {
		return fmt.Sprintf("error %d %s", cost, err)
	}
	return fmt.Sprintf("ok %d %s", cost, celText(value))
}

func variable(env *cel.Env, v *celVariable) (any, error) {
	if v.JSON != nil {
		var value any
		decoder := json.NewDecoder(strings.NewReader(string(v.JSON)))
		decoder.UseNumber()
		err := decoder.Decode(&value)
		return jsonNumbers(value), err
	}
	ast, issues := env.Compile(v.Expr)
	if issues.Err() != nil {
		return nil, issues.Err()
	}
	program, err := env.Program(ast)
	if err != nil {
		return nil, err
	}
	value, _, err := program.Eval(map[string]any{})
	return value, err
}

// jsonNumbers converts JSON numbers to int64 or float64, as in unstructured
// objects.
func jsonNumbers(value any) any {
	switch v := value.(type) {
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i
		}
		f, _ := v.Float64()
		return f
	case []any:
		for i := range v {
			v[i] = jsonNumbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = jsonNumbers(v[k])
		}
	}
	return value
}

// celText returns a value with its type; equal values have equal texts.
func celText(value ref.Val) string {
	switch v := value.(type) {
	case types.Bool, types.Int:
		return fmt.Sprint(v.Value())
	case types.Null:
		return "null"
	case types.Uint:
		return fmt.Sprintf("%du", uint64(v))
	case types.Double:
		if math.IsNaN(float64(v)) {
			return "d:nan"
		}
		return fmt.Sprintf("d:%016x", math.Float64bits(float64(v)))
	case types.String:
		return quote(string(v))
	case types.Bytes:
		return "b" + quote(string(v))
	case types.Timestamp:
		return fmt.Sprintf("t:%d.%09d", v.Unix(), v.Nanosecond())
	case types.Duration:
		return fmt.Sprintf("n:%d", int64(v.Duration))
	case *types.Optional:
		if !v.HasValue() {
			return "none"
		}
		return "some(" + celText(v.GetValue()) + ")"
	case traits.Mapper:
		return mapText(v)
	case traits.Lister:
		var items []string
		for it := v.Iterator(); it.HasNext() == types.True; {
			items = append(items, celText(it.Next()))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case *types.Type:
		return "type(" + v.TypeName() + ")"
	}
	return "opaque(" + value.Type().TypeName() + ")"
}

func mapText(m traits.Mapper) string {
	var entries []string
	for it := m.Iterator(); it.HasNext() == types.True; {
		key := it.Next()
		entries = append(entries, celText(key)+": "+celText(m.Get(key)))
	}
	sort.Strings(entries)
	return "{" + strings.Join(entries, ", ") + "}"
}

func quote(text string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, b := range []byte(text) {
		if b < ' ' || b > '~' || b == '"' || b == '\\' {
			fmt.Fprintf(&out, "\\x%02x", b)
		} else {
			out.WriteByte(b)
		}
	}
	out.WriteByte('"')
	return out.String()
}
