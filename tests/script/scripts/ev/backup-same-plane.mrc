# A bad EV is replaced by a backup of its own plane: plane 0 has EVs 0, 2 and 4, of which one is in
# use. REQ(req.spray.backup-same-plane) REQ(req.spray.equal-planes)
config planes 2 evs 6 active 2

post write 8 bytes id 1..4
> WRITE ONLY psn 100 plane 0 ev A
> WRITE ONLY psn 101 plane 1 ev B
> WRITE ONLY psn 102 plane 0 ev A
> WRITE ONLY psn 103 plane 1 ev B
< SACK cack 103 trigger 102 mark always_skip
< ACK msn 4
expect completion id 1..4 success
post write 8 bytes id 5..8
> WRITE ONLY psn 104 plane 0 ev C
> WRITE ONLY psn 105 plane 1 ev B
> WRITE ONLY psn 106 plane 0 ev C
> WRITE ONLY psn 107 plane 1 ev B
expect ev A ASSUMED_BAD
expect ev C GOOD
< ACK msn 8
expect completion id 5..8 success
