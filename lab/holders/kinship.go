package holders

// Kinship says how the client of a request and the client of a grant are related.
type Kinship int

// The kinships.
const (
	OtherClient Kinship = iota // their names differ
	SameClient                 // one connection, or one name that only one client has
	SameName                   // two connections with one name
	Renamed                    // one connection, whose name has changed
	NoNames                    // two connections, and at least one has no name
)

// Kin compares two clients by their names, "" for none. same means that they are one connection, and sole that only one
// client has the name.
func Kin(same bool, name, other string, sole bool) Kinship {
	switch named := name != "" && other != ""; {
	case same && named && name != other:
		return Renamed
	case same, named && name == other && sole:
		return SameClient
	case !named:
		return NoNames
	case name == other:
		return SameName
	}
	return OtherClient
}
