// Package geo is the geometry behind the GEO commands: places on a sphere, the
// numbers they are kept as, and which of these a search has to look at. It is pure:
// it knows neither keys nor replies.
//
// A place is kept as the score of a member of a sorted set. The world, cut off near
// the poles, is halved 26 times from west to east and 26 times from south to north;
// the 52 bits that say in which half the place lies each time, longitude first, are
// the score, which a double holds exactly:
//
//	            lat                  bits of a cell after two halvings of each side,
//	 0101 0111 │ 1101 1111           places in one cell share the beginning of their
//	 0100 0110 │ 1100 1110           scores, so that they are neighbours in the set
//	───────────┼─────────── lon
//	 0001 0011 │ 1001 1011
//	 0000 0010 │ 1000 1010
//
// A search chooses cells about as large as what it looks for: the one its centre is
// in and the eight around it cover the shape wherever in its cell the centre lies.
// Nine ranges of scores, then, and of every place in them the true distance.
//
// Which cells those are, and their order, is visible in the answers: the order of a
// result that is not sorted, and who comes first where COUNT ANY stops early. So the
// choice is Redis's (geohash_helper.c).
package geo
