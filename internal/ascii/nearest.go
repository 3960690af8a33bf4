package ascii

// Nearest returns the name that word is most likely meant to be, "" for none. Case does not count. The distance is the
// number of letters to insert, to remove or to replace, or of neighbours to swap. About one in three may be wrong.
func Nearest(word string, names []string) (nearest string) {
	word = ToLower(word)
	least := (len(word)+1)/3 + 1
	for _, name := range names {
		if d := distance(word, ToLower(name)); d < least {
			nearest, least = name, d
		}
	}
	return nearest
}

// distance keeps the last three rows of the table of distances between the beginnings of a and b.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row = last, row, before
		row[0] = i
		for j := 1; j <= len(b); j++ {
			row[j] = last[j-1]
			if a[i-1] != b[j-1] {
				row[j]++
			}
			row[j] = min(row[j], last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
