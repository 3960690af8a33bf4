# Everything else needs no make: go run ./cmd/miniredisd starts the server, go test ./... runs the tests.
.PHONY: release check-release

# Makes every file of a release in dist/: docs/install.md says what they are.
release:
	cd release && GOWORK=off go run . -out ../dist

# Makes the release twice, compares, and installs each file in a clean place.
check-release:
	release/check -fresh linux/amd64,linux/arm64,darwin/amd64,darwin/arm64
