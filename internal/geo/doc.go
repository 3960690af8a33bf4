// Package geo is the geometry of the GEO commands: places on a sphere, their numbers, and the
// numbers that a search has to read. It is pure functions. It knows no keys and no replies.
//
// A place is stored as the score of a member of a sorted set. The world, cut off near the poles, is
// halved 26 times from west to east and 26 times from south to north. For each halving, one bit
// says in which half the place lies, longitude first. The 52 bits are the score, which a double
// holds exactly:
//
//	            lat                  bits of a cell after two halvings of each side;
//	 0101 0111 │ 1101 1111           places in one cell share the first bits of their
//	 0100 0110 │ 1100 1110           scores, so they are neighbours in the set
//	───────────┼─────────── lon
//	 0001 0011 │ 1001 1011
//	 0000 0010 │ 1000 1010
//
// A search chooses cells that are about as large as its shape. The cell of the centre and the eight
// cells around it cover the shape, wherever in its cell the centre lies. So a search reads nine
// ranges of scores and computes the true distance of every place in them.
//
// The choice of the cells and their order are visible in replies: in the order of a result that is
// not sorted, and in the members that COUNT ANY returns. So the choice is that of Redis
// (geohash_helper.c).
package geo
