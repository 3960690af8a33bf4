package rdb

import "github.com/miniredisd/miniredisd/store"

// opcodeLibrary stands before the code of a library, in the position of a value's type.
const opcodeLibrary = 245

// More errors of a payload of FUNCTION DUMP, in Redis's words.
const (
	ErrLibraryType store.Error = "ERR given type is not a function"
	ErrLibraryRead store.Error = "ERR Failed loading library payload"
)

// DumpLibraries is the payload of FUNCTION DUMP.
func DumpLibraries(code []string) []byte {
	var b []byte
	for _, text := range code {
		b = append(b, opcodeLibrary)
		b = appendNumber(b, uint64(len(text)))
		b = append(b, text...)
	}
	return sealed(b)
}

// RestoreLibraries returns the code in a payload up to the first error in the payload. The caller
// runs the code first and so reports its errors first, as Redis does.
func RestoreLibraries(payload []byte) (code [][]byte, err error) {
	if !intact(payload) {
		return nil, ErrPayload
	}
	for p := (reader{b: payload}); len(p.b) > footer; {
		if p.take(1)[0] != opcodeLibrary {
			return code, ErrLibraryType
		}
		text := p.text()
		if p.failed {
			return code, ErrLibraryRead
		}
		code = append(code, text)
	}
	return code, nil
}
