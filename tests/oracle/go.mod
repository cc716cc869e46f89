module gpugate.dev/tests/oracle

go 1.26.0

require (
	github.com/evanphx/json-patch/v5 v5.9.11
	go.yaml.in/yaml/v2 v2.4.3
	golang.org/x/text v0.33.0
	gopkg.in/evanphx/json-patch.v4 v4.13.0
	k8s.io/apimachinery v0.36.1
)

require (
	github.com/fxamacker/cbor/v2 v2.9.0 // indirect
	github.com/x448/float16 v0.8.4 // indirect
	gopkg.in/inf.v0 v0.9.1 // indirect
	sigs.k8s.io/json v0.0.0-20250730193827-2d320260d730 // indirect
	sigs.k8s.io/yaml v1.6.0 // indirect
)
