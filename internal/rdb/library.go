package rdb

import "github.com/miniredisd/miniredisd/store"

// OpcodeLibrary stands before the code of a library, in the position of a value's type.
const OpcodeLibrary = 245

// More errors of a payload of FUNCTION DUMP, in Redis's words.
const (
	ErrLibraryType store.Error = "ERR given type is not a function"
	ErrLibraryRead store.Error = "ERR Failed loading library payload"
)

// DumpLibraries is the payload of FUNCTION DUMP in a version of the format.
func DumpLibraries(code []string, version int) []byte {
	var b []byte
	for _, text := range code {
		b = append(b, OpcodeLibrary)
		b = appendNumber(b, uint64(len(text)))
		b = append(b, text...)
	}
	return sealed(b, version)
}

// RestoreLibraries returns the code in a payload up to the first error in the payload. own is the version
// that this server writes. The caller
// runs the code first and so reports its errors first, as Redis does.
func RestoreLibraries(payload []byte, own int) (code [][]byte, err error) {
	if !intact(payload, own) {
		return nil, ErrPayload
	}
	for p := (reader{b: payload}); len(p.b) > footer; {
		if p.take(1)[0] != OpcodeLibrary {
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
