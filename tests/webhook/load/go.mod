module gpugate.dev/tests/load

go 1.26.0
